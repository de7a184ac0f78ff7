//===- Contraction.cpp - generated matrix products on the CPU -------------===//
#include "codegen/cpu/contraction/Contraction.h"
#include "codegen/cpu/contraction/ContractionCode.h"
#include "codegen/cpu/contraction/RowProduct.h"
#include "codegen/cpu/contraction/TileContraction.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

bool isElement(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (integer)
    return llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

LogicalResult verify(MLIRContext *context, const ContractionSpec &spec) {
  SmallVector<Type> types = {spec.a, spec.b, spec.c};
  if (spec.bias)
    types.push_back(*spec.bias);
  auto error = [&] {
    return emitError(UnknownLoc::get(context))
           << "contraction of " << spec.a << " and " << spec.b << " to "
           << spec.c << " ";
  };
  for (Type type : types) {
    if (!isElement(type))
      return error() << "has an unsupported element type " << type;
    if (isa<FloatType>(type) != isa<FloatType>(spec.a))
      return error() << "mixes floats and integers";
  }
  return success();
}

/// Returns the work items in a task: enough to outweigh handing the task out.
int64_t itemsPerTask(int64_t operations) {
  constexpr int64_t worthwhile = 1 << 18;
  return std::max<int64_t>(worthwhile / std::max<int64_t>(operations, 1), 1);
}

} // namespace

EmittedKernel mp::cpu::oneProduct(StringRef symbol, const ContractionSpec &spec,
                                  int64_t items, int64_t operations,
                                  int64_t scratch) {
  using Kind = KernelArgument::Kind;
  KernelLaunch product;
  product.symbol = symbol.str();
  product.grid = items;
  product.block = std::min(items, itemsPerTask(operations));
  product.shared = scratch;
  product.flops = spec.flops();
  for (unsigned i = 0; i < (spec.bias ? 3u : 2u); ++i)
    product.arguments.push_back({Kind::Operand, i});
  product.arguments.push_back({Kind::Result, 0});
  EmittedKernel kernel;
  kernel.launches.push_back(std::move(product));
  return kernel;
}

/// Adds the launch that copies B, and has the product read the copy.
static LogicalResult addPanels(MLIRContext *context,
                               const ContractionSpec &spec,
                               const ContractionPlan &plan,
                               ObjectCompiler &compiler,
                               EmittedKernel &kernel) {
  FailureOr<std::string> symbol =
      compiler.compile(buildPanels(context, spec, plan));
  if (failed(symbol))
    return failure();
  using Kind = KernelArgument::Kind;
  KernelArgument panels{Kind::Temporary, 0};
  kernel.temporaries = {uint64_t(plan.panelCount()) * plan.accumulatorBytes()};
  kernel.launches.front().arguments[1] = panels;
  KernelLaunch copy{.symbol = *symbol,
                    .grid = plan.panels(),
                    .arguments = {{Kind::Operand, 1}, panels},
                    .prepares = true};
  kernel.launches.insert(kernel.launches.begin(), std::move(copy));
  return success();
}

FailureOr<EmittedKernel> mp::cpu::emitContraction(MLIRContext *context,
                                                  const ContractionSpec &spec,
                                                  unsigned workers,
                                                  ObjectCompiler &compiler) {
  if (failed(verify(context, spec)))
    return failure();
  if (isRowProduct(spec))
    return emitRowProduct(context, spec, compiler);
  if (auto unit = tileUnitFor(spec, compiler.target()))
    return emitTileContraction(context, spec, workers, *unit, compiler);
  ContractionPlan plan(spec, compiler.target(), workers);
  FailureOr<std::string> symbol =
      compiler.compile(buildMultiply(context, spec, plan));
  if (failed(symbol))
    return failure();
  EmittedKernel kernel =
      oneProduct(*symbol, spec, plan.items(),
                 plan.blockM * plan.blockN * plan.k, plan.scratch());
  if (plan.keepsB && failed(addPanels(context, spec, plan, compiler, kernel)))
    return failure();
  return kernel;
}
