//===- Layout.cpp - moves of elements on CUDA -----------------------------===//
#include "codegen/cuda/layout/Layout.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Elements of a box that are moved at once.
static int64_t widthOf(const BoxCopy &box, Type element) {
  if (!box.isContiguous())
    return 1;
  SmallVector<int64_t> multiples{box.from, box.to, box.dims.back().size};
  for (const BoxCopy::Dim &dim : ArrayRef(box.dims).drop_back())
    multiples.append({dim.from, dim.to});
  return widthFor(multiples, element);
}

/// "copyBox<4, 1, 1024, BoxDim<...>, ...>".
static std::string copyOf(const BoxCopy &box, int64_t width) {
  int64_t items = box.elements() / width;
  std::string text = "copyBox<" + list({width, itemsOfThread(items), items});
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(box.dims))) {
    int64_t unit = i == 0 ? width : 1;
    text += ", BoxDim<" +
            list({dim.size / unit, dim.from * unit, dim.to * unit}) + ">";
  }
  return text + ">";
}

/// Emits one launch in which each box has blocks of its own.
static void emitGroup(ArrayRef<BoxCopy> boxes, ArrayRef<LayoutTensor> sources,
                      const LayoutTensor &result, KernelStore &store,
                      EmittedKernel &kernel) {
  LayoutKernel printed;
  printed.part.block = kBlockThreads;
  std::string word = wordOf(result.element());
  std::string to = printed.memory(result, word);
  int64_t blocks = 0;
  for (auto [box, source] : llvm::zip_equal(boxes, sources)) {
    int64_t width = widthOf(box, result.element());
    int64_t own = blocksFor(box.elements() / width);
    std::string index = indexType({source.count(), result.count()});
    std::string from = printed.memory(source, word);
    std::string first = printed.count(index, box.from),
                place = printed.count(index, box.to);
    std::string call = copyOf(box, width) + "(block, " + from + ", " + first +
                       ", " + to + ", " + place + ");";
    blocks += own;
    if (&box == &boxes.back()) {
      printed.body.line(call);
      break;
    }
    printed.body.open("if (block < " + Twine(own) + ")");
    printed.body.line(call);
    printed.body.line("return;");
    printed.body.close();
    printed.body.line("block -= " + Twine(own) + ";");
  }
  printed.add(store, blocks, kernel);
}

void mp::cuda::emitBoxes(ArrayRef<BoxCopy> boxes,
                         ArrayRef<LayoutTensor> sources,
                         const LayoutTensor &result, KernelStore &store,
                         EmittedKernel &kernel) {
  // All copies of a kernel share its registers.
  constexpr size_t mostBoxes = 8;
  SmallVector<BoxCopy> some;
  SmallVector<LayoutTensor> from;
  for (auto [box, source] : llvm::zip_equal(boxes, sources)) {
    if (box.elements() == 0)
      continue;
    some.push_back(box);
    from.push_back(source);
    if (some.size() == mostBoxes) {
      emitGroup(some, from, result, store, kernel);
      some.clear();
      from.clear();
    }
  }
  if (!some.empty())
    emitGroup(some, from, result, store, kernel);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

void mp::cuda::emitPad(const PaddedBox &box, const LayoutTensor &source,
                       const LayoutTensor &result, KernelStore &store,
                       EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  const PaddedBox::Dim &last = box.dims.back();
  int64_t width = last.step != 1 ? 1
                                 : widthFor({last.size, last.low, last.count},
                                            result.element());
  int64_t items = result.count() / width;
  std::string dims;
  int64_t stride = 1;
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(box.dims))) {
    int64_t unit = i == 0 ? width : 1;
    dims += ", PadDim<" +
            list({dim.size / unit, dim.low / unit, dim.step, dim.span() / unit,
                  stride * unit}) +
            ">";
    stride *= dim.count;
  }
  LayoutKernel printed;
  printed.part.block = kBlockThreads;
  std::string word = wordOf(result.element());
  std::string from = printed.memory(source, word),
              to = printed.memory(result, word);
  printed.body.line("padBox<" + list({width, itemsOfThread(items), items}) +
                    ", " + indexType({source.count(), result.count()}) + dims +
                    ">(block, " + from + ", " + to + ", static_cast<" + word +
                    ">(" + Twine(box.value) + "ull));");
  printed.add(store, blocksFor(items), kernel);
}

//===----------------------------------------------------------------------===//
// Rows by number
//===----------------------------------------------------------------------===//

/// "NumberedRows<1, 1000, 64, 16, false>", elements in `unit`s.
static std::string spell(const NumberedRows &rows, int64_t unit = 1) {
  return "NumberedRows<" +
         list({rows.outer, rows.rows, rows.count, rows.inner / unit}) +
         (rows.batched ? ", true>" : ", false>");
}

void mp::cuda::emitGather(const NumberedRows &rows, const LayoutTensor &table,
                          const LayoutTensor &indices,
                          const LayoutTensor &result, KernelStore &store,
                          EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  int64_t width = widthFor({rows.inner}, result.element());
  int64_t items = result.count() / width;
  LayoutKernel printed;
  printed.part.block = kBlockThreads;
  std::string word = wordOf(result.element());
  std::string a = printed.memory(table, word),
              b = printed.memory(indices, storageType(indices.element())),
              c = printed.memory(result, word);
  printed.body.line("gatherRows<" + list({width, itemsOfThread(items)}) + ", " +
                    spell(rows, width) + ", " +
                    indexType({table.count(), result.count()}) + ">(block, " +
                    a + ", " + b + ", " + c + ");");
  printed.add(store, blocksFor(items), kernel);
}

void mp::cuda::emitScatterRows(const NumberedRows &rows,
                               const LayoutTensor &updates,
                               const LayoutTensor &indices,
                               const LayoutTensor &result,
                               std::optional<LayoutTensor> flag,
                               KernelStore &store, EmittedKernel &kernel) {
  if (updates.count() == 0)
    return;
  int64_t width = widthFor({rows.inner}, result.element());
  int64_t items = updates.count() / width;
  LayoutKernel printed;
  printed.part.block = kBlockThreads;
  std::string word = wordOf(result.element());
  std::string a = printed.memory(updates, word),
              b = printed.memory(indices, storageType(indices.element())),
              c = printed.memory(result, word);
  if (flag) {
    std::string set = printed.memory(*flag, storageType(flag->element()));
    printed.body.line("if (!" + set + ".load(0))");
    printed.body.line("  return;");
  }
  printed.body.line("replaceRows<" + list({width, itemsOfThread(items)}) +
                    ", " + spell(rows, width) + ", " +
                    indexType({updates.count(), result.count()}) + ">(block, " +
                    a + ", " + b + ", " + c + ");");
  printed.add(store, blocksFor(items), kernel);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void mp::cuda::emitScatterAdd(const NumberedRows &rows,
                              const LayoutTensor &updates,
                              const LayoutTensor &indices,
                              std::optional<LayoutTensor> base,
                              const LayoutTensor &result, KernelStore &store,
                              EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  // A block's sums take 16 KiB, whatever their shape.
  int64_t sumBytes = storageBytes(computeType(result.element()));
  sumBytes = std::max<int64_t>(sumBytes, 4);
  int64_t across = std::min<int64_t>(llvm::PowerOf2Ceil(rows.inner), 128);
  int64_t down = (int64_t(1) << 14) / sumBytes / across;
  constexpr uint64_t listBytes = 4 * 4 * kBlockThreads, scratchBytes = 128;

  LayoutKernel printed;
  printed.part.block = kBlockThreads;
  printed.part.shared = (1 << 14) + listBytes + scratchBytes;
  std::string type = storageType(result.element());
  std::string a = printed.memory(updates, type),
              b = printed.memory(indices, storageType(indices.element())),
              c = base ? printed.memory(*base, type) : "",
              d = printed.memory(result, type);
  printed.body.line("scatterRows<" + spell(rows) + ", " + list({down, across}) +
                    ", " + (base ? "true" : "false") + ">(block, " + a + ", " +
                    b + ", " + (base ? c : d) + ", " + d + ", shared);");
  printed.add(store,
              rows.outer * llvm::divideCeil(rows.rows, down) *
                  llvm::divideCeil(rows.inner, across),
              kernel);
}

/// "RunningSum<4, 100, 1, false>".
static std::string spell(const RunningSum &sum) {
  return "RunningSum<" + list({sum.outer, sum.size, sum.inner}) +
         (sum.reverse ? ", true>" : ", false>");
}

void mp::cuda::emitRunningSum(const RunningSum &sum, const LayoutTensor &source,
                              const LayoutTensor &result, KernelStore &store,
                              EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  LayoutKernel printed;
  std::string type = storageType(result.element());
  std::string from = printed.memory(source, type),
              to = printed.memory(result, type);
  if (sum.inner > 1) {
    // A few columns are spread over more multiprocessors.
    int64_t columns = sum.outer * sum.inner;
    printed.part.block = columns >= (1 << 15) ? kBlockThreads : 32;
    printed.body.line("sumColumns<" + Twine(printed.part.block) + ", " +
                      spell(sum) + ">(block, " + from + ", " + to + ");");
    return printed.add(store, llvm::divideCeil(columns, printed.part.block),
                       kernel);
  }
  // A warp sums a short row, a block a long one.
  int64_t threads = sum.size <= 1024 ? 32 : kBlockThreads;
  printed.part.block = kBlockThreads;
  printed.part.shared = threads == kBlockThreads ? 256 : 0;
  printed.body.line("sumRows<" + Twine(threads) + ", " + spell(sum) +
                    ">(block, " + from + ", " + to + ", " +
                    (printed.part.shared ? "shared" : "nullptr") + ");");
  printed.add(store, llvm::divideCeil(sum.outer, kBlockThreads / threads),
              kernel);
}
