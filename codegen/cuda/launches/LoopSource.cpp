//===- LoopSource.cpp - the source of a kernel for a loop -----------------===//
#include "codegen/cuda/launches/LoopSource.h"
#include "codegen/cuda/SourceText.h"

#include "llvm/ADT/SetVector.h"

using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

namespace {
/// Where weights begin in shared memory.
constexpr uint64_t kAlignment = 128;
/// A block may have some of a part's work, but not much more than it would
/// have in a launch of its own.
constexpr int64_t kMostBlocksOfPart = 4;

/// Whether threads beyond those of a part may pass it by: they would miss its
/// barriers, which threads have where they share memory.
bool mayPassBy(const StagePart &part) {
  bool isAlone =
      part.shared == 0 && !llvm::StringRef(part.function).contains("barrier");
  return part.block == LoopTile::threads ||
         (part.block < LoopTile::threads && isAlone);
}

class LoopPrinter {
public:
  LoopPrinter(const LoopForm &form, uint64_t scratch, uint64_t kept,
              size_t arguments)
      : form(form), scratch(scratch), table(scratch + kept),
        arguments(arguments) {}

  std::string print() {
    printHeaders();
    for (auto [i, part] : llvm::enumerate(form.parts))
      if (!part.copied)
        bodies += KernelStore::named(part.stage ? part.stage->function
                                                : part.product->text,
                                     nameOf(i)) +
                  "\n";
    printKernel();
    return head.str() + bodies + kernel.str();
  }

private:
  static std::string nameOf(size_t part) {
    return "part" + std::to_string(part);
  }

  void printHeaders() {
    llvm::SetVector<llvm::StringRef> headers;
    headers.insert("loop.cuh");
    headers.insert("scalars.cuh");
    for (const LoopPart &part : form.parts)
      if (part.stage)
        headers.insert(part.stage->header);
    head.line("// a loop of " + Twine(form.rounds) + " rounds");
    for (llvm::StringRef header : headers)
      head.line("#include \"" + header + "\"");
    head.blank();
    head.line("using namespace mp;");
    head.blank();
  }

  void printKernel() {
    kernel.line(KernelStore::head(LoopTile::threads));
    kernel.open("    " + KernelStore::name + "(void **args)");
    kernel.line("MP_SHARED_MEMORY(shared);");
    kernel.line("unsigned *arrived = reinterpret_cast<unsigned *>(args + " +
                Twine(arguments) + ");");
    kernel.line("auto *table = reinterpret_cast<unsigned char **>(shared + " +
                Twine(table) + ");");
    kernel.line("copyTable(table, args, " + Twine(arguments) + ");");
    kernel.line("barrier();");
    if (table > scratch)
      printKeeping();
    kernel.line("#pragma unroll 1");
    kernel.open("for (long long round = 0; round < " + Twine(form.rounds) +
                "; ++round)");
    kernel.line("if (round > 0)");
    kernel.line("  gridBarrier(arrived);");
    size_t first = 0;
    uint64_t kept = scratch;
    for (auto [i, part] : llvm::enumerate(form.parts)) {
      if (i > 0)
        kernel.line(part.waits ? "gridBarrier(arrived);" : "barrier();");
      if (part.copied)
        printCopy(part, first);
      else if (part.stage)
        printStage(i, part, first);
      else
        printProduct(i, part, first, kept);
      first += part.arguments.size();
      kept += part.product ? part.product->kept : 0;
    }
    kernel.close();
    kernel.close();
  }

  /// Loads the weights of a block that has one tile. Where a device has fewer
  /// blocks than there are tiles, `printProduct` loads those of each.
  void printKeeping() {
    size_t first = 0;
    uint64_t kept = scratch;
    for (auto [i, part] : llvm::enumerate(form.parts)) {
      if (part.product) {
        kernel.line("if (blockIdx.x < " + Twine(part.product->tiles) + ")");
        printKeep(i, part, first, kept, "static_cast<int>(blockIdx.x)");
        kept += part.product->kept;
      }
      first += part.arguments.size();
    }
    kernel.line("barrier();");
  }

  void printKeep(size_t number, const LoopPart &part, size_t first,
                 uint64_t kept, const Twine &tile) {
    kernel.line("  " + nameOf(number) + "::keep(" + tile + ", shared + " +
                Twine(kept) + ", " + argument(part, 1, first) + ");");
  }

  void printStage(size_t number, const LoopPart &part, size_t first) {
    const StagePart &stage = *part.stage;
    std::string passed = "block";
    for (int64_t count : stage.counts)
      passed += ", " + std::to_string(count);
    for (size_t i = 0; i < stage.parameters.size(); ++i)
      passed += ",\n      " + argument(part, i, first);
    openBlocks(stage.grid);
    if (stage.block < LoopTile::threads)
      kernel.line("if (threadIdx.x < " + Twine(stage.block) + ")");
    kernel.line(nameOf(number) + "(" + passed + ");");
    kernel.line("barrier();");
    kernel.close();
  }

  void printProduct(size_t number, const LoopPart &part, size_t first,
                    uint64_t kept) {
    openBlocks(part.product->tiles);
    kernel.open("if (gridDim.x < " + Twine(part.product->tiles) + ")");
    printKeep(number, part, first, kept, "block");
    kernel.line("  barrier();");
    kernel.close();
    std::string passed = argument(part, 0, first);
    for (size_t i = 2; i < part.product->parameters.size(); ++i)
      passed += ",\n      " + argument(part, i, first);
    kernel.line(nameOf(number) + "::multiply(block, shared + " + Twine(kept) +
                ", shared, " + passed + ");");
    kernel.line("barrier();");
    kernel.close();
  }

  void printCopy(const LoopPart &part, size_t first) {
    kernel.line("copyPart(" + place(part, 0, first) + ", " +
                place(part, 1, first) + ", " + Twine(part.copied) + ");");
  }

  void openBlocks(int64_t blocks) {
    kernel.line("#pragma unroll 1");
    kernel.open("for (int block = blockIdx.x; block < " + Twine(blocks) +
                "; block += gridDim.x)");
  }

  /// Returns the address of an argument of a part in a round.
  static std::string place(const LoopPart &part, size_t number, size_t first) {
    std::string place = "table[" + std::to_string(first + number) + "]";
    int64_t stride = part.arguments[number].stride;
    return stride ? place + " + round * " + std::to_string(stride) : place;
  }

  /// Returns the elements there.
  static std::string argument(const LoopPart &part, size_t number,
                              size_t first) {
    const StagePart::Parameter &parameter =
        part.stage ? part.stage->parameters[number]
                   : part.product->parameters[number];
    return "global(reinterpret_cast<" + parameter.type + " *>(" +
           place(part, number, first) + "), " +
           std::to_string(parameter.count) + ")";
  }

  const LoopForm &form;
  const uint64_t scratch, table;
  const size_t arguments;
  SourceText head, kernel;
  std::string bodies;
};
} // namespace

int64_t LoopPart::blocks() const {
  constexpr int64_t bytesOfBlock = LoopTile::threads * 16;
  return stage     ? stage->grid
         : product ? product->tiles
                   : llvm::divideCeil(copied, bytesOfBlock);
}

bool LoopForm::fits(const Arch &arch) const {
  return sharedBytes() <= arch.sharedBytes() &&
         llvm::all_of(parts, [&](const LoopPart &part) {
           return part.blocks() <= kMostBlocksOfPart * arch.multiprocessors() &&
                  (!part.stage || mayPassBy(*part.stage));
         });
}

int64_t LoopForm::grid(const Arch &arch) const {
  int64_t most = 1;
  for (const LoopPart &part : parts)
    most = std::max(most, part.blocks());
  return std::min(most, arch.multiprocessors());
}

uint64_t LoopForm::scratchBytes() const {
  uint64_t most = 0;
  for (const LoopPart &part : parts)
    most = std::max(most, part.stage     ? part.stage->shared
                          : part.product ? part.product->shared
                                         : 0);
  return llvm::alignTo(most, kAlignment);
}

uint64_t LoopForm::keptBytes() const {
  uint64_t kept = 0;
  for (const LoopPart &part : parts)
    kept += part.product ? part.product->kept : 0;
  return kept;
}

size_t LoopForm::argumentCount() const {
  size_t count = 0;
  for (const LoopPart &part : parts)
    count += part.arguments.size();
  return count;
}

uint64_t LoopForm::sharedBytes() const {
  return scratchBytes() + keptBytes() + argumentCount() * sizeof(uint64_t);
}

uint64_t LoopForm::weightBytes() const {
  uint64_t bytes = 0;
  for (const LoopPart &part : parts)
    bytes += part.product ? part.product->weights : 0;
  return bytes;
}

std::string LoopForm::source() const {
  return LoopPrinter(*this, scratchBytes(), keptBytes(), argumentCount())
      .print();
}
