//===- EpiloguePrinter.cpp - an epilogue as C++ ---------------------------===//
//
// Prints the struct that gemm-epilogue.cuh calls an Epilogue.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/contraction/Epilogue.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace mp::cuda {
class EpiloguePrinter {
public:
  EpiloguePrinter(const Epilogue &epilogue, SourceText &out,
                  llvm::StringRef sumType, Type type, Value bias)
      : epilogue(epilogue), out(out), sumType(sumType), type(type), bias(bias),
        tensors(epilogue.operands) {
    if (bias && llvm::none_of(tensors, [&](const EpilogueTensor &tensor) {
          return tensor.value == bias;
        }))
      tensors.push_back(
          {bias, Space::Column, cast<BlockArgument>(bias).getArgNumber()});
  }

  LogicalResult print(int threads, int across) {
    out.open("struct Epilogue");
    out.line("static constexpr int width = " + Twine(epilogue.width()) + ";");
    printMembers();
    printConstructor();
    printEnter();
    if (failed(printApply()))
      return failure();
    printLeave(threads, across);
    out.close("};");
    return success();
  }

private:
  static std::string elementOf(Value tensor) {
    return storageType(getElementTypeOrSelf(tensor.getType()));
  }
  static std::string number(StringRef prefix, unsigned index) {
    return (prefix + Twine(index)).str();
  }

  //===--------------------------------------------------------------------===//
  // Members of a thread
  //===--------------------------------------------------------------------===//

  void printMembers() {
    for (const EpilogueTensor &tensor : tensors)
      out.line("Global<" + elementOf(tensor.value) + "> operand" +
               Twine(tensor.index) + ";");
    for (const EpilogueTensor &tensor : epilogue.results)
      out.line("Global<" + elementOf(tensor.value) + "> result" +
               Twine(tensor.index) + ";");
    for (auto [i, reduction] : llvm::enumerate(epilogue.reduced))
      out.line("Global<" + storageType(reduction.type()) + "> partial" +
               Twine(i) + ";");
    for (const EpilogueTensor &tensor : tensors)
      if (tensor.space == Space::Column)
        out.line(elementOf(tensor.value) + " column" + Twine(tensor.index) +
                 "[width];");
      else if (tensor.space == Space::Scalar)
        out.line(elementOf(tensor.value) + " scalar" + Twine(tensor.index) +
                 ";");
    for (auto [i, reduction] : llvm::enumerate(epilogue.reduced))
      out.line(storageType(reduction.type()) + " reduced" + Twine(i) +
               (reduction.isTotal() ? ";" : "[width];"));
    out.blank();
  }

  void printConstructor() {
    if (epilogue.reduced.empty())
      return;
    out.open("Epilogue()");
    for (auto [i, reduction] : llvm::enumerate(epilogue.reduced)) {
      std::string neutral = "Combine" + std::to_string(i) + "::neutral();";
      if (reduction.isTotal()) {
        out.line(number("reduced", i) + " = " + neutral);
        continue;
      }
      out.line("for (auto &reduced : " + number("reduced", i) + ")");
      out.line("  reduced = " + neutral);
    }
    out.close();
  }

  void printEnter() {
    out.open("void enter(long long column)");
    for (const EpilogueTensor &tensor : tensors) {
      std::string name = number("operand", tensor.index);
      if (tensor.space == Space::Column)
        out.line("loadRun(" + number("column", tensor.index) + ", " + name +
                 ", column);");
      else if (tensor.space == Space::Scalar)
        out.line(number("scalar", tensor.index) + " = " + name + ".load(0);");
    }
    out.close();
  }

  //===--------------------------------------------------------------------===//
  // Functions on sums
  //===--------------------------------------------------------------------===//

  LogicalResult printApply() {
    out.open("void apply(long long row, long long column, const " + sumType +
             " (&sums)[width])");
    out.line("const long long index = row * " + Twine(epilogue.columns()) +
             " + column;");
    for (const EpilogueTensor &tensor : tensors) {
      std::string type = elementOf(tensor.value),
                  name = number("operand", tensor.index);
      if (tensor.space == Space::Full) {
        out.line(type + " full" + Twine(tensor.index) + "[width];");
        out.line("loadRun(full" + Twine(tensor.index) + ", " + name +
                 ", index);");
      } else if (tensor.space == Space::Row) {
        out.line("const " + type + " row" + Twine(tensor.index) + " = " + name +
                 ".load(row);");
      }
    }
    for (const EpilogueTensor &tensor : epilogue.results)
      out.line(elementOf(tensor.value) + " stored" + Twine(tensor.index) +
               "[width];");
    out.line("#pragma unroll");
    out.open("for (int i = 0; i < width; ++i)");
    if (failed(printElement()))
      return failure();
    out.close();
    for (const EpilogueTensor &tensor : epilogue.results)
      printStore(tensor);
    out.close();
    return success();
  }

  void printStore(const EpilogueTensor &tensor) {
    std::string result = number("result", tensor.index),
                stored = number("stored", tensor.index);
    if (tensor.space == Space::Full) {
      out.line("storeRun(" + result + ", index, " + stored + ");");
    } else if (tensor.space == Space::Column) {
      out.line("if (row == 0)");
      out.line("  storeRun(" + result + ", column, " + stored + ");");
    } else {
      out.line("if (index == 0)");
      out.line("  " + result + ".store(0, " + stored + "[0]);");
    }
  }

  LogicalResult printElement() {
    values[epilogue.anchor] = "product";
    out.line("const " + valueType(type) + " product = " + roundedSum() + ";");
    for (const EpilogueTensor &tensor : tensors)
      values[tensor.value] = read(tensor);
    ScalarPrinter printer(out, names);
    for (linalg::GenericOp stage : epilogue.stages)
      if (failed(printStage(printer, stage)))
        return failure();
    for (const EpilogueTensor &tensor : epilogue.results)
      out.line(number("stored", tensor.index) +
               "[i] = " + values.lookup(tensor.value) + ";");
    return success();
  }

  /// Returns the sum, with the bias added, rounded once.
  std::string roundedSum() const {
    std::string sum = "sums[i]";
    if (bias)
      sum = "addBias(sums[i], column" +
            std::to_string(cast<BlockArgument>(bias).getArgNumber()) + "[i])";
    if (type.isF16() || type.isBF16())
      return "roundTo<" + valueType(type) + ">(" + sum + ")";
    return "static_cast<" + valueType(type) + ">(" + sum + ")";
  }

  /// Returns an element as an expression; a flag is a bool then, not a byte.
  static std::string read(const EpilogueTensor &tensor) {
    std::string index = std::to_string(tensor.index);
    std::string text = tensor.space == Space::Full ? "full" + index + "[i]"
                       : tensor.space == Space::Column
                           ? "column" + index + "[i]"
                       : tensor.space == Space::Row ? "row" + index
                                                    : "scalar" + index;
    bool isFlag = getElementTypeOrSelf(tensor.value.getType()).isInteger(1);
    return isFlag ? "(" + text + " != 0)" : text;
  }

  LogicalResult printStage(ScalarPrinter &printer, linalg::GenericOp stage) {
    SmallVector<std::string> arguments;
    for (OpOperand &operand : stage->getOpOperands()) {
      TypedAttr constant = constantOf(operand.get());
      arguments.push_back(constant ? printConstant(constant)
                                   : values.lookup(operand.get()));
    }
    if (stage.getNumReductionLoops() > 0)
      return printReduction(printer, stage, arguments);
    auto results = printer.print(stage, arguments, {});
    if (failed(results))
      return failure();
    for (auto [result, text] : llvm::zip_equal(stage->getResults(), *results))
      values[result] = text;
    return success();
  }

  LogicalResult printReduction(ScalarPrinter &printer, linalg::GenericOp stage,
                               SmallVectorImpl<std::string> &arguments) {
    arguments.back().clear(); // the accumulator
    for (auto [i, reduction] : llvm::enumerate(epilogue.reduced)) {
      if (reduction.stage != stage)
        continue;
      auto element =
          printer.print(stage, arguments, matchReduction(stage)->element, {});
      if (failed(element))
        return failure();
      std::string own = number("reduced", i);
      if (!reduction.isTotal())
        own += "[i]";
      out.line(own + " = Combine" + Twine(i) + "::combine(" + own + ", " +
               element->front() + ");");
    }
    return success();
  }

  void printLeave(int threads, int across) {
    out.open("void leave(long long tileRow, long long column, long long "
             "columns, unsigned char *shared)");
    for (auto [i, reduction] : llvm::enumerate(epilogue.reduced)) {
      std::string combine = number("Combine", i),
                  ends = number("reduced", i) + ", " + number("partial", i);
      if (reduction.isTotal())
        out.line("leaveTotal<" + combine + ", " + Twine(threads) + ">(" + ends +
                 ", shared);");
      else
        out.line("leaveColumns<" + combine + ", " + Twine(threads) + ", " +
                 Twine(across) + ", " + Twine(epilogue.columns()) + ">(" +
                 ends + ", tileRow, column, columns, shared);");
    }
    out.close();
  }

  const Epilogue &epilogue;
  SourceText &out;
  llvm::StringRef sumType;
  Type type;
  Value bias;
  SmallVector<EpilogueTensor> tensors;
  NameSource names;
  DenseMap<Value, std::string> values;
};
} // namespace mp::cuda

LogicalResult Epilogue::printCombiner(SourceText &out,
                                      const EpilogueReduction &reduction,
                                      const Twine &name) {
  auto matched = matchReduction(reduction.stage);
  std::string type = valueType(reduction.type());
  auto combined = mp::cuda::printCombiner(matched->combiner, "a", "b");
  if (failed(combined))
    return failure();
  out.open("struct " + name);
  out.line("static " + type + " neutral() { return " +
           printConstant(reduction.start()) + "; }");
  out.line("static " + type + " combine(" + type + " a, " + type +
           " b) { return " + *combined + "; }");
  out.close("};");
  return success();
}

LogicalResult Epilogue::print(SourceText &out, StringRef sumType, Type type,
                              Value bias, int threads, int across) const {
  for (auto [i, reduction] : llvm::enumerate(reduced))
    if (failed(printCombiner(out, reduction, "Combine" + Twine(i))))
      return failure();
  return EpiloguePrinter(*this, out, sumType, type, bias)
      .print(threads, across);
}
