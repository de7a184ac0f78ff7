//===- Upsample.cpp - images in another size, sums of channels, on CUDA ---===//
#include "codegen/cuda/pooling/Upsample.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"
#include "codegen/cuda/pooling/WindowSum.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

/// Emits `call<..., width, index type>(block, source, result)` with a thread
/// for each `width` elements of the result.
static void emitCall(const std::string &function, int64_t width,
                     const LayoutTensor &source, const LayoutTensor &result,
                     KernelStore &store, EmittedKernel &kernel) {
  LayoutKernel printed("upsample.cuh");
  printed.part.block = kBlockThreads;
  std::string from = printed.memory(source, storageType(source.element())),
              to = printed.memory(result, storageType(result.element()));
  printed.body.line(function + ", " + std::to_string(width) + ", " +
                    indexType({source.count(), result.count()}) + ">(block, " +
                    from + ", " + to + ");");
  printed.add(store, llvm::divideCeil(result.count() / width, kBlockThreads),
              kernel);
}

void mp::cuda::emitUpsample(const Upsample &upsample,
                            const LayoutTensor &source,
                            const LayoutTensor &result, KernelStore &store,
                            EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  std::string place = !upsample.isBilinear     ? "PixelPlace::nearest"
                      : upsample.alignsCorners ? "PixelPlace::corners"
                                               : "PixelPlace::middles";
  std::string function = upsample.isBackward ? "upsampleBack" : "upsample";
  function += "<UpsampleShape<" + list({upsample.images, upsample.channels});
  for (const Upsample::Dim &dim : upsample.dims)
    function += ", UpsampleDim<" + list({dim.elements, dim.places}) + ", " +
                place + ">";
  emitCall(function + ">", widthFor({upsample.channels}, source.element()),
           source, result, store, kernel);
}

void mp::cuda::emitWindowSum(const WindowSum &sum, const LayoutTensor &source,
                             const LayoutTensor &result, KernelStore &store,
                             EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  emitCall("windowSum<WindowOf<" +
               list({sum.rows, sum.size, sum.low, sum.high}) + ">",
           widthFor({sum.size}, source.element()), source, result, store,
           kernel);
}
