//===- EntryPlan.cpp - from a function of kernels to steps ----------------===//
#include "codegen/EntryPlan.h"
#include "codegen/ArenaPlan.h"
#include "codegen/Backend.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

mp::Location mp::locate(mlir::Location location) {
  mp::Location found;
  location->walk([&](mlir::Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    found = {file.getFilename().str(), file.getLine(), file.getColumn()};
    return WalkResult::interrupt();
  });
  return found;
}

mp::TensorType mp::describeType(RankedTensorType type) {
  std::string name;
  llvm::raw_string_ostream(name) << type.getElementType();
  return {parseElementType(name).value_or(ElementType::F32),
          {type.getShape().begin(), type.getShape().end()}};
}

/// Locations of all ops that were fused, without repeats.
static std::vector<mp::Location> sourcesOf(mlir::Location location) {
  std::vector<mp::Location> sources;
  location->walk([&](mlir::Location inner) {
    if (isa<FileLineColLoc>(inner))
      if (auto found = locate(inner); !llvm::is_contained(sources, found))
        sources.push_back(found);
    return WalkResult::advance();
  });
  return sources;
}

static std::string summaryOf(Operation *op) {
  auto ops = op->getAttrOfType<StringAttr>("ops");
  return ops ? ops.getValue().str() : op->getName().stripDialect().str();
}

void mp::describeSources(Kernel &kernel, Operation *op) {
  kernel.sources = sourcesOf(op->getLoc());
  kernel.summary = summaryOf(op);
}

uint32_t ProgramBuilder::kernel(StringRef symbol, Operation *op,
                                Backend &backend) {
  auto [known, isNew] = kernels.try_emplace(symbol, program.kernels.size());
  if (isNew) {
    Kernel kernel = backend.code(symbol);
    describeSources(kernel, op);
    program.kernels.push_back(std::move(kernel));
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {
/// A place in the arena is named by its buffer until offsets are known.
class EntryPlanner {
public:
  EntryPlanner(func::FuncOp function, ArrayRef<EmittedKernel> emitted,
               ProgramBuilder &builder, Backend &backend)
      : function(function), emitted(emitted), builder(builder),
        backend(backend) {}

  Entry plan() {
    Block &block = function.getBody().front();
    for (auto [index, argument] : llvm::enumerate(block.getArguments()))
      places[argument] = {Place::Space::Staging, static_cast<uint32_t>(index),
                          0};
    for (auto write : block.getOps<WriteOp>())
      written[variableIndex(write.getVariable())] = write;
    for (Operation &op : block)
      planOp(&op);
    for (auto write : block.getOps<WriteOp>())
      planWrite(write);
    planResults(block.getTerminator());
    entry.arenaBytes = planArena(entry.buffers);
    resolve();
    backend.finish(entry, builder);
    return std::move(entry);
  }

private:
  uint32_t variableIndex(StringRef name) const {
    return builder.variables.lookup(name);
  }
  uint32_t nextStep() const { return entry.steps.size(); }

  void planOp(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      planRead(read);
    else if (auto constant = dyn_cast<ConstantOp>(op))
      planConstant(constant);
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      places[reshape] = places.lookup(reshape.getInput());
    else if (auto kernel = dyn_cast<KernelOp>(op))
      planKernel(kernel);
  }

  /// A read lies in its variable. Where it leaves the function, or goes to
  /// another variable, although the variable is written, it is copied first.
  void planRead(ReadOp read) {
    uint32_t index = variableIndex(read.getVariable());
    Place place{Place::Space::Variable, index, 0};
    bool leaves = llvm::any_of(aliases(read.getResult()), [](Value value) {
      return llvm::any_of(value.getUsers(), [](Operation *user) {
        return isa<WriteOp, func::ReturnOp>(user);
      });
    });
    if (leaves && written.contains(index)) {
      Place copy =
          newBuffer(describeType(read.getType()).bytes(), read, "read");
      addStep(Copy{copy, place, describeType(read.getType()).bytes(), {}});
      place = copy;
    }
    places[read] = place;
  }

  void planConstant(ConstantOp constant) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto type = describeType(cast<RankedTensorType>(constant.getType()));
    auto index = static_cast<uint32_t>(builder.program.constants.size());
    builder.program.constants.push_back({type, bytesOf(elements, type)});
    places[constant] = {Place::Space::Constant, index, 0};
  }

  /// Row-major bytes; MLIR stores a splat once and flags as bits.
  static std::string bytesOf(DenseElementsAttr elements,
                             const mp::TensorType &type) {
    std::string bytes;
    if (type.element == ElementType::I1) {
      for (bool flag : elements.getValues<bool>())
        bytes.push_back(flag);
      return bytes;
    }
    ArrayRef<char> raw = elements.getRawData();
    int64_t copies = elements.isSplat() ? type.elements() : 1;
    for (int64_t i = 0; i < copies; ++i)
      bytes.append(raw.begin(), raw.end());
    return bytes;
  }

  void planKernel(KernelOp kernel) {
    const EmittedKernel &code = emitted[nextKernel++];
    SmallVector<Place> results, temporaries;
    uint32_t first = nextStep(),
             last = first + std::max<size_t>(code.launches.size(), 1) - 1;
    for (OpResult result : kernel.getOutputs()) {
      auto variable = inPlace(kernel, result);
      results.push_back(
          variable ? *variable
                   : newBuffer(describeType(tensorType(result)).bytes(), kernel,
                               summaryOf(kernel)));
      places[result] = results.back();
    }
    for (uint64_t bytes : code.temporaries) {
      temporaries.push_back(
          newBuffer(bytes, kernel, "temporary of " + summaryOf(kernel)));
      extend(temporaries.back(), last);
    }
    for (Value operand : kernel->getOperands())
      extend(places.lookup(operand), last);
    for (const Place &result : results)
      extend(result, last);
    auto resolveArguments = [&](ArrayRef<KernelArgument> arguments) {
      std::vector<Place> resolved;
      for (const KernelArgument &argument : arguments)
        resolved.push_back(
            argument.kind == KernelArgument::Kind::Operand
                ? places.lookup(kernel->getOperand(argument.index))
            : argument.kind == KernelArgument::Kind::Result
                ? results[argument.index]
                : temporaries[argument.index]);
      return resolved;
    };
    for (const KernelLaunch &launch : code.launches)
      addStep(Launch{builder.kernel(launch.symbol, kernel, backend),
                     launch.grid, launch.block, launch.shared, false,
                     resolveArguments(launch.arguments),
                     trafficOf(launch.arguments, kernel, code.temporaries)});
    if (code.call)
      addStep(Call{code.call->routine, code.call->attributes, code.call->grid,
                   code.call->block, resolveArguments(code.call->arguments),
                   trafficOf(code.call->arguments, kernel, {})});
  }

  /// Bytes of the arguments together; of temporaries only those that have a
  /// size.
  static uint64_t trafficOf(ArrayRef<KernelArgument> arguments, KernelOp kernel,
                            ArrayRef<uint64_t> temporaries) {
    uint64_t bytes = 0;
    for (auto [kind, index] : arguments) {
      if (kind == KernelArgument::Kind::Operand)
        bytes += describeType(tensorType(kernel->getOperand(index))).bytes();
      else if (kind == KernelArgument::Kind::Result)
        bytes += describeType(tensorType(kernel->getResult(index))).bytes();
      else if (index < temporaries.size())
        bytes += temporaries[index];
    }
    return bytes;
  }

  /// The variable that a result may be computed in.
  std::optional<Place> inPlace(KernelOp kernel, OpResult result) {
    for (Operation *user : result.getUsers()) {
      auto write = dyn_cast<WriteOp>(user);
      if (!write || write.getPredicate() != kernel.getPredicate())
        continue;
      uint32_t index = variableIndex(write.getVariable());
      if (!stored.contains(write) &&
          isLastReadBy(kernel, result, write.getVariable())) {
        stored.insert(write);
        return Place{Place::Space::Variable, index, 0};
      }
    }
    return std::nullopt;
  }

  /// Whether nothing behind the kernel reads the variable, and the kernel
  /// itself only where it writes.
  bool isLastReadBy(KernelOp kernel, OpResult result, StringRef variable) {
    for (auto read : function.getBody().getOps<ReadOp>()) {
      if (read.getVariable() != variable ||
          places.lookup(read).space != Place::Space::Variable)
        continue;
      for (Value alias : aliases(read.getResult()))
        for (OpOperand &use : alias.getUses()) {
          Operation *user = use.getOwner();
          if (user == kernel &&
              (use.getOperandNumber() >= kernel.getInputs().size() ||
               !allowsInPlace(kernel, use.getOperandNumber(),
                              result.getResultNumber())))
            return false;
          if (user != kernel && !isa<ReshapeOp>(user) &&
              kernel->isBeforeInBlock(user))
            return false;
        }
    }
    return true;
  }

  bool allowsInPlace(KernelOp kernel, unsigned operand, unsigned result) {
    return !anchorOf(kernel) &&
           mp::allowsInPlace(kernel.getBody().front(), operand, result,
                             backend.stageTarget());
  }

  /// A value and all reshapes of it.
  static SmallVector<Value> aliases(Value value) {
    SmallVector<Value> all{value};
    for (unsigned i = 0; i < all.size(); ++i)
      for (Operation *user : all[i].getUsers())
        if (isa<ReshapeOp>(user))
          all.push_back(user->getResult(0));
    return all;
  }

  void planWrite(WriteOp write) {
    if (stored.contains(write))
      return;
    Place from = places.lookup(write.getValue());
    Place to{Place::Space::Variable, variableIndex(write.getVariable()), 0};
    extend(from, nextStep());
    std::optional<Place> flag;
    if (write.getPredicate()) {
      flag = places.lookup(write.getPredicate());
      extend(*flag, nextStep());
    }
    uint64_t bytes = describeType(tensorType(write.getValue())).bytes();
    std::optional<KernelLaunch> guarded;
    if (flag)
      guarded = backend.guardedCopy(bytes);
    if (!guarded)
      return addStep(Copy{to, from, bytes, flag});
    addStep(Launch{builder.kernel(guarded->symbol, write, backend),
                   guarded->grid,
                   guarded->block,
                   guarded->shared,
                   false,
                   {to, from, *flag},
                   2 * bytes + 1}); // the flag is a byte
  }

  void planResults(Operation *terminator) {
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
      extend(places.lookup(value),
             UINT32_MAX); // read by the host, when all is done
      entry.results.push_back({name ? name.getValue().str() : "",
                               describeType(tensorType(value)),
                               places.lookup(value)});
    }
  }

  Place newBuffer(uint64_t bytes, Operation *op, StringRef summary) {
    entry.buffers.push_back({0, bytes, nextStep(), nextStep(),
                             locate(op->getLoc()), summary.str()});
    return {Place::Space::Arena,
            static_cast<uint32_t>(entry.buffers.size() - 1), 0};
  }
  void extend(const Place &place, uint32_t step) {
    if (place.space == Place::Space::Arena)
      entry.buffers[place.index].lastStep =
          std::max(entry.buffers[place.index].lastStep, step);
  }
  void addStep(Step step) { entry.steps.push_back(std::move(step)); }

  /// Buffers become offsets.
  void resolve() {
    auto resolvePlace = [&](Place &place) {
      if (place.space == Place::Space::Arena)
        place = {Place::Space::Arena, 0, entry.buffers[place.index].offset};
    };
    for (Step &step : entry.steps) {
      if (auto *copy = std::get_if<Copy>(&step)) {
        resolvePlace(copy->to);
        resolvePlace(copy->from);
        if (copy->flag)
          resolvePlace(*copy->flag);
        continue;
      }
      auto &arguments = std::holds_alternative<Launch>(step)
                            ? std::get<Launch>(step).args
                            : std::get<Call>(step).args;
      llvm::for_each(arguments, resolvePlace);
    }
    for (Result &result : entry.results)
      resolvePlace(result.place);
    uint32_t last = entry.steps.empty() ? 0 : entry.steps.size() - 1;
    for (Buffer &buffer : entry.buffers)
      buffer.lastStep = std::min(buffer.lastStep, last);
  }

  func::FuncOp function;
  ArrayRef<EmittedKernel> emitted;
  ProgramBuilder &builder;
  Backend &backend;
  Entry entry;
  DenseMap<Value, Place> places;
  DenseMap<uint32_t, WriteOp> written;
  DenseSet<Operation *> stored;
  unsigned nextKernel = 0;
};
} // namespace

Entry mp::planEntry(func::FuncOp function, ArrayRef<EmittedKernel> emitted,
                    ProgramBuilder &builder, Backend &backend) {
  return EntryPlanner(function, emitted, builder, backend).plan();
}
