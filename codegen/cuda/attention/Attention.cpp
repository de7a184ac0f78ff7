//===- Attention.cpp - attention on CUDA ----------------------------------===//
#include "codegen/cuda/attention/Attention.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/layout/LayoutKernel.h"
#include "dialect/Philox.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace {

/// The kernels that multiply an attention, and their tiles.
struct AttentionForm {
  explicit AttentionForm(const AttentionShape &shape, Type element)
      : isHalf(element.getIntOrFloatBitWidth() == 16 && shape.depth <= 128 &&
               shape.width <= 128),
        sumBytes(element.isF64() ? 8 : 4), depth(shape.depth),
        width(shape.width) {}

  bool isHalf;
  int64_t sumBytes, depth, width;

  StringRef header() const {
    return isHalf ? "attention-half.cuh" : "attention-any.cuh";
  }
  StringRef suffix() const { return isHalf ? "Half" : "Any"; }
  int64_t threads() const { return isHalf ? 128 : 256; }
  int64_t rows() const { return isHalf ? 64 : 32; } ///< of a block's tile
  uint64_t forwardBytes() const {
    int64_t keys = columns(depth, 16), values = columns(width, 16);
    return isHalf ? 2 * (64 * keys + 2 * 64 * (keys + values)) : 3 * anyTile();
  }
  /// Whether registers hold the gradients of key and value at once.
  bool holdsBoth() const {
    return !isHalf || columns(depth, 16) + columns(width, 16) <= 128;
  }
  uint64_t backwardBytes() const {
    int64_t both = columns(depth, 16) + columns(width, 16);
    int64_t passing = both > 128 ? 32 : 64, least = 1024 / passing;
    both = columns(depth, least) + columns(width, least);
    return isHalf ? 2 * (64 + passing) * both : 4 * anyTile();
  }

private:
  /// Of a tile of 16-bit elements.
  static int64_t columns(int64_t size, int64_t least) {
    return std::max<int64_t>(least, llvm::PowerOf2Ceil(size));
  }
  uint64_t anyTile() const { return 32 * 33 * sumBytes; }
};

/// A kernel of kernels/attention-*.cuh being written.
class AttentionKernel {
public:
  AttentionKernel(const AttentionShape &shape, Type element)
      : shape(shape), element(element), form(shape, element),
        printed(form.header()) {
    printed.part.block = form.threads();
  }

  std::string in(const LayoutTensor &tensor) {
    return printed.memory(tensor, storageType(tensor.element()));
  }
  std::string out(const std::optional<LayoutTensor> &tensor) {
    return tensor ? in(*tensor) : "Unused{}";
  }

  /// The C++ type of sums.
  std::string sumType() const { return element.isF64() ? "double" : "float"; }
  std::string scale() const {
    return llvm::formatv("static_cast<{0}>({1:e17})", sumType(), shape.scale);
  }
  /// "AttentionSizes<...>, AttentionReach<...>" and the type of sums, where the
  /// kernel takes any.
  std::string types() const {
    std::string text =
        "AttentionSizes<" + storageType(element) + ", " +
        list({shape.batch, shape.tokens, shape.heads, shape.depth, shape.keys,
              shape.groups, shape.width}) +
        ">, AttentionReach<" +
        list({shape.offset, shape.reachBack().value_or(-1),
              shape.reachAhead().value_or(-1)}) +
        ">";
    return form.isHalf ? text : text + ", " + sumType();
  }
  /// The struct of what changes scores.
  std::string changes(const AttentionMasks &masks) {
    std::string mask = "NoMask{}", lengths = "AllKeys{}", slopes = "NoSlopes{}",
                dropout = "NoDropout{}";
    if (masks.mask) {
      bool isFlag = masks.mask->element().isInteger(1);
      mask = "ScoreMask<" + storageType(masks.mask->element()) +
             (isFlag ? ", true, " : ", false, ") + list(ArrayRef(*shape.mask)) +
             ">{" + in(*masks.mask) + "}";
    }
    if (masks.lengths)
      lengths = "KeyLengths<" + storageType(masks.lengths->element()) + ">{" +
                in(*masks.lengths) + "}";
    if (masks.slopes)
      slopes = "HeadSlopes<" + storageType(masks.slopes->element()) + ">{" +
               in(*masks.slopes) + "}";
    if (masks.dropoutKey)
      dropout = "WeightDropout{" + in(*masks.dropoutKey) + ", " + kept() + "}";
    printed.body.line("ScoreChanges changes{" + mask + ", " + lengths + ", " +
                      slopes + ", " + dropout + "};");
    return "changes";
  }
  /// The least word that keeps a weight, and the factor of one that is kept.
  std::string kept() const {
    double p = *shape.dropout;
    return llvm::formatv("{0}ull, {1:e17}", uint64_t(dropoutBound(p)),
                         p == 1 ? 0 : 1 / (1 - p));
  }
  /// Calls attention<name><Half or Any>.
  void call(StringRef name, ArrayRef<std::string> arguments) {
    printed.body.line("attention" + name + form.suffix() + "<" + types() +
                      ">(block, " + llvm::join(arguments, ", ") + ", shared);");
  }
  void line(const Twine &text) { printed.body.line(text); }

  /// A block for each tile of `items` of each of `heads`.
  void add(int64_t items, int64_t heads, uint64_t shared, uint64_t flops,
           KernelStore &store, EmittedKernel &kernel) {
    printed.part.shared = shared;
    printed.add(store, llvm::divideCeil(items, form.rows()) * heads, kernel);
    kernel.launches.back().flops = flops;
  }

  const AttentionShape &shape;
  Type element;
  AttentionForm form;

private:
  LayoutKernel printed;
};

} // namespace

void mp::cuda::emitAttention(const AttentionShape &shape,
                             const AttentionTensors &tensors,
                             KernelStore &store, EmittedKernel &kernel) {
  AttentionKernel code(shape, tensors.query.element());
  std::string query = code.in(tensors.query), key = code.in(tensors.key),
              value = code.in(tensors.value);
  std::string changes = code.changes(tensors.masks);
  std::string result = code.out(tensors.result),
              logSumExp = code.out(tensors.logSumExp);
  code.call("Forward",
            {query, key, value, changes, code.scale(), result, logSumExp});
  code.add(shape.tokens, shape.batch * shape.heads, code.form.forwardBytes(),
           shape.flops(2), store, kernel);
}

/// Begins a kernel of the backward pass with its operands.
static std::string addOperands(AttentionKernel &code,
                               const AttentionGradientTensors &tensors) {
  std::string list;
  for (const LayoutTensor *tensor :
       {&tensors.gradient, &tensors.query, &tensors.key, &tensors.value,
        &tensors.logSumExp, &tensors.delta})
    list += (list.empty() ? "" : ", ") + code.in(*tensor);
  code.line("AttentionOperands<" + code.sumType() + ", " +
            storageType(code.element) + "> operands{" + list + "};");
  return "operands";
}

void mp::cuda::emitAttentionGradient(const AttentionShape &shape,
                                     const AttentionGradientTensors &tensors,
                                     KernelStore &store,
                                     EmittedKernel &kernel) {
  if (tensors.queryGradient) {
    AttentionKernel code(shape, tensors.query.element());
    std::string operands = addOperands(code, tensors),
                changes = code.changes(tensors.masks),
                result = code.out(tensors.queryGradient);
    code.call("QueryGradient", {operands, changes, code.scale(), result});
    code.add(shape.tokens, shape.batch * shape.heads, code.form.backwardBytes(),
             shape.flops(3), store, kernel);
  }
  auto addKeys = [&](const std::optional<LayoutTensor> &key,
                     const std::optional<LayoutTensor> &value) {
    if (!key && !value)
      return;
    AttentionKernel code(shape, tensors.query.element());
    std::string operands = addOperands(code, tensors),
                changes = code.changes(tensors.masks), keys = code.out(key),
                values = code.out(value);
    code.call("KeyGradients", {operands, changes, code.scale(), keys, values});
    unsigned products = 1 + 2 * key.has_value() + value.has_value();
    code.add(shape.keys, shape.batch * shape.groups, code.form.backwardBytes(),
             shape.flops(products), store, kernel);
  };
  if (AttentionForm(shape, tensors.query.element()).holdsBoth())
    return addKeys(tensors.keyGradient, tensors.valueGradient);
  addKeys(tensors.keyGradient, std::nullopt);
  addKeys(std::nullopt, tensors.valueGradient);
}
