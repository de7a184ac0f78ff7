//===- Pooling.cpp - pools on CUDA ----------------------------------------===//
#include "codegen/cuda/pooling/Pooling.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

/// The function of kernels/pooling.cuh.
static StringRef functionOf(Pool::Loop loop) {
  switch (loop) {
  case Pool::Loop::Max:
    return "maxPool";
  case Pool::Loop::Index:
    return "maxPoolIndex";
  case Pool::Loop::At:
    return "maxPoolAt";
  case Pool::Loop::Mean:
    return "meanPool";
  case Pool::Loop::MaxBack:
    return "maxPoolBack";
  case Pool::Loop::MeanBack:
    return "meanPoolBack";
  }
  llvm_unreachable("all loops handled");
}

/// "PoolWindow<32, 16, 3, 2, 1, 1, 1>" or "PoolBins<5, 3, 3>".
static std::string spell(const PoolDim &dim) {
  if (dim.isAdaptive)
    return "PoolBins<" + list({dim.elements, dim.places, dim.taps()}) + ">";
  const WindowDim &window = dim.window;
  return "PoolWindow<" +
         list({dim.elements, dim.places, window.size, window.stride, window.low,
               window.high, window.dilation}) +
         ">";
}

static std::string spell(const Pool &pool) {
  int64_t all = pool.countedByAll();
  return "PoolShape<" + list({pool.images, pool.channels}) + ", " +
         spell(pool.dims[0]) + ", " + spell(pool.dims[1]) +
         (pool.countsPadding ? ", true, " : ", false, ") + std::to_string(all) +
         ">";
}

void mp::cuda::emitPool(const Pool &pool, const LayoutTensor &source,
                        std::optional<LayoutTensor> index,
                        const LayoutTensor &result, KernelStore &store,
                        EmittedKernel &kernel) {
  if (result.count() == 0)
    return;
  int64_t width = widthFor({pool.channels}, source.element());
  LayoutKernel printed("pooling.cuh");
  printed.part.block = kBlockThreads;
  std::string arguments = printed.memory(source, storageType(source.element()));
  if (index)
    arguments += ", " + printed.memory(*index, storageType(index->element()));
  arguments += ", " + printed.memory(result, storageType(result.element()));
  printed.body.line(functionOf(pool.loop).str() + "<" + spell(pool) + ", " +
                    std::to_string(width) + ", " +
                    indexType({source.count(), result.count()}) + ">(block, " +
                    arguments + ");");
  printed.add(store, llvm::divideCeil(result.count() / width, kBlockThreads),
              kernel);
}
