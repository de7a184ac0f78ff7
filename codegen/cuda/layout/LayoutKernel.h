//===- LayoutKernel.h - kernels that instantiate a header -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_LAYOUT_LAYOUTKERNEL_H
#define MP_CODEGEN_CUDA_LAYOUT_LAYOUTKERNEL_H

#include "codegen/cuda/SourceText.h"
#include "codegen/cuda/layout/Layout.h"

namespace mp::cuda {

constexpr int64_t kBlockThreads = 256;

/// A kernel being written: a StagePart and its arguments.
class LayoutKernel {
public:
  explicit LayoutKernel(llvm::StringRef header = "layout.cuh") {
    part.header = header.str();
  }
  /// Adds a parameter, in the order of calls; returns its name. `type` is the
  /// C++ type of the elements.
  std::string memory(const LayoutTensor &tensor, const std::string &type);
  /// Adds a number that is not part of the text, so that one text does for
  /// many.
  std::string count(const std::string &type, int64_t value);
  void add(KernelStore &store, int64_t grid, EmittedKernel &kernel);

  StagePart part;
  SourceText body;

private:
  KernelLaunch launch;
  std::string counts, declared;
};

/// Returns the C++ integer of an element's width in memory.
std::string wordOf(mlir::Type element);

/// Returns the elements that are moved at once, such that all of `multiples`
/// are multiples of it.
int64_t widthFor(llvm::ArrayRef<int64_t> multiples, mlir::Type element);

/// Returns the items of a thread: more than one if there are enough of them for
/// all multiprocessors.
int64_t itemsOfThread(int64_t items);
int64_t blocksFor(int64_t items);

/// Returns the type of indices into these tensors, and some blocks past their
/// end.
std::string indexType(llvm::ArrayRef<int64_t> counts);

/// "1, 2, 3".
std::string list(llvm::ArrayRef<int64_t> numbers);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_LAYOUT_LAYOUTKERNEL_H
