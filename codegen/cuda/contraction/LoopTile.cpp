//===- LoopTile.cpp - products inside the kernel of a loop ----------------===//
#include "codegen/cuda/contraction/LoopTile.h"
#include "codegen/cuda/contraction/ContractionSource.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::divideCeil;

/// Rows that the warps of a block have together, at most.
static constexpr int64_t kMostRows = 256;
/// Rows of staged sums, of all shares of k.
static constexpr int64_t kStagedRows = 256;

static bool isOfLoops(const GemmShape &shape) {
  bool hasKernel = shape.type == ElementType::F16 ||
                   shape.type == ElementType::BF16 ||
                   (shape.type == ElementType::F32 && !shape.tf32);
  return hasKernel && shape.batch == 1 && !shape.transposeA &&
         shape.m <= kMostRows;
}

static uint64_t keptBytes(const GemmShape &shape, int columns) {
  int64_t step = shape.type == ElementType::F32 ? 4 : 32;
  return llvm::alignTo(shape.k, step) * columns * byteWidth(shape.type);
}

std::optional<LoopTile> LoopTile::choose(const GemmShape &shape, int width,
                                         const Arch &arch) {
  if (!isOfLoops(shape))
    return std::nullopt;
  // Of f32, 64 columns fit for so few rows that no cell has them.
  int most = shape.type == ElementType::F32 ? 32 : 64;
  for (int columns = 8; columns <= most; columns *= 2) {
    LoopTile tile;
    tile.columns = columns;
    tile.kept = keptBytes(shape, columns);
    tile.shared = kStagedRows * (columns + 8) * sizeof(float);
    if (columns % width == 0 &&
        int64_t(divideCeil(shape.n, columns)) <= arch.multiprocessors() &&
        tile.kept + tile.shared <= arch.sharedBytes())
      return tile;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

void ContractionSource::offerToLoops(const EmittedKernel &launched,
                                     const Arch &arch) {
  auto tile = LoopTile::choose(shape, epilogue.width(), arch);
  if (!tile || !epilogue.reductions().empty() || form.operands != "Matrices")
    return;
  LoopProduct product;
  SmallVector<Parameter> parameters = {operand(anchor->getOperand(0)),
                                       operand(anchor->getOperand(1))};
  llvm::append_range(parameters, epilogueParameters());
  SmallVector<KernelArgument> arguments;
  for (const KernelLaunch &launch : launched.launches)
    llvm::append_range(arguments, launch.arguments);
  for (const Parameter &parameter : parameters) {
    auto *place = llvm::find_if(arguments, [&](const KernelArgument &argument) {
      return argument.kind == parameter.argument.kind &&
             argument.index == parameter.argument.index;
    });
    product.arguments.push_back(place - arguments.begin());
    product.parameters.push_back({parameter.type, parameter.count});
  }
  auto text = printForLoops(*tile, parameters);
  if (failed(text))
    return;
  product.text = std::move(*text);
  if (launched.launches.size() > 1)
    product.first = launched.launches.front().symbol;
  product.tiles = divideCeil(shape.n, tile->columns);
  product.weights = shape.k * shape.n * byteWidth(shape.type);
  product.kept = tile->kept;
  product.shared = tile->shared;
  store.add(launched.launches.back().symbol, std::move(product));
}

FailureOr<std::string>
ContractionSource::printForLoops(const LoopTile &tile,
                                 ArrayRef<Parameter> parameters) const {
  SourceText out;
  out.line("// " + form.name + " = " + Twine(tile.columns) + " columns");
  out.open("namespace BODY_NAME");
  out.open("struct Product");
  out.line("using Element = " + parameters[0].type + ";");
  out.line("static constexpr long long m = " + Twine(shape.m) +
           ", n = " + Twine(shape.n) + ", k = " + Twine(shape.k) + ";");
  out.line(Twine("static constexpr bool transposeB = ") +
           (shape.transposeB ? "true" : "false") + ";");
  out.line("static constexpr int tileN = " + Twine(tile.columns) +
           ", threads = " + Twine(LoopTile::threads) + ";");
  out.close("};");
  if (failed(printEpilogue(out, LoopTile::threads, tile.columns)))
    return failure();
  out.open("inline void keep(int tile, unsigned char *kept, Global<" +
           parameters[1].type + "> b)");
  out.line("keepTile<Product>(tile, kept, b);");
  out.close();
  std::string declared;
  for (const Parameter &parameter : parameters.drop_front(2))
    declared += ", Global<" + parameter.type + "> " + parameter.name;
  out.open("inline void multiply(int tile, const unsigned char *kept, unsigned "
           "char *shared, Global<" +
           parameters[0].type + "> a" + declared + ")");
  out.line("Epilogue epilogue;");
  for (const Parameter &parameter : parameters.drop_front(2))
    out.line("epilogue." + parameter.name + " = " + parameter.name + ";");
  out.line("multiplyKept<Product>(tile, kept, a, epilogue, shared);");
  out.close();
  out.close("} // namespace BODY_NAME");
  return out.str();
}
