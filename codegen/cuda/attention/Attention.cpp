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

/// A tile's columns in shared memory.
int64_t columnsOf(int64_t size, int64_t least) {
  return std::max<int64_t>(least, llvm::PowerOf2Ceil(size));
}

/// The header that a kernel instantiates, and its tiles.
struct AttentionForm {
  enum Path { Any, Half, Groups } path = Any;
  int64_t threads = 256;
  int64_t rows = 32;    ///< of a block's tile
  int64_t resident = 1; ///< blocks that registers allow on a multiprocessor
  uint64_t shared = 0;
  int64_t passing = 0;    ///< tokens that pass by at a time
  int64_t stages = 0;     ///< of the ring that they come through
  std::string tiles = {}; ///< the type of a warpgroup's tiles
  /// Whether registers hold the gradients of key and value at once.
  bool holdsBoth = true;
  /// Of a result, those that a block has; others are in the blocks beside it.
  int64_t columns = std::numeric_limits<int64_t>::max();

  StringRef header() const {
    return path == Groups ? "attention-wgmma.cuh"
           : path == Half ? "attention-half.cuh"
                          : "attention-any.cuh";
  }
  StringRef suffix() const {
    return path == Groups ? "Groups" : path == Half ? "Half" : "Any";
  }

  static AttentionForm forward(const AttentionShape &shape, Type element,
                               const Arch &arch) {
    Path path = pathOf(shape, element, arch);
    if (path == Any)
      return any(3, element);
    if (path == Half) {
      int64_t query = columnsOf(shape.depth, 16),
              pair = query + columnsOf(shape.width, 16);
      return half(2 * 64 * (query + 2 * pair));
    }
    int64_t query = columnsOf(shape.depth, 64),
            pair = query + columnsOf(shape.width, 64);
    AttentionForm form =
        pair > 128 ? groups(2, 128, 3, 1) : groups(2, 64, 4, 2);
    form.shared = 2 * form.rows * query + form.ringBytes(pair);
    return form;
  }

  /// Behind the tiles lie two numbers of each query that passes by.
  static AttentionForm backward(const AttentionShape &shape, Type element,
                                const Arch &arch) {
    Path path = pathOf(shape, element, arch);
    if (path == Any) {
      AttentionForm form = any(4, element);
      form.holdsBoth = shape.depth + shape.width <= form.columns;
      return form;
    }
    int64_t least = path == Groups ? 64 : 16;
    int64_t both =
        columnsOf(shape.depth, least) + columnsOf(shape.width, least);
    if (path == Groups) {
      // A generator of random bits needs registers, too.
      AttentionForm form = both > 128      ? groups(2, 64, 3, 1)
                           : shape.dropout ? groups(1, 64, 3, 2)
                                           : groups(1, 64, 3, 3);
      form.shared = 2 * form.rows * both + form.ringBytes(both) +
                    form.stages * 2 * form.passing * sizeof(float);
      return form;
    }
    int64_t passing = both > 128 ? 32 : 64;
    least = 1024 / passing;
    both = columnsOf(shape.depth, least) + columnsOf(shape.width, least);
    AttentionForm form =
        half(2 * (64 + passing) * both + 2 * passing * sizeof(float));
    form.holdsBoth = passing == 64;
    return form;
  }

private:
  /// A warpgroup's tiles have 64 columns at least. What copies rows of odd
  /// lengths needs too many registers beside them.
  static Path pathOf(const AttentionShape &shape, Type element,
                     const Arch &arch) {
    int64_t larger = std::max(shape.depth, shape.width);
    if (element.getIntOrFloatBitWidth() != 16 || larger > 128)
      return Any;
    bool isOdd = shape.depth % 2 || shape.width % 2;
    return arch.capability == 90 && larger > 32 && !isOdd ? Groups : Half;
  }
  static AttentionForm any(int64_t tiles, Type element) {
    int64_t bytes = element.isF64() ? 8 : 4;
    return {.shared = uint64_t(tiles * 32 * 33 * bytes),
            .columns = 2048 / bytes};
  }
  static AttentionForm half(uint64_t shared) {
    return {.path = Half, .threads = 128, .rows = 64, .shared = shared};
  }
  static AttentionForm groups(int64_t groups, int64_t passing, int64_t stages,
                              int64_t resident) {
    AttentionForm form = {.path = Groups,
                          .threads = 128 * groups,
                          .rows = 64 * groups,
                          .resident = resident,
                          .passing = passing,
                          .stages = stages};
    form.tiles = "GroupTiles<" + list({groups, passing, stages}) + ">";
    return form;
  }
  /// A ring of pairs of tiles with so many columns.
  uint64_t ringBytes(int64_t columns) const {
    return 2 * stages * passing * columns;
  }
};

/// A kernel of kernels/attention-*.cuh being written.
class AttentionKernel {
public:
  AttentionKernel(const AttentionShape &shape, Type element,
                  const AttentionForm &form)
      : shape(shape), element(element), form(form), printed(form.header()) {
    printed.part.block = form.threads;
    printed.part.resident = form.resident;
    printed.part.shared = form.shared;
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
  /// "AttentionSizes<...>, AttentionReach<...>", and the type of sums or of
  /// tiles, where the kernel takes any.
  std::string types() const {
    std::string text =
        "AttentionSizes<" + storageType(element) + ", " +
        list({shape.batch, shape.tokens, shape.heads, shape.depth, shape.keys,
              shape.groups, shape.width}) +
        ">, AttentionReach<" +
        list({shape.offset, shape.reachBack().value_or(-1),
              shape.reachAhead().value_or(-1)}) +
        ">";
    if (form.path == AttentionForm::Half)
      return text;
    return text + ", " +
           (form.path == AttentionForm::Any ? sumType() : form.tiles);
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
  /// Calls attention<name><Any, Half or Groups>.
  void call(StringRef name, ArrayRef<std::string> arguments) {
    printed.body.line("attention" + name + form.suffix() + "<" + types() +
                      ">(block, " + llvm::join(arguments, ", ") + ", shared);");
  }
  void line(const Twine &text) { printed.body.line(text); }

  /// Blocks for each tile of `items` of each of `heads`, whose results have up
  /// to `columns` columns.
  void add(int64_t items, int64_t heads, int64_t columns, uint64_t flops,
           KernelStore &store, EmittedKernel &kernel) {
    printed.add(store,
                llvm::divideCeil(items, form.rows) * heads *
                    llvm::divideCeil(columns, form.columns),
                kernel);
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
                             const AttentionTensors &tensors, const Arch &arch,
                             KernelStore &store, EmittedKernel &kernel) {
  Type element = tensors.query.element();
  AttentionKernel code(shape, element,
                       AttentionForm::forward(shape, element, arch));
  std::string query = code.in(tensors.query), key = code.in(tensors.key),
              value = code.in(tensors.value);
  std::string changes = code.changes(tensors.masks);
  std::string result = code.out(tensors.result),
              logSumExp = code.out(tensors.logSumExp);
  code.call("Forward",
            {query, key, value, changes, code.scale(), result, logSumExp});
  code.add(shape.tokens, shape.batch * shape.heads, shape.width, shape.flops(2),
           store, kernel);
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
                                     const Arch &arch, KernelStore &store,
                                     EmittedKernel &kernel) {
  Type element = tensors.query.element();
  const AttentionForm form = AttentionForm::backward(shape, element, arch);
  if (tensors.queryGradient) {
    AttentionKernel code(shape, element, form);
    std::string operands = addOperands(code, tensors),
                changes = code.changes(tensors.masks),
                result = code.out(tensors.queryGradient);
    code.call("QueryGradient", {operands, changes, code.scale(), result});
    code.add(shape.tokens, shape.batch * shape.heads, shape.depth,
             shape.flops(3), store, kernel);
  }
  auto addKeys = [&](const std::optional<LayoutTensor> &key,
                     const std::optional<LayoutTensor> &value) {
    if (!key && !value)
      return;
    AttentionKernel code(shape, element, form);
    std::string operands = addOperands(code, tensors),
                changes = code.changes(tensors.masks), keys = code.out(key),
                values = code.out(value);
    code.call("KeyGradients", {operands, changes, code.scale(), keys, values});
    unsigned products = 1 + 2 * key.has_value() + value.has_value();
    code.add(shape.keys, shape.batch * shape.groups,
             std::max(key ? shape.depth : 0, value ? shape.width : 0),
             shape.flops(products), store, kernel);
  };
  if (form.holdsBoth)
    return addKeys(tensors.keyGradient, tensors.valueGradient);
  addKeys(tensors.keyGradient, std::nullopt);
  addKeys(std::nullopt, tensors.valueGradient);
}
