//===- CudnnConvolution.h - convolutions of the emulated cuDNN --*- C++ -*-===//
#ifndef MP_EMULATOR_CUDNNCONVOLUTION_H
#define MP_EMULATOR_CUDNNCONVOLUTION_H

#include "CudnnDescriptor.h"

namespace mp::emulator {

/// Engines, of which a caller that wants right numbers and the same at every
/// run must leave out some: heuristics return the wrong ones first.
enum CudnnEngine : int {
  /// Wrong on purpose, as its note says that runs may differ.
  EngineNondeterministic,
  EngineThatDoesNotRun, ///< its plan cannot be made
  EngineOfMuchWorkspace,
  /// For f32, operands are cut to the 11 bits that tf32 keeps.
  EngineTensorCore,
  EngineFallback,
};

/// cudnnBackendNumericalNote_t
std::vector<int> notesOf(int engine);
int64_t workspaceOf(int engine);
/// Returns the engines that a mode of the heuristics yields, in order.
std::vector<int> enginesOf(int mode);

/// Where the tensors of a graph are, by their unique ids.
struct CudnnPack {
  std::map<int64_t, char *> tensors;
  char *workspace = nullptr;
};

/// A graph as an engine runs it.
class CudnnConvolution {
public:
  CudnnConvolution(const CudnnDescriptor &graph, int engine);

  /// Checks that a pack has all tensors, each aligned as promised and inside
  /// one allocation of the device.
  CudnnFault check(const CudnnPack &pack) const;
  void run(const CudnnPack &pack) const;
  /// "forward 2x16x6x7 by 24x16x3x3 engine=4"
  std::string str() const;

private:
  struct Tensor {
    int64_t id = -1;
    int type = 0;
    int64_t alignment = 1;
    std::vector<int64_t> sizes, strides;

    explicit Tensor(const CudnnDescriptor &descriptor);
    int64_t count() const;
    /// One more than the place of the last element.
    int64_t extent() const;
    int64_t place(int64_t a, int64_t b, int64_t c, int64_t d) const {
      return a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
    }
  };
  std::vector<float> read(const Tensor &tensor, const CudnnPack &pack) const;
  const Tensor &result() const;
  std::vector<const Tensor *> all() const;

  CudnnKind kind;
  int engine;
  Tensor w, x, y;
  std::vector<Tensor> added; ///< a bias and the sums with it, or nothing
  std::vector<int64_t> dilations, strides, before;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_CUDNNCONVOLUTION_H
