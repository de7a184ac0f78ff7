//===- GeneralValues.cpp - values of a stage of any maps ------------------===//
//
// Addresses, loads, bodies and stores of a stage of any maps.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/nest/GeneralNest.h"
#include "codegen/stages/StageGroup.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

std::string GeneralNest::number(int64_t value) const {
  return std::to_string(value) + (kernel.indexType() == "int" ? "" : "ll");
}

void GeneralNest::setIndex(SourceText &to, unsigned loop,
                           const std::string &text) {
  indices[loop] = "i" + std::to_string(loop);
  to.line("const " + kernel.indexType() + " " + indices[loop] + " = " + text +
          ";");
}

/// Declares the indices of `loops` from a number that counts them, the last one
/// fastest. The line counts vectors.
void GeneralNest::split(SourceText &to, const std::string &name,
                        ArrayRef<unsigned> loops) {
  int64_t below = 1;
  for (auto [i, loop] : llvm::enumerate(llvm::reverse(loops))) {
    int64_t step = int(loop) == lineLoop ? width : 1;
    int64_t size = sizes[loop] / step;
    std::string part = name;
    if (below > 1)
      part += " / " + number(below);
    if (i + 1 < loops.size())
      part += " % " + number(size);
    if (step > 1)
      part += " * " + number(step);
    setIndex(to, loop, part);
    below *= size;
  }
}

std::string GeneralNest::print(AffineExpr expr) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return indices[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return number(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string a = print(binary.getLHS()), b = print(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return "(" + a + " + " + b + ")";
  case AffineExprKind::Mul:
    return a + " * " + b;
  case AffineExprKind::FloorDiv:
    return "floorDiv(" + a + ", " + b + ")";
  case AffineExprKind::CeilDiv:
    return "ceilDiv(" + a + ", " + b + ")";
  default: // Mod, of a number that may be negative
    return "(" + a + " - " + b + " * floorDiv(" + a + ", " + b + "))";
  }
}

/// Returns the number of an element in memory.
std::string GeneralNest::address(Value tensor, AffineMap map) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  int64_t stride = 1;
  std::string text;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 || !isa<AffineDimExpr>(map.getResult(i))) {
      std::string part = print(map.getResult(i));
      if (stride != 1)
        part += " * " + number(stride);
      text = text.empty() ? part : part + " + " + text;
    }
    stride *= shape[i];
    if (RowsAttr rows = RowsAttr::of(tensor.getType())) // [rows, columns]
      stride = rows.getStride();
  }
  return text.empty() ? "0" : text;
}

std::string GeneralNest::read(SourceText &to, OpOperand &operand) {
  if (auto name = known.find(&operand); name != known.end())
    return name->second;
  if (TypedAttr attr = constantOf(operand.get()))
    return printConstant(attr);
  AffineMap map = stage.getMatchingIndexingMap(&operand);
  Type element = elementOf(operand.get());
  std::string from = kernel.memory(operand.get());
  std::string at = address(operand.get(), map);
  std::string name = kernel.names.fresh("x");
  std::string result = name;
  if (width > 1 && map.isFunctionOfDim(lineLoop)) {
    to.line("const auto " + name + " = loadItems<" + Twine(width) + ">(" +
            from + ", " + at + ");");
    result += "[j]";
  } else {
    to.line("const " + storageType(element) + " " + name + " = " + from +
            ".load(" + at + ");");
  }
  return element.isInteger(1) ? "(" + result + " != 0)" : result;
}

/// Prints the body at the current indices. Loads go to `to`; a loop over lanes,
/// if there is one, is open when this returns.
GeneralNest::Names GeneralNest::compute(SourceText &to,
                                        ArrayRef<std::string> accumulators,
                                        ValueRange wanted) {
  Block *body = stage.getBody();
  Names arguments(body->getNumArguments());
  for (OpOperand *operand : readsOf(stage))
    arguments[stage.getMatchingBlockArgument(operand).getArgNumber()] =
        read(to, *operand);
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    arguments[stage.getNumDpsInputs() + i] = accumulator;
  Names here = indices;
  if (width > 1) {
    here[lineLoop] += " + j";
    to.line("#pragma unroll");
    to.open("for (int j = 0; j < " + Twine(width) + "; ++j)");
  }
  FailureOr<Names> results =
      ScalarPrinter(to, kernel.names).print(stage, arguments, wanted, here);
  failed |= llvm::failed(results);
  return llvm::failed(results) ? Names(wanted.size()) : *results;
}

/// Stores `results`, or if there are none the values that the body yields,
/// after all loads.
void GeneralNest::computeAndStore(SourceText &to,
                                  ArrayRef<std::string> results) {
  Names arrays, values(results);
  if (width > 1)
    for (OpResult result : stage->getResults()) {
      arrays.push_back(kernel.names.fresh("y"));
      to.line("Items<" + storageType(elementOf(result)) + ", " + Twine(width) +
              "> " + arrays.back() + ";");
    }
  if (values.empty())
    values = compute(to, {}, stage.getBody()->getTerminator()->getOperands());
  if (width > 1) {
    for (auto [array, value] : llvm::zip_equal(arrays, values))
      to.line(array + "[j] = " + value + ";");
    to.close();
  }
  for (auto [i, result] : llvm::enumerate(stage->getResults())) {
    AffineMap map = stage.getIndexingMapMatchingResult(result);
    std::string memory = kernel.memory(result), at = address(result, map);
    if (width > 1)
      to.line("storeItems(" + memory + ", " + at + ", " + arrays[i] + ");");
    else
      to.line(memory + ".store(" + at + ", " + values[i] + ");");
  }
}
