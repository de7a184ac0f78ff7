//===- Sort.cpp - sorted rows on CUDA -------------------------------------===//
#include "codegen/cuda/sort/Sort.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

namespace {

/// Sorted runs of keys and indices in temporaries: [rows, count, length].
struct Runs {
  int64_t count, length;
  LayoutTensor keys, indices;
};

class SortEmitter {
public:
  SortEmitter(const SortedRows &sorted, Type element, KernelStore &store,
              EmittedKernel &kernel)
      : sorted(sorted), store(store), kernel(kernel),
        i32(IntegerType::get(element.getContext(), 32)),
        key(IntegerType::get(element.getContext(),
                             storageBytes(element) == 8 ? 64 : 32)) {}

  void emit(const LayoutTensor &source, const LayoutTensor &result) {
    Runs runs = sortTiles(source, result);
    while (runs.count > 1)
      runs = mergeRuns(runs, result);
  }

private:
  static constexpr int64_t mostInTile = 2048;

  /// Returns room for runs, or the result if there is one run. Launches take
  /// turns with two temporaries.
  Runs runsOf(int64_t count, int64_t length, const LayoutTensor &result) {
    if (count == 1)
      return {count, length, result, result};
    if (rooms.size() < 2) {
      // Merging may round the number of runs up, but not beyond this.
      int64_t most = sorted.rows * llvm::PowerOf2Ceil(count) * length;
      rooms.push_back({0, 0, temporary(most, key), temporary(most, i32)});
    }
    Runs runs = rooms[turn++ % 2];
    runs.count = count;
    runs.length = length;
    return runs;
  }
  LayoutTensor temporary(int64_t count, Type element) {
    unsigned number = kernel.temporaries.size();
    kernel.temporaries.push_back(count * storageBytes(element));
    return {RankedTensorType::get({count}, element),
            {KernelArgument::Kind::Temporary, number}};
  }

  /// The arguments that name runs; the keys of the result are not stored.
  std::string spell(LayoutKernel &printed, const Runs &runs) {
    std::string indices = printed.memory(runs.indices, "int");
    std::string keys =
        runs.count == 1 ? indices : printed.memory(runs.keys, wordOf(key));
    return keys + ", " + indices;
  }
  static std::string spell(bool flag) { return flag ? "true" : "false"; }

  Runs sortTiles(const LayoutTensor &source, const LayoutTensor &result) {
    int64_t tile =
        std::min<int64_t>(llvm::PowerOf2Ceil(sorted.size), mostInTile);
    Runs runs = runsOf(llvm::divideCeil(sorted.size, tile),
                       std::min(tile, sorted.kept), result);
    LayoutKernel printed("sort.cuh");
    int64_t group = std::max<int64_t>(2 * kBlockThreads / tile, 1);
    printed.part.block = kBlockThreads;
    printed.part.shared =
        group * tile * (storageBytes(key) + storageBytes(i32));
    std::string from = printed.memory(source, storageType(source.element()));
    printed.body.line("sortTiles<" +
                      list({kBlockThreads, tile, group, sorted.rows,
                            sorted.size, runs.count, runs.length}) +
                      ", " + spell(sorted.descending) + ", " + wordOf(key) +
                      ">(block, " + from + ", " + spell(printed, runs) +
                      ", shared);");
    printed.add(store, llvm::divideCeil(sorted.rows * runs.count, group),
                kernel);
    return runs;
  }

  Runs mergeRuns(const Runs &runs, const LayoutTensor &result) {
    constexpr int64_t each = 8; // elements of a thread
    Runs merged = runsOf(llvm::divideCeil(runs.count, 2),
                         std::min(2 * runs.length, sorted.kept), result);
    LayoutKernel printed("sort.cuh");
    printed.part.block = kBlockThreads;
    std::string from = spell(printed, runs);
    printed.body.line("mergeRuns<" +
                      list({printed.part.block, each, sorted.rows, runs.count,
                            runs.length, merged.length}) +
                      ">(block, " + from + ", " + spell(printed, merged) +
                      ");");
    int64_t threads =
        sorted.rows * merged.count * llvm::divideCeil(merged.length, each);
    printed.add(store, llvm::divideCeil(threads, kBlockThreads), kernel);
    return merged;
  }

  SortedRows sorted;
  KernelStore &store;
  EmittedKernel &kernel;
  Type i32, key;
  SmallVector<Runs, 2> rooms;
  unsigned turn = 0;
};

} // namespace

void mp::cuda::emitArgsort(const SortedRows &sorted, const LayoutTensor &source,
                           const LayoutTensor &result, KernelStore &store,
                           EmittedKernel &kernel) {
  if (result.count() > 0)
    SortEmitter(sorted, source.element(), store, kernel).emit(source, result);
}
