//===- CropResize.cpp - boxes of images in one size on CUDA ---------------===//
#include "codegen/cuda/pooling/CropResize.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

void mp::cuda::emitCropResize(const CropResize &crop,
                              const LayoutTensor &source, const Boxes &boxes,
                              const LayoutTensor &result, KernelStore &store,
                              EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  LayoutKernel printed("crop.cuh");
  printed.part.block = kBlockThreads;
  std::string passed = "block";
  for (const LayoutTensor &tensor :
       {source, boxes.top, boxes.left, boxes.height, boxes.width, result})
    passed += ", " + printed.memory(tensor, storageType(tensor.element()));
  int64_t width = widthFor({crop.channels}, source.element());
  auto [height, across] = crop.dims;
  printed.body.line("cropResize<CropShape<" +
                    list({crop.images, crop.channels, height.elements,
                          across.elements, height.places, across.places}) +
                    ">, " + std::to_string(width) + ", " +
                    indexType({source.count(), result.count()}) + ">(" +
                    passed + ");");
  printed.add(store, llvm::divideCeil(result.count() / width, kBlockThreads),
              kernel);
}
