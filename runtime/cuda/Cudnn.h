//===- Cudnn.h - cuDNN, opened at run time --------------------------------===//
//
// The part of cuDNN 9's graph API that convolutions need. All that it knows is
// a descriptor: it gets its attributes by number, is finalized, and is then
// read by others. Names and values are those of cudnn_graph.h.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_CUDNN_H
#define MP_RUNTIME_CUDA_CUDNN_H

#include "runtime/cuda/DeviceRoutine.h"

namespace mp::cuda {

namespace dnn {

using Status = int; ///< 0: success
using DnnHandle = struct DnnContext *;
using Descriptor = void *;

/// cudnnBackendDescriptorType_t
enum DescriptorType : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engineConfig = 3,
  engineHeuristics = 4,
  executionPlan = 5,
  convolutionForward = 10,
  convolutionBackwardFilter = 11,
  convolutionBackwardData = 12,
  operationPointwise = 13,
  operationGraph = 15,
  variantPack = 16,
  tensor = 17,
};

/// cudnnBackendAttributeName_t
enum AttributeName : int {
  pointwiseMode = 0,
  pointwiseMathPrecision = 1,
  convolutionComputeType = 100,
  convolutionMode = 101,
  convolutionDilations = 102,
  convolutionStrides = 103,
  convolutionPostPaddings = 104,
  convolutionPrePaddings = 105,
  convolutionSpatialDims = 106,
  heuristicsMode = 200,
  heuristicsGraph = 201,
  heuristicsResults = 202,
  configEngine = 300,
  planHandle = 400,
  planConfig = 401,
  planWorkspaceSize = 402,
  /// The first attribute of each operation; offsets from it follow.
  forwardAlpha = 700,
  backwardDataAlpha = 706,
  backwardFilterAlpha = 712,
  fromAlphaToBeta = 1,
  fromAlphaToConvolution = 2,
  fromAlphaToWeight = 3,
  fromAlphaToInput = 4,
  fromAlphaToOutput = 5,
  operationPointwiseDescriptor = 750,
  operationPointwiseX = 751,
  operationPointwiseB = 752,
  operationPointwiseY = 753,
  graphHandle = 800,
  graphOperations = 801,
  tensorAlignment = 900,
  tensorDataType = 901,
  tensorDimensions = 902,
  tensorStrides = 903,
  tensorUniqueId = 906,
  tensorIsVirtual = 907,
  packUniqueIds = 1000,
  packPointers = 1001,
  packWorkspace = 1003,
  engineNumericalNote = 1303,
};

/// cudnnBackendAttributeType_t
enum AttributeType : int {
  typeHandle = 0,
  typeDataType = 1,
  typeBoolean = 2,
  typeInt64 = 3,
  typeFloat = 4,
  typePointer = 6,
  typeConvolutionMode = 7,
  typeHeuristicsMode = 8,
  typeNumericalNote = 11,
  typePointwiseMode = 14,
  typeDescriptor = 15,
};

/// cudnnDataType_t
enum DataType : int { dataF32 = 0, dataF16 = 2, dataBF16 = 9 };
/// cudnnConvolutionMode_t: the window is not reversed.
enum ConvolutionMode : int { crossCorrelation = 1 };
/// cudnnPointwiseMode_t
enum PointwiseMode : int { pointwiseAdd = 0 };
/// cudnnBackendHeurMode_t
enum HeuristicsMode : int { heuristicsFallback = 2, heuristicsA = 3 };
/// cudnnBackendNumericalNote_t
enum NumericalNote : int {
  noteTensorCore = 0,
  noteDownConvertInputs = 1,
  noteReducedPrecisionReduction = 2,
  noteFft = 3,
  noteNondeterministic = 4,
  noteWinograd = 5,
};

/// F(name, (parameters)); every function returns a Status.
#define MP_CUDNN_FUNCTIONS(F)                                                  \
  F(cudnnCreate, (DnnHandle *))                                                \
  F(cudnnDestroy, (DnnHandle))                                                 \
  F(cudnnSetStream, (DnnHandle, Stream))                                       \
  F(cudnnBackendCreateDescriptor, (int type, Descriptor *))                    \
  F(cudnnBackendDestroyDescriptor, (Descriptor))                               \
  F(cudnnBackendFinalize, (Descriptor))                                        \
  F(cudnnBackendSetAttribute,                                                  \
    (Descriptor, int name, int type, int64_t count, const void *values))       \
  F(cudnnBackendGetAttribute, (Descriptor, int name, int type, int64_t wanted, \
                               int64_t *found, void *values))                  \
  F(cudnnBackendExecute, (DnnHandle, Descriptor plan, Descriptor pack))

/// The open library.
struct Library {
#define MP_DECLARE(NAME, PARAMETERS) Status(*NAME) PARAMETERS = nullptr;
  MP_CUDNN_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  size_t (*cudnnGetVersion)() = nullptr;
  const char *(*cudnnGetErrorString)(Status) = nullptr;
  void (*cudnnGetLastErrorString)(char *, size_t) = nullptr;
  std::string path;

  /// "9.10.2"
  std::string version() const;
  /// "cuDNN: cudnnBackendFinalize failed: CUDNN_STATUS_BAD_PARAM (2000): ..."
  /// as an error, or success.
  llvm::Error check(const char *call, Status status) const;
};

/// The library, opened at the first call. It takes hundreds of megabytes, so
/// call this only if it is needed. The error says how to install it.
/// Thread-safe.
llvm::Expected<const Library &> open();

/// Like MP_CUDA, for cuDNN.
#define MP_CUDNN(LIBRARY, NAME, ...)                                           \
  do {                                                                         \
    if (llvm::Error error =                                                    \
            (LIBRARY).check(#NAME, (LIBRARY).NAME(__VA_ARGS__)))               \
      return error;                                                            \
  } while (false)

} // namespace dnn

/// Makes "cudnn.conv2d" (runtime/cuda/Conv2dCall.h). The engine is chosen here,
/// once, among those that sum in f32 and in the same order at every run.
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createCudnnConv2d(const Call &call, RoutineContext &context);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_CUDNN_H
