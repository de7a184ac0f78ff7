//===- LayoutImages.cpp - images moved by numbers of their own ------------===//
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

void mp::cuda::emitAugment(const MovedImages &size, const LayoutTensor &source,
                           const LayoutTensor &rows,
                           const LayoutTensor &columns,
                           std::optional<LayoutTensor> mirrored,
                           const LayoutTensor &result, KernelStore &store,
                           EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  int64_t width = widthFor({size.channels}, result.element());
  int64_t items = result.count() / width;
  LayoutKernel printed("augment.cuh");
  printed.part.block = kBlockThreads;
  std::string word = wordOf(result.element());
  std::string a = printed.memory(source, word),
              b = printed.memory(rows, storageType(rows.element())),
              c = printed.memory(columns, storageType(columns.element())),
              d = mirrored ? printed.memory(*mirrored,
                                            storageType(mirrored->element()))
                           : b,
              e = printed.memory(result, word);
  printed.body.line(
      "moveImages<" + list({width, itemsOfThread(items)}) + ", " +
      (mirrored ? "true" : "false") + ", MovedImages<" +
      list({size.images, size.height, size.width, size.channels / width}) +
      ">, " + indexType({result.count()}) + ">(block, " + a + ", " + b + ", " +
      c + ", " + d + ", " + e + ");");
  printed.add(store, blocksFor(items), kernel);
}
