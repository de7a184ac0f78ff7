//===- CudnnConv2d.cpp - the routine "cudnn.conv2d" -----------------------===//
//
// A convolution is a graph of one operation, or of two if a bias is added to
// its sums. cuDNN names dimensions in the order images, channels, height,
// width; that channels are the last in memory, only strides say.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Conv2dCall.h"
#include "runtime/cuda/CudnnDescriptor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace llvm;

namespace mp::cuda {
namespace {

using namespace dnn;
using Kind = Conv2dCall::Kind;

/// What tensors are called in a graph and in a pack of addresses.
enum UniqueId : int64_t { idInput, idWeight, idOutput, idBias, idSums };

DataType dataType(ElementType type) {
  return type == ElementType::F16    ? dataF16
         : type == ElementType::BF16 ? dataBF16
                                     : dataF32;
}

/// Describes a graph; what it is made of may go once it is finalized.
class GraphBuilder {
public:
  GraphBuilder(const Library &library, DnnHandle handle, const Conv2dCall &conv,
               ArrayRef<BufferRef> args)
      : library(library), handle(handle), conv(conv), args(args) {}

  Expected<OwnedDescriptor> build();

private:
  /// `sizes` are of a tensor whose channels are last.
  Expected<OwnedDescriptor> tensor(UniqueId id, ArrayRef<int64_t> sizes,
                                   ElementType type);
  Expected<OwnedDescriptor> window();
  Expected<OwnedDescriptor> convolve(UniqueId output, ElementType type);
  Expected<OwnedDescriptor> addBias();
  uint32_t alignment(UniqueId id) const;

  const Library &library;
  DnnHandle handle;
  const Conv2dCall &conv;
  ArrayRef<BufferRef> args;
};

/// Returns the tensors of the arguments, in order.
SmallVector<UniqueId> argumentIds(const Conv2dCall &conv) {
  switch (conv.kind) {
  case Kind::Forward:
    if (conv.bias)
      return {idInput, idWeight, idBias, idOutput};
    return {idInput, idWeight, idOutput};
  case Kind::BackwardInput:
    return {idOutput, idWeight, idInput};
  case Kind::BackwardWeight:
    return {idOutput, idInput, idWeight};
  }
  llvm_unreachable("all kinds are handled");
}

uint32_t GraphBuilder::alignment(UniqueId id) const {
  constexpr uint32_t widest = 16; // of the accesses that kernels make
  for (auto [argument, ref] : zip(argumentIds(conv), args))
    if (argument == id)
      return std::min(widest, alignmentOf(ref));
  return widest;
}

Expected<OwnedDescriptor>
GraphBuilder::tensor(UniqueId id, ArrayRef<int64_t> sizes, ElementType type) {
  int64_t height = sizes[1], width = sizes[2], channels = sizes[3];
  int64_t dimensions[] = {sizes[0], channels, height, width};
  int64_t strides[] = {height * width * channels, 1, width * channels,
                       channels};
  return DescriptorBuilder(library, dnn::tensor)
      .set(tensorDataType, typeDataType, dataType(type))
      .set(tensorDimensions, dimensions)
      .set(tensorStrides, strides)
      .set(tensorUniqueId, {static_cast<int64_t>(id)})
      .set(tensorAlignment, {static_cast<int64_t>(alignment(id))})
      .set(tensorIsVirtual, typeBoolean, id == idSums)
      .finalize();
}

Expected<OwnedDescriptor> GraphBuilder::window() {
  return DescriptorBuilder(library, convolution)
      .set(convolutionComputeType, typeDataType, dataF32)
      .set(convolutionMode, typeConvolutionMode, crossCorrelation)
      .set(convolutionSpatialDims, {2})
      .set(convolutionDilations, conv.dilations)
      .set(convolutionStrides, conv.strides)
      .set(convolutionPrePaddings, conv.low)
      .set(convolutionPostPaddings, conv.high)
      .finalize();
}

Expected<OwnedDescriptor> GraphBuilder::convolve(UniqueId output,
                                                 ElementType type) {
  auto of = window();
  if (!of)
    return of.takeError();
  auto x = tensor(idInput, conv.input, conv.type);
  if (!x)
    return x.takeError();
  auto w = tensor(idWeight, conv.weight, conv.type);
  if (!w)
    return w.takeError();
  auto y = tensor(output, conv.output, type);
  if (!y)
    return y.takeError();
  constexpr std::pair<DescriptorType, int> operations[] = {
      {convolutionForward, forwardAlpha},
      {convolutionBackwardData, backwardDataAlpha},
      {convolutionBackwardFilter, backwardFilterAlpha}};
  auto [operation, alpha] = operations[static_cast<size_t>(conv.kind)];
  return DescriptorBuilder(library, operation)
      .set(alpha, typeFloat, 1.0f)
      .set(alpha + fromAlphaToBeta, typeFloat, 0.0f)
      .set(alpha + fromAlphaToConvolution, *of)
      .set(alpha + fromAlphaToWeight, *w)
      .set(alpha + fromAlphaToInput, *x)
      .set(alpha + fromAlphaToOutput, *y)
      .finalize();
}

/// Adds it to sums that are still in f32.
Expected<OwnedDescriptor> GraphBuilder::addBias() {
  auto add = DescriptorBuilder(library, pointwise)
                 .set(pointwiseMode, typePointwiseMode, pointwiseAdd)
                 .set(pointwiseMathPrecision, typeDataType, dataF32)
                 .finalize();
  if (!add)
    return add.takeError();
  auto sums = tensor(idSums, conv.output, ElementType::F32);
  if (!sums)
    return sums.takeError();
  auto bias = tensor(idBias, {1, 1, 1, conv.output[3]}, conv.type);
  if (!bias)
    return bias.takeError();
  auto y = tensor(idOutput, conv.output, conv.type);
  if (!y)
    return y.takeError();
  return DescriptorBuilder(library, operationPointwise)
      .set(operationPointwiseDescriptor, *add)
      .set(operationPointwiseX, *sums)
      .set(operationPointwiseB, *bias)
      .set(operationPointwiseY, *y)
      .finalize();
}

Expected<OwnedDescriptor> GraphBuilder::build() {
  SmallVector<OwnedDescriptor, 2> operations;
  auto convolved = conv.bias ? convolve(idSums, ElementType::F32)
                             : convolve(idOutput, conv.type);
  if (!convolved)
    return convolved.takeError();
  operations.push_back(std::move(*convolved));
  if (conv.bias) {
    auto added = addBias();
    if (!added)
      return added.takeError();
    operations.push_back(std::move(*added));
  }
  SmallVector<Descriptor> handles = map_to_vector(
      operations, [](const OwnedDescriptor &each) { return each.get(); });
  return DescriptorBuilder(library, operationGraph)
      .set(graphHandle, typeHandle, handle)
      .set(graphOperations, typeDescriptor, ArrayRef(handles))
      .finalize();
}

class Convolution final : public DeviceRoutine {
public:
  Convolution(const Library &library, DnnHandle handle, Conv2dCall conv)
      : library(library), handle(handle), conv(std::move(conv)) {}

  /// Chooses the engine.
  Error choose(ArrayRef<BufferRef> args);
  Error enqueue(ArrayRef<Address> args, Stream stream) override;

private:
  /// Makes the plan of the first config that will do, if one does.
  Error chooseAmong(const OwnedDescriptor &graph, HeuristicsMode mode);
  Expected<std::vector<OwnedDescriptor>> configsOf(const OwnedDescriptor &graph,
                                                   HeuristicsMode mode);
  Expected<bool> isRight(const OwnedDescriptor &config);
  /// Fails if the engine does not run here.
  Expected<OwnedDescriptor> planOf(const OwnedDescriptor &config);
  Expected<int64_t> workspaceOf(const OwnedDescriptor &plan);

  const Library &library;
  DnnHandle handle;
  Conv2dCall conv;
  std::optional<OwnedDescriptor> plan;
};

Expected<std::vector<OwnedDescriptor>>
Convolution::configsOf(const OwnedDescriptor &graph, HeuristicsMode mode) {
  auto heuristics = DescriptorBuilder(library, engineHeuristics)
                        .set(heuristicsGraph, graph)
                        .set(heuristicsMode, typeHeuristicsMode, mode)
                        .finalize();
  if (!heuristics)
    return heuristics.takeError();
  int64_t found = 0;
  MP_CUDNN(library, cudnnBackendGetAttribute, heuristics->get(),
           heuristicsResults, typeDescriptor, 0, &found, nullptr);
  std::vector<OwnedDescriptor> configs;
  for (int64_t i = 0; i < found; ++i) {
    auto config = OwnedDescriptor::create(library, engineConfig);
    if (!config)
      return config.takeError();
    configs.push_back(std::move(*config));
  }
  SmallVector<Descriptor> handles = map_to_vector(
      configs, [](const OwnedDescriptor &config) { return config.get(); });
  MP_CUDNN(library, cudnnBackendGetAttribute, heuristics->get(),
           heuristicsResults, typeDescriptor, found, &found, handles.data());
  configs.resize(std::min<size_t>(found, configs.size()));
  return configs;
}

/// Whether an engine computes what the generated kernels do, but for the order
/// of sums: it keeps one order, rounds nothing before the end, and leaves an
/// infinity where it is. Transforms do not: they spread it over a tile, and
/// may overflow themselves.
Expected<bool> Convolution::isRight(const OwnedDescriptor &config) {
  auto made = OwnedDescriptor::create(library, engine);
  if (!made)
    return made.takeError();
  Descriptor into = made->get();
  int64_t found = 0;
  MP_CUDNN(library, cudnnBackendGetAttribute, config.get(), configEngine,
           typeDescriptor, 1, &found, &into);
  int notes[32];
  MP_CUDNN(library, cudnnBackendGetAttribute, made->get(), engineNumericalNote,
           typeNumericalNote, std::size(notes), &found, notes);
  bool mayRound = conv.type != ElementType::F32 || conv.tf32;
  return none_of(ArrayRef(notes, std::min<size_t>(found, std::size(notes))),
                 [&](int note) {
                   switch (note) {
                   case noteNondeterministic:
                   case noteReducedPrecisionReduction:
                   case noteFft:
                   case noteWinograd:
                     return true;
                   case noteTensorCore:
                   case noteDownConvertInputs:
                     return !mayRound;
                   default:
                     return false;
                   }
                 });
}

Expected<OwnedDescriptor> Convolution::planOf(const OwnedDescriptor &config) {
  return DescriptorBuilder(library, executionPlan)
      .set(planHandle, typeHandle, handle)
      .set(planConfig, config)
      .finalize();
}

Expected<int64_t> Convolution::workspaceOf(const OwnedDescriptor &plan) {
  int64_t bytes = 0, found = 0;
  MP_CUDNN(library, cudnnBackendGetAttribute, plan.get(), planWorkspaceSize,
           typeInt64, 1, &found, &bytes);
  return bytes;
}

Error Convolution::chooseAmong(const OwnedDescriptor &graph,
                               HeuristicsMode mode) {
  auto configs = configsOf(graph, mode);
  if (!configs)
    return configs.takeError();
  for (const OwnedDescriptor &config : *configs) {
    // Heuristics also return engines that do not run here: the next one may.
    auto right = isRight(config);
    if (!right)
      consumeError(right.takeError());
    if (!right || !*right)
      continue;
    auto made = planOf(config);
    if (!made) {
      consumeError(made.takeError());
      continue;
    }
    auto bytes = workspaceOf(*made);
    if (!bytes)
      return bytes.takeError();
    if (*bytes > conv.workspace)
      continue;
    plan = std::move(*made);
    return Error::success();
  }
  return Error::success();
}

Error Convolution::choose(ArrayRef<BufferRef> args) {
  auto graph = GraphBuilder(library, handle, conv, args).build();
  if (!graph)
    return graph.takeError();
  for (HeuristicsMode mode : {heuristicsA, heuristicsFallback}) {
    if (Error error = chooseAmong(*graph, mode))
      return error;
    if (plan)
      return Error::success();
  }
  return deviceError(
      "cuDNN has no engine for " + conv.str() + " that sums in " +
      (conv.tf32 ? "tf32" : "f32") + ", always in the same order, in " +
      Twine(conv.workspace >> 20) +
      " MiB of workspace; compile with a plan that does not name cudnn for it");
}

Error Convolution::enqueue(ArrayRef<Address> args, Stream stream) {
  SmallVector<int64_t> ids;
  for (UniqueId id : argumentIds(conv))
    ids.push_back(id);
  Address workspace = args.back();
  auto pack = DescriptorBuilder(library, variantPack)
                  .set(packUniqueIds, ids)
                  .set(packPointers, typePointer, args.drop_back())
                  .set(packWorkspace, typePointer, workspace)
                  .finalize();
  if (!pack)
    return pack.takeError();
  MP_CUDNN(library, cudnnSetStream, handle, stream);
  MP_CUDNN(library, cudnnBackendExecute, handle, plan->get(), pack->get());
  return Error::success();
}

/// The library's handle for a context, made when first needed and kept with the
/// context.
Expected<DnnHandle> handleOf(const DeviceContext &context,
                             const Library &library) {
  std::shared_ptr<void> &state = context.libraryStates[library.path];
  if (!state) {
    DnnHandle handle = nullptr;
    MP_CUDNN(library, cudnnCreate, &handle);
    state = std::shared_ptr<void>(handle,
                                  [destroy = library.cudnnDestroy](void *made) {
                                    destroy(static_cast<DnnHandle>(made));
                                  });
  }
  return static_cast<DnnHandle>(state.get());
}

} // namespace

Expected<std::unique_ptr<DeviceRoutine>>
createCudnnConv2d(const Call &call, RoutineContext &context) {
  auto conv = readConv2d(call);
  if (!conv)
    return conv.takeError();
  Expected<const Library &> library = dnn::open();
  if (!library)
    return library.takeError();
  if (Error error = context.device.activate())
    return error;
  auto handle = handleOf(context.device, *library);
  if (!handle)
    return handle.takeError();
  auto made =
      std::make_unique<Convolution>(*library, *handle, std::move(*conv));
  if (Error error = made->choose(call.args))
    return error;
  return made;
}

} // namespace mp::cuda
