//===- MatmulCall.cpp - the attributes of a "*.matmul" call ---------------===//
#include "runtime/MatmulCall.h"
#include "llvm/ADT/STLExtras.h"

using namespace mp;

std::string MatmulCall::str() const {
  return (elementTypeName(aType) + " " + llvm::Twine(m) + "x" + llvm::Twine(k) +
          "x" + llvm::Twine(n))
      .str();
}

template <typename T>
static llvm::Error readTyped(const Call &call, llvm::StringRef name, T &value) {
  const Call::Attribute *attribute = call.find(name);
  const T *typed = attribute ? std::get_if<T>(attribute) : nullptr;
  if (!typed)
    return llvm::createStringError("attribute '" + name + "' is " +
                                   (attribute ? "of a wrong type" : "missing"));
  value = *typed;
  return llvm::Error::success();
}

llvm::Error mp::readAttribute(const Call &call, llvm::StringRef name,
                              int64_t &value) {
  return readTyped(call, name, value);
}
llvm::Error mp::readAttribute(const Call &call, llvm::StringRef name,
                              std::string &value) {
  return readTyped(call, name, value);
}
llvm::Error mp::readAttribute(const Call &call, llvm::StringRef name,
                              std::vector<int64_t> &value) {
  return readTyped(call, name, value);
}

static llvm::Error readSize(const Call &call, llvm::StringRef name,
                            int64_t &value) {
  if (llvm::Error error = readAttribute(call, name, value))
    return error;
  if (value < 1)
    return llvm::createStringError("attribute '" + name +
                                   "' must be positive, found " +
                                   llvm::Twine(value));
  return llvm::Error::success();
}

static llvm::Error readStrides(const Call &call, llvm::StringRef name,
                               std::vector<int64_t> &value) {
  if (llvm::Error error = readAttribute(call, name, value))
    return error;
  if (value.size() != 2 || value[0] < 1 || value[1] < 1)
    return llvm::createStringError("attribute '" + name +
                                   "' must be two positive strides");
  return llvm::Error::success();
}

static llvm::Error readType(const Call &call, llvm::StringRef name,
                            llvm::ArrayRef<ElementType> types,
                            ElementType &value) {
  std::string text;
  if (llvm::Error error = readAttribute(call, name, text))
    return error;
  std::optional<ElementType> type = parseElementType(text);
  if (!type || !llvm::is_contained(types, *type)) {
    std::string known;
    for (ElementType each : types)
      known += (known.empty() ? "" : " or ") + elementTypeName(each).str();
    return llvm::createStringError("attribute '" + name + "' must be " + known +
                                   ", found '" + text + "'");
  }
  value = *type;
  return llvm::Error::success();
}

llvm::Expected<MatmulCall> mp::readMatmul(const Call &call,
                                          llvm::ArrayRef<ElementType> types) {
  MatmulCall matmul;
  int64_t bias = 0, relu = 0;
  ElementType biasType = ElementType::F32;
  llvm::Error error = llvm::Error::success();
  auto failed = [&error](llvm::Error next) {
    error = llvm::joinErrors(std::move(error), std::move(next));
    return bool(error);
  };
  if (failed(readSize(call, "m", matmul.m)) ||
      failed(readSize(call, "n", matmul.n)) ||
      failed(readSize(call, "k", matmul.k)) ||
      failed(readStrides(call, "a_strides", matmul.aStrides)) ||
      failed(readStrides(call, "b_strides", matmul.bStrides)) ||
      failed(readType(call, "a_type", types, matmul.aType)) ||
      failed(readType(call, "c_type", types, matmul.cType)) ||
      failed(readAttribute(call, "bias", bias)) ||
      failed(readAttribute(call, "relu", relu)) ||
      (bias && failed(readType(call, "bias_type", types, biasType))))
    return error;
  if (bias)
    matmul.biasType = biasType;
  matmul.relu = relu != 0;
  return matmul;
}

llvm::Error mp::checkArguments(const Call &call, size_t expected) {
  if (call.args.size() == expected)
    return llvm::Error::success();
  return llvm::createStringError("expected " + llvm::Twine(expected) +
                                 " arguments, found " +
                                 llvm::Twine(call.args.size()));
}
