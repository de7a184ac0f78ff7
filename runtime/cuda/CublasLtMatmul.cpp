//===- CublasLtMatmul.cpp - the routine "cublaslt.matmul" -----------------===//
//
// cuBLASLt is column-major. A row-major matrix is its transpose in column-major
// order, so c = a b is computed as c' = b' a', where b' is the library's first
// operand, and a bias along a row of c is one along a column of c'.
//
//===----------------------------------------------------------------------===//
#include "runtime/MatmulCall.h"
#include "runtime/cuda/CublasLt.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>

using namespace llvm;

namespace mp::cuda {
namespace {

using namespace lt;

// Values of the library's enumerations.
enum : int {
  typeF32 = 0,
  typeF16 = 2,
  typeBF16 = 14,
  computeF32 = 68,
  computeTf32 = 77,
  transpose = 1,
  layoutBatchCount = 5,
  layoutBatchStride = 6,
  descTransA = 3,
  descTransB = 4,
  descEpilogue = 7,
  descBiasPointer = 8,
  descBiasType = 26,
  preferMaxWorkspace = 1,
  preferReductions = 3,
  preferAlignmentA = 5,
  preferAlignmentB = 6,
  preferAlignmentC = 7,
  preferAlignmentD = 8,
};
enum : uint32_t {
  epilogueDefault = 1,
  epilogueRelu = 2,
  epilogueBias = 4,
  /// Partial sums are in the compute type and are added in a fixed order.
  reduceInComputeType = 2,
};

int dataType(ElementType type) {
  return type == ElementType::F16    ? typeF16
         : type == ElementType::BF16 ? typeBF16
                                     : typeF32;
}

/// Owns a description of the library.
template <typename T, auto Destroy> struct Owned {
  const Library *library;
  T value = nullptr;
  explicit Owned(const Library &library) : library(&library) {}
  Owned(const Owned &) = delete;
  ~Owned() {
    if (value)
      (library->*Destroy)(value);
  }
};
using OwnedLayout = Owned<Layout, &Library::cublasLtMatrixLayoutDestroy>;
using OwnedDescription =
    Owned<Description, &Library::cublasLtMatmulDescDestroy>;
using OwnedPreference =
    Owned<Preference, &Library::cublasLtMatmulPreferenceDestroy>;

/// A matrix of the call as the library sees it, column-major.
struct Columns {
  int64_t rows, columns, leading;
  bool transposed; ///< before it is multiplied
};

/// A row-major view of `rows` x `columns`, transposed.
Expected<Columns> inColumns(StringRef name, int64_t rows, int64_t columns,
                            ArrayRef<int64_t> strides) {
  if (strides[1] == 1)
    return Columns{columns, rows, std::max(strides[0], columns), false};
  if (strides[0] == 1)
    return Columns{rows, columns, std::max(strides[1], rows), true};
  return createStringError("operand " + name + " has strides " +
                           Twine(strides[0]) + " and " + Twine(strides[1]) +
                           ", one of which must be 1");
}

class Matmul final : public DeviceRoutine {
public:
  Matmul(const Library &library, LtHandle handle, MatmulCall shape)
      : library(library), handle(handle), shape(std::move(shape)),
        description(library), first(library), second(library), result(library) {
  }

  Error plan(const Call &call);
  Error enqueue(ArrayRef<Address> args, Stream stream) override;

private:
  Error readExtras(const Call &call);
  Error describe(OwnedLayout &layout, ElementType type, const Columns &matrix,
                 int64_t batchStride);
  Error describeProduct(bool transposeFirst, bool transposeSecond);
  Error choose(const Call &call);

  template <typename T> Error set(int attribute, T value) {
    MP_CUBLASLT(library, cublasLtMatmulDescSetAttribute, description.value,
                attribute, &value, sizeof(value));
    return Error::success();
  }

  const Library &library;
  LtHandle handle;
  MatmulCall shape;
  int64_t workspaceBytes = 0, batch = 1;
  int64_t aBatchStride = 0, bBatchStride = 0, cBatchStride = 0;
  bool tf32 = false;
  OwnedDescription description;
  OwnedLayout first, second, result; ///< b', a' and c'
  Choice choice = {};
};

Error Matmul::readExtras(const Call &call) {
  if (Error error = checkArguments(call, shape.arguments() + 1))
    return error;
  if (Error error = readAttribute(call, "workspace", workspaceBytes))
    return error;
  std::string compute;
  if (Error error = readAttribute(call, "compute", compute))
    return error;
  if (compute != "f32" && compute != "tf32")
    return createStringError(
        "attribute 'compute' must be f32 or tf32, found '" + compute + "'");
  tf32 = compute == "tf32";
  if (!call.find("batch"))
    return Error::success();
  std::pair<StringRef, int64_t *> sizes[] = {{"batch", &batch},
                                             {"a_batch_stride", &aBatchStride},
                                             {"b_batch_stride", &bBatchStride},
                                             {"c_batch_stride", &cBatchStride}};
  for (auto [name, value] : sizes)
    if (Error error = readAttribute(call, name, *value))
      return error;
  return Error::success();
}

Error Matmul::describe(OwnedLayout &layout, ElementType type,
                       const Columns &matrix, int64_t batchStride) {
  MP_CUBLASLT(library, cublasLtMatrixLayoutCreate, &layout.value,
              dataType(type), matrix.rows, matrix.columns, matrix.leading);
  if (batch == 1)
    return Error::success();
  int32_t count = batch;
  MP_CUBLASLT(library, cublasLtMatrixLayoutSetAttribute, layout.value,
              layoutBatchCount, &count, sizeof(count));
  MP_CUBLASLT(library, cublasLtMatrixLayoutSetAttribute, layout.value,
              layoutBatchStride, &batchStride, sizeof(batchStride));
  return Error::success();
}

Error Matmul::describeProduct(bool transposeFirst, bool transposeSecond) {
  MP_CUBLASLT(library, cublasLtMatmulDescCreate, &description.value,
              tf32 ? computeTf32 : computeF32, typeF32);
  int32_t operation = transpose;
  if (transposeFirst)
    if (Error error = set(descTransA, operation))
      return error;
  if (transposeSecond)
    if (Error error = set(descTransB, operation))
      return error;
  uint32_t epilogue =
      (shape.relu ? epilogueRelu : 0) | (shape.biasType ? epilogueBias : 0);
  if (Error error = set(descEpilogue, epilogue ? epilogue : +epilogueDefault))
    return error;
  if (!shape.biasType)
    return Error::success();
  return set(descBiasType, static_cast<int32_t>(dataType(*shape.biasType)));
}

/// Asks the library for its choice for this shape on this device.
Error Matmul::choose(const Call &call) {
  OwnedPreference preference(library);
  MP_CUBLASLT(library, cublasLtMatmulPreferenceCreate, &preference.value);
  auto prefer = [&](int attribute, auto value) -> Error {
    MP_CUBLASLT(library, cublasLtMatmulPreferenceSetAttribute, preference.value,
                attribute, &value, sizeof(value));
    return Error::success();
  };
  if (Error error =
          prefer(preferMaxWorkspace, static_cast<uint64_t>(workspaceBytes)))
    return error;
  if (Error error = prefer(preferReductions, +reduceInComputeType))
    return error;
  const BufferRef &c = call.args[shape.arguments() - 1];
  std::pair<int, const BufferRef *> operands[] = {
      {preferAlignmentA, &call.args[1]},
      {preferAlignmentB, &call.args[0]},
      {preferAlignmentC, &c},
      {preferAlignmentD, &c}};
  for (auto [attribute, ref] : operands)
    if (Error error = prefer(attribute, alignmentOf(*ref)))
      return error;
  int found = 0;
  MP_CUBLASLT(library, cublasLtMatmulAlgoGetHeuristic, handle,
              description.value, first.value, second.value, result.value,
              result.value, preference.value, 1, &choice, &found);
  if (found == 0)
    return deviceError("cuBLASLt has no algorithm for a matmul of " +
                       shape.str());
  return library.check("cublasLtMatmulAlgoGetHeuristic", choice.state);
}

Error Matmul::plan(const Call &call) {
  if (Error error = readExtras(call))
    return error;
  auto b = inColumns("b", shape.k, shape.n, shape.bStrides);
  if (!b)
    return b.takeError();
  auto a = inColumns("a", shape.m, shape.k, shape.aStrides);
  if (!a)
    return a.takeError();
  if (Error error = describeProduct(b->transposed, a->transposed))
    return error;
  if (Error error = describe(first, shape.aType, *b, bBatchStride))
    return error;
  if (Error error = describe(second, shape.aType, *a, aBatchStride))
    return error;
  if (Error error = describe(result, shape.cType,
                             {shape.n, shape.m, shape.n, false}, cBatchStride))
    return error;
  return choose(call);
}

Error Matmul::enqueue(ArrayRef<Address> args, Stream stream) {
  size_t count = shape.arguments();
  Address c = args[count - 1], workspace = args[count];
  if (shape.biasType)
    if (Error error = set(descBiasPointer, args[2]))
      return error;
  float one = 1, zero = 0;
  MP_CUBLASLT(library, cublasLtMatmul, handle, description.value, &one, args[1],
              first.value, args[0], second.value, &zero, c, result.value, c,
              result.value, &choice.algorithm, workspace, workspaceBytes,
              stream);
  return Error::success();
}

/// The library's handle for a context, made when first needed and kept with the
/// context: making one takes longer than a step.
Expected<LtHandle> handleOf(const DeviceContext &context,
                            const Library &library) {
  std::shared_ptr<void> &state = context.libraryStates[library.path];
  if (!state) {
    LtHandle handle = nullptr;
    MP_CUBLASLT(library, cublasLtCreate, &handle);
    state = std::shared_ptr<void>(
        handle, [destroy = library.cublasLtDestroy](void *made) {
          destroy(static_cast<LtHandle>(made));
        });
  }
  return static_cast<LtHandle>(state.get());
}

} // namespace

Expected<std::unique_ptr<DeviceRoutine>>
createCublasLtMatmul(const Call &call, RoutineContext &context) {
  auto shape =
      readMatmul(call, {ElementType::F32, ElementType::F16, ElementType::BF16});
  if (!shape)
    return shape.takeError();
  Expected<const Library &> library = lt::open();
  if (!library)
    return library.takeError();
  if (Error error = context.device.activate())
    return error;
  Expected<LtHandle> handle = handleOf(context.device, *library);
  if (!handle)
    return handle.takeError();
  auto matmul = std::make_unique<Matmul>(*library, *handle, std::move(*shape));
  if (Error error = matmul->plan(call))
    return error;
  return matmul;
}

} // namespace mp::cuda
