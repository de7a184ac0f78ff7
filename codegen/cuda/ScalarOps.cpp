//===- ScalarOps.cpp - one op on scalars as an expression -----------------===//
#include "codegen/cuda/ScalarOps.h"
#include "codegen/cuda/ScalarPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp::cuda;

namespace {

using Operands = ArrayRef<std::string>;

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

std::string call(StringRef function, const Twine &a) {
  return (function + "(" + a + ")").str();
}
std::string call(StringRef function, const Twine &a, const Twine &b) {
  return (function + "(" + a + ", " + b + ")").str();
}
std::string cast(const std::string &type, const Twine &value) {
  return ("static_cast<" + type + ">(" + value + ")").str();
}

/// The type of the same width whose arithmetic is modulo 2^n.
std::string unsignedType(Type type) {
  if (type.isInteger(1))
    return "bool";
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return valueType(
      IntegerType::get(type.getContext(), bits, IntegerType::Unsigned));
}
std::string asUnsigned(Type type, const Twine &value) {
  return cast(unsignedType(type), value);
}

/// Arithmetic on a half is done in f32 and rounded once. For one operation of
/// + - * / and sqrt this is the exact result rounded: f32 has more than twice
/// the bits.
std::string inFloat(Type type, Operands operands,
                    llvm::function_ref<std::string(Operands)> print) {
  if (!isHalf(type))
    return print(operands);
  SmallVector<std::string> wide;
  for (const std::string &operand : operands)
    wide.push_back(call("toFloat", operand));
  return call("roundTo<" + valueType(type) + ">", print(wide));
}

std::string infix(Operands operands, StringRef sign) {
  return (operands[0] + " " + sign + " " + operands[1]).str();
}
std::string floatInfix(Operation *op, Operands operands, StringRef sign) {
  return inFloat(op->getResult(0).getType(), operands,
                 [&](Operands x) { return infix(x, sign); });
}
std::string floatCall(Operation *op, Operands operands, StringRef function) {
  return inFloat(op->getResult(0).getType(), operands, [&](Operands x) {
    return x.size() == 1 ? call(function, x[0]) : call(function, x[0], x[1]);
  });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

std::string compareFloats(arith::CmpFOp op, Operands operands) {
  bool half = isHalf(op.getLhs().getType());
  std::string a = half ? call("toFloat", operands[0]) : operands[0];
  std::string b = half ? call("toFloat", operands[1]) : operands[1];
  auto is = [&](StringRef sign) { return infix({a, b}, sign); };
  auto isNot = [&](StringRef sign) { return "!(" + is(sign) + ")"; };
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::AlwaysFalse:
    return "false";
  case arith::CmpFPredicate::AlwaysTrue:
    return "true";
  case arith::CmpFPredicate::OEQ:
    return is("==");
  case arith::CmpFPredicate::OGT:
    return is(">");
  case arith::CmpFPredicate::OGE:
    return is(">=");
  case arith::CmpFPredicate::OLT:
    return is("<");
  case arith::CmpFPredicate::OLE:
    return is("<=");
  case arith::CmpFPredicate::ONE:
    return is("<") + " || " + is(">");
  case arith::CmpFPredicate::ORD:
    return infix({a, a}, "==") + " && " + infix({b, b}, "==");
  case arith::CmpFPredicate::UEQ:
    return "!(" + is("<") + " || " + is(">") + ")";
  case arith::CmpFPredicate::UGT:
    return isNot("<=");
  case arith::CmpFPredicate::UGE:
    return isNot("<");
  case arith::CmpFPredicate::ULT:
    return isNot(">=");
  case arith::CmpFPredicate::ULE:
    return isNot(">");
  case arith::CmpFPredicate::UNE:
    return is("!=");
  case arith::CmpFPredicate::UNO:
    return infix({a, a}, "!=") + " || " + infix({b, b}, "!=");
  }
  llvm_unreachable("all predicates handled");
}

std::string compareIntegers(arith::CmpIOp op, Operands operands) {
  Type type = op.getLhs().getType();
  // A signed i1 is 0 or -1: its order is the other way round.
  bool isSignedBit = type.isInteger(1);
  auto isSigned = [&](StringRef sign) {
    return isSignedBit ? infix({operands[1], operands[0]}, sign)
                       : infix(operands, sign);
  };
  auto isUnsigned = [&](StringRef sign) {
    return infix({asUnsigned(type, operands[0]), asUnsigned(type, operands[1])},
                 sign);
  };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return infix(operands, "==");
  case arith::CmpIPredicate::ne:
    return infix(operands, "!=");
  case arith::CmpIPredicate::slt:
    return isSigned("<");
  case arith::CmpIPredicate::sle:
    return isSigned("<=");
  case arith::CmpIPredicate::sgt:
    return isSigned(">");
  case arith::CmpIPredicate::sge:
    return isSigned(">=");
  case arith::CmpIPredicate::ult:
    return isUnsigned("<");
  case arith::CmpIPredicate::ule:
    return isUnsigned("<=");
  case arith::CmpIPredicate::ugt:
    return isUnsigned(">");
  case arith::CmpIPredicate::uge:
    return isUnsigned(">=");
  }
  llvm_unreachable("all predicates handled");
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Prints wrap-around arithmetic. On bits the sum is exclusive or, the product
/// is and.
std::string wrap(Operation *op, Operands operands, StringRef function,
                 StringRef onBits) {
  return op->getResult(0).getType().isInteger(1)
             ? infix(operands, onBits)
             : call(function, operands[0], operands[1]);
}

std::string bitwise(Operation *op, Operands operands, StringRef sign) {
  return cast(valueType(op->getResult(0).getType()), infix(operands, sign));
}

/// Prints an operation through the unsigned type of the same width.
std::string unsignedInfix(Operation *op, Operands operands, StringRef sign) {
  Type type = op->getResult(0).getType();
  return cast(valueType(type), infix({asUnsigned(type, operands[0]),
                                      asUnsigned(type, operands[1])},
                                     sign));
}

std::string choose(Operands operands, StringRef sign, const std::string &a,
                   const std::string &b) {
  return a + " " + sign.str() + " " + b + " ? " + operands[0] + " : " +
         operands[1];
}
std::string chooseSigned(Operation *op, Operands operands, StringRef sign) {
  bool isBit = op->getResult(0).getType().isInteger(1);
  return isBit ? choose(operands, sign, operands[1], operands[0])
               : choose(operands, sign, operands[0], operands[1]);
}
std::string chooseUnsigned(Operation *op, Operands operands, StringRef sign) {
  Type type = op->getResult(0).getType();
  return choose(operands, sign, asUnsigned(type, operands[0]),
                asUnsigned(type, operands[1]));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

std::string extendFloat(arith::ExtFOp op, const std::string &x) {
  std::string wide = isHalf(op.getIn().getType()) ? call("toFloat", x) : x;
  return op.getType().isF64() ? cast("double", wide) : wide;
}

std::string truncateFloat(arith::TruncFOp op, const std::string &x) {
  Type from = op.getIn().getType(), to = op.getType();
  std::string function = "roundTo<" + valueType(to) + ">";
  if (from.isF64())
    return to.isF32() ? cast("float", x) : call(function, call("toOdd", x));
  return call(function, from.isF32() ? x : call("toFloat", x));
}

/// A 32-bit integer is exact in f64, from which one rounding leads to a half.
std::string integerToFloat(Operation *op, const std::string &x, bool isSigned) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::string value = !isSigned           ? asUnsigned(from, x)
                      : from.isInteger(1) ? "-" + cast("int", x)
                                          : x;
  if (!isHalf(to))
    return cast(valueType(to), value);
  if (from.isIndex() || from.getIntOrFloatBitWidth() > 32)
    return "";
  return call("roundTo<" + valueType(to) + ">",
              call("toOdd", cast("double", value)));
}

std::string floatToInteger(Operation *op, const std::string &x, bool isSigned) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::string value = isHalf(from) ? call("toFloat", x) : x;
  if (to.isInteger(1))
    return value + " != 0";
  if (isSigned)
    return cast(valueType(to), value);
  return cast(valueType(to), cast(unsignedType(to), value));
}

std::string extendInteger(Operation *op, const std::string &x, bool isSigned) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!isSigned)
    return cast(valueType(to), asUnsigned(from, x));
  return from.isInteger(1) ? cast(valueType(to), "-" + cast("int", x))
                           : cast(valueType(to), x);
}

std::string truncateInteger(Type to, const std::string &x) {
  return to.isInteger(1) ? "(" + x + " & 1) != 0" : cast(valueType(to), x);
}

std::string castIndex(Operation *op, const std::string &x, bool isSigned) {
  Type to = op->getResult(0).getType();
  return to.isIndex() ? extendInteger(op, x, isSigned) : truncateInteger(to, x);
}

std::string bitcast(arith::BitcastOp op, const std::string &x) {
  Type from = op.getIn().getType(), to = op.getType();
  // An 8-bit float is held as its bits already.
  auto isNumber = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() > 8;
  };
  std::string bits = isHalf(from)           ? x + ".bits"
                     : isNumber(from)       ? call("bitsOf", x)
                     : isa<FloatType>(from) ? x
                                            : asUnsigned(from, x);
  if (isHalf(to))
    return valueType(to) + "{" + bits + "}";
  return isNumber(to) ? call("fromBits", bits) : cast(valueType(to), bits);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Returns the C library's name of a function that is not expanded.
StringRef libraryName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](math::ErfcOp) { return "erfc"; })
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::LogOp) { return "log"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Default(StringRef());
}

/// Calls the C library in f64, whatever the type.
std::string callLibrary(Operation *op, Operands operands) {
  StringRef name = libraryName(op);
  Type type = op->getResult(0).getType();
  if (name.empty() || !isa<FloatType>(type))
    return "";
  std::string function = ("::" + name).str();
  if (type.isF64())
    return operands.size() == 1 ? call(function, operands[0])
                                : call(function, operands[0], operands[1]);
  SmallVector<std::string> wide;
  for (const std::string &operand : operands)
    wide.push_back(
        cast("double", isHalf(type) ? call("toFloat", operand) : operand));
  std::string result = wide.size() == 1 ? call(function, wide[0])
                                        : call(function, wide[0], wide[1]);
  return type.isF32()
             ? cast("float", result)
             : call("roundTo<" + valueType(type) + ">", call("toOdd", result));
}

} // namespace

static std::string printFloatOp(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::AddFOp) { return floatInfix(op, x, "+"); })
      .Case([&](arith::SubFOp) { return floatInfix(op, x, "-"); })
      .Case([&](arith::MulFOp) { return floatInfix(op, x, "*"); })
      .Case([&](arith::DivFOp) { return floatInfix(op, x, "/"); })
      .Case([&](arith::NegFOp) { return floatCall(op, x, "negate"); })
      .Case([&](arith::MaximumFOp) { return floatCall(op, x, "maximum"); })
      .Case([&](arith::MinimumFOp) { return floatCall(op, x, "minimum"); })
      .Case([&](arith::MaxNumFOp) { return floatCall(op, x, "maximumNumber"); })
      .Case([&](arith::MinNumFOp) { return floatCall(op, x, "minimumNumber"); })
      .Case([&](arith::CmpFOp compare) { return compareFloats(compare, x); })
      .Case([&](arith::ExtFOp extend) { return extendFloat(extend, x[0]); })
      .Case([&](arith::TruncFOp round) { return truncateFloat(round, x[0]); })
      .Case([&](math::AbsFOp) { return floatCall(op, x, "absolute"); })
      .Case([&](math::SqrtOp) { return floatCall(op, x, "mp::sqrt"); })
      .Case([&](math::RsqrtOp) { return floatCall(op, x, "mp::rsqrt"); })
      .Case([&](math::CopySignOp) { return floatCall(op, x, "copySign"); })
      .Case([&](math::FloorOp) { return floatCall(op, x, "mp::floor"); })
      .Case([&](math::CeilOp) { return floatCall(op, x, "mp::ceil"); })
      .Case([&](math::TruncOp) { return floatCall(op, x, "mp::trunc"); })
      .Case([&](math::RoundEvenOp) { return floatCall(op, x, "roundToEven"); })
      .Case([&](math::FmaOp fma) {
        return isHalf(fma.getType())
                   ? std::string()
                   : "mp::fma(" + x[0] + ", " + x[1] + ", " + x[2] + ")";
      })
      .Default([&](Operation *) { return callLibrary(op, x); });
}

static std::string printIntegerOp(Operation *op, Operands x) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::AddIOp) { return wrap(op, x, "wrapAdd", "!="); })
      .Case([&](arith::SubIOp) { return wrap(op, x, "wrapSubtract", "!="); })
      .Case([&](arith::MulIOp) { return wrap(op, x, "wrapMultiply", "&&"); })
      .Case([&](arith::DivSIOp) { return bitwise(op, x, "/"); })
      .Case([&](arith::RemSIOp) { return bitwise(op, x, "%"); })
      .Case([&](arith::DivUIOp) { return unsignedInfix(op, x, "/"); })
      .Case([&](arith::RemUIOp) { return unsignedInfix(op, x, "%"); })
      .Case([&](arith::FloorDivSIOp) { return call("floorDiv", x[0], x[1]); })
      .Case([&](arith::CeilDivSIOp) { return call("ceilDiv", x[0], x[1]); })
      .Case([&](arith::CeilDivUIOp) {
        Type type = op->getResult(0).getType();
        return cast(valueType(type), call("ceilDiv", asUnsigned(type, x[0]),
                                          asUnsigned(type, x[1])));
      })
      .Case([&](arith::AndIOp) { return bitwise(op, x, "&"); })
      .Case([&](arith::OrIOp) { return bitwise(op, x, "|"); })
      .Case([&](arith::XOrIOp) { return bitwise(op, x, "^"); })
      .Case([&](arith::ShLIOp) { return unsignedInfix(op, x, "<<"); })
      .Case([&](arith::ShRUIOp) { return unsignedInfix(op, x, ">>"); })
      .Case([&](arith::ShRSIOp) { return bitwise(op, x, ">>"); })
      .Case([&](arith::MaxSIOp) { return chooseSigned(op, x, ">"); })
      .Case([&](arith::MinSIOp) { return chooseSigned(op, x, "<"); })
      .Case([&](arith::MaxUIOp) { return chooseUnsigned(op, x, ">"); })
      .Case([&](arith::MinUIOp) { return chooseUnsigned(op, x, "<"); })
      .Case([&](arith::CmpIOp compare) { return compareIntegers(compare, x); })
      .Case([&](arith::SelectOp) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case([&](arith::ExtSIOp) { return extendInteger(op, x[0], true); })
      .Case([&](arith::ExtUIOp) { return extendInteger(op, x[0], false); })
      .Case([&](arith::TruncIOp truncate) {
        return truncateInteger(truncate.getType(), x[0]);
      })
      .Case([&](arith::IndexCastOp) { return castIndex(op, x[0], true); })
      .Case([&](arith::IndexCastUIOp) { return castIndex(op, x[0], false); })
      .Case([&](arith::SIToFPOp) { return integerToFloat(op, x[0], true); })
      .Case([&](arith::UIToFPOp) { return integerToFloat(op, x[0], false); })
      .Case([&](arith::FPToSIOp) { return floatToInteger(op, x[0], true); })
      .Case([&](arith::FPToUIOp) { return floatToInteger(op, x[0], false); })
      .Case([&](arith::BitcastOp bits) { return bitcast(bits, x[0]); })
      .Case([&](math::AbsIOp) { return call("absoluteInteger", x[0]); })
      .Default([&](Operation *) { return printFloatOp(op, x); });
}

std::string mp::cuda::printScalarOp(Operation *op, Operands operands) {
  if (op->getNumResults() != 1)
    return "";
  return printIntegerOp(op, operands);
}
