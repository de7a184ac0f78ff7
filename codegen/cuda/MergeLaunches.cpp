#include "codegen/cuda/MergeLaunches.h"
#include "codegen/cuda/SourceText.h"

using namespace mp;
using namespace mp::cuda;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace {

//===----------------------------------------------------------------------===//
// What steps touch
//===----------------------------------------------------------------------===//

/// Bytes that a step reads or writes.
struct Access {
  Place place;
  uint64_t bytes;
  bool written;

  bool conflictsWith(const Access &other) const {
    return (written || other.written) && place.space == other.place.space &&
           place.index == other.place.index &&
           place.offset < other.place.offset + other.bytes &&
           other.place.offset < place.offset + bytes;
  }
};

/// Steps that become one: either one step of any kind, or merged launches.
struct Group {
  SmallVector<Step> steps;
  SmallVector<const StagePart *>
      parts; ///< of each step; empty: no launch of ours
  SmallVector<Access> accesses;
  bool touchesAll = false; ///< nobody knows what: a library's, a main loop's

  bool conflictsWith(const Group &other) const {
    if (touchesAll || other.touchesAll)
      return true;
    return llvm::any_of(accesses, [&](const Access &mine) {
      return llvm::any_of(other.accesses, [&](const Access &theirs) {
        return mine.conflictsWith(theirs);
      });
    });
  }
};

/// A group of one step.
Group describe(const Step &step, const ProgramBuilder &builder,
               const KernelStore &store) {
  Group group;
  group.steps.push_back(step);
  if (const auto *copy = std::get_if<Copy>(&step)) {
    group.accesses = {{copy->to, copy->bytes, true},
                      {copy->from, copy->bytes, false}};
    return group;
  }
  const auto *launch = std::get_if<Launch>(&step);
  const StagePart *part =
      launch ? store.part(builder.program.kernels[launch->kernel].symbol)
             : nullptr;
  if (!part) {
    group.touchesAll = true;
    return group;
  }
  group.parts.push_back(part);
  for (auto [parameter, place] :
       llvm::zip_equal(part->parameters, launch->args))
    group.accesses.push_back({place, parameter.bytes, parameter.written});
  return group;
}

/// Whether one kernel of both is worth it: the same threads, and few different
/// bodies, as all of them have to share registers.
bool fitTogether(const Group &group, const StagePart &part) {
  constexpr size_t mostBodies = 4;
  if (group.parts.empty() || group.parts.front()->block != part.block)
    return false;
  SmallVector<llvm::StringRef> texts;
  for (const StagePart *other : group.parts)
    if (!llvm::is_contained(texts, other->function))
      texts.push_back(other->function);
  return llvm::is_contained(texts, part.function) || texts.size() < mostBodies;
}

//===----------------------------------------------------------------------===//
// The merged kernel
//===----------------------------------------------------------------------===//

/// Launches of one body, which are told apart by tables.
struct Body {
  const StagePart *part;
  SmallVector<size_t> members; ///< numbers of steps in the group
};

class MergedKernel {
public:
  explicit MergedKernel(const Group &group) : group(group) {
    for (auto [i, part] : llvm::enumerate(group.parts)) {
      auto *known = llvm::find_if(bodies, [&](const Body &body) {
        return body.part->function == part->function;
      });
      if (known == bodies.end())
        known = bodies.insert(bodies.end(), Body{part, {}});
      known->members.push_back(i);
    }
  }

  std::string source() {
    SourceText text;
    text.line("#include \"stages.cuh\"");
    text.blank();
    text.line("using namespace mp;");
    text.blank();
    for (auto [i, body] : llvm::enumerate(bodies)) {
      std::string function = body.part->function;
      size_t at = function.find(KernelStore::bodyName);
      function.replace(at, KernelStore::bodyName.size(),
                       "body" + std::to_string(i));
      functions += function + "\n";
    }
    printKernel();
    return text.str() + functions + tables.str() + "\n" + kernel.str();
  }

  /// The launch, but for its kernel.
  Launch launch() const {
    Launch merged;
    merged.grid = 0;
    merged.table = true;
    for (const Body &body : bodies)
      for (size_t member : body.members) {
        const auto &own = std::get<Launch>(group.steps[member]);
        merged.grid += own.grid;
        merged.bytes += own.bytes;
        merged.block = own.block;
        merged.shared = std::max(merged.shared, own.shared);
        llvm::append_range(merged.args, own.args);
      }
    return merged;
  }

private:
  void printKernel() {
    kernel.line("extern \"C\" __global__ void __launch_bounds__(" +
                Twine(group.parts.front()->block) + ")");
    kernel.open("    " + KernelStore::name + "(void *const *args)");
    kernel.line("int block = blockIdx.x;");
    int64_t arguments = 0;
    for (auto [i, body] : llvm::enumerate(bodies)) {
      int64_t blocks = 0;
      SmallVector<int64_t> ends;
      for (size_t member : body.members)
        ends.push_back(blocks += group.parts[member]->grid);
      if (i + 1 < bodies.size())
        kernel.open("if (block < " + Twine(blocks) + ")");
      printBody(i, body, ends, arguments);
      if (i + 1 < bodies.size()) {
        kernel.line("return;");
        kernel.close();
        kernel.line("block -= " + Twine(blocks) + ";");
      }
      arguments += body.members.size() * body.part->parameters.size();
    }
    kernel.close();
  }

  /// Calls one body with the arguments of the launch that `block` is of.
  void printBody(size_t number, const Body &body, ArrayRef<int64_t> ends,
                 int64_t arguments) {
    std::string n = std::to_string(number);
    size_t parameters = body.part->parameters.size();
    if (ends.size() > 1) {
      printTable("int", "ends" + n, ends);
      kernel.line("const int member = findRange(ends" + Twine(n) + ", block);");
      kernel.line("void *const *own = args + " + Twine(arguments) +
                  " + member * " + Twine(parameters) + ";");
      kernel.line("if (member > 0)");
      kernel.line("  block -= ends" + Twine(n) + "[member - 1];");
    } else {
      kernel.line("void *const *own = args + " + Twine(arguments) + ";");
    }
    std::string passed = "block";
    if (body.part->count)
      passed += ", " + column(body, "counts" + n, [](const StagePart &part) {
                  return *part.count;
                });
    for (size_t i = 0; i < parameters; ++i)
      passed += ",\n      global(static_cast<" + body.part->parameters[i].type +
                " *>(own[" + std::to_string(i) + "]), " +
                column(body, "sizes" + n + "_" + std::to_string(i),
                       [&](const StagePart &part) {
                         return part.parameters[i].count;
                       }) +
                ")";
    kernel.line("body" + Twine(n) + "(" + passed + ");");
  }

  /// A number of each member: itself where all agree, else an entry of a table.
  std::string column(const Body &body, const std::string &name,
                     llvm::function_ref<int64_t(const StagePart &)> get) {
    SmallVector<int64_t> values;
    for (size_t member : body.members)
      values.push_back(get(*group.parts[member]));
    if (llvm::all_equal(values))
      return std::to_string(values.front());
    printTable("long long", name, values);
    return name + "[member]";
  }

  void printTable(llvm::StringRef type, const std::string &name,
                  ArrayRef<int64_t> values) {
    std::string list;
    for (int64_t value : values)
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    tables.line("__constant__ " + type + " const " + name + "[] = {" + list +
                "};");
  }

  const Group &group;
  SmallVector<Body> bodies;
  std::string functions;
  SourceText tables, kernel;
};

/// The kernel that stands for all of a group, added to the program.
Step merge(const Group &group, ProgramBuilder &builder, KernelStore &store) {
  MergedKernel merged(group);
  Launch launch = merged.launch();
  std::string symbol = store.add(merged.source());
  auto [known, isNew] =
      builder.kernels.try_emplace(symbol, builder.program.kernels.size());
  if (isNew) {
    Kernel kernel;
    kernel.symbol = symbol;
    kernel.code = store.source(symbol).str();
    for (const Step &step : group.steps) {
      const Kernel &part =
          builder.program.kernels[std::get<Launch>(step).kernel];
      for (const Location &source : part.sources)
        if (!llvm::is_contained(kernel.sources, source))
          kernel.sources.push_back(source);
      if (!llvm::StringRef(kernel.summary).contains(part.summary))
        kernel.summary += (kernel.summary.empty() ? "" : " ") + part.summary;
    }
    builder.program.kernels.push_back(std::move(kernel));
  }
  launch.kernel = known->second;
  return launch;
}

} // namespace

void mp::cuda::mergeLaunches(Entry &entry, ProgramBuilder &builder,
                             KernelStore &store) {
  std::vector<Group> groups;
  std::vector<uint32_t> now; // the new number of each step
  for (const Step &step : entry.steps) {
    Group own = describe(step, builder, store);
    size_t first = groups.size();
    while (first > 0 && !groups[first - 1].conflictsWith(own))
      --first;
    auto found = own.parts.empty()
                     ? groups.end()
                     : std::find_if(groups.begin() + first, groups.end(),
                                    [&](const Group &group) {
                                      return fitTogether(group, *own.parts[0]);
                                    });
    now.push_back(found - groups.begin());
    if (found == groups.end()) {
      groups.push_back(std::move(own));
      continue;
    }
    found->steps.push_back(step);
    found->parts.push_back(own.parts[0]);
    llvm::append_range(found->accesses, own.accesses);
  }
  entry.steps.clear();
  for (Group &group : groups)
    entry.steps.push_back(group.steps.size() > 1
                              ? merge(group, builder, store)
                              : std::move(group.steps.front()));
  for (Buffer &buffer : entry.buffers)
    std::tie(buffer.firstStep, buffer.lastStep) =
        std::minmax({now[buffer.firstStep], now[buffer.lastStep]});
}
