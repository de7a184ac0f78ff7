//===- GoldenFunction.cpp - what goldens say of tensors -------------------===//
#include "GoldenFunction.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace mp {

Expected<Numbers> goldenNumbers(const json::Object &tensor) {
  const json::Array *data = tensor.getArray("data");
  if (!data)
    return createStringError("golden tensor has no data");
  Numbers numbers;
  for (const json::Value &value : *data) {
    double number = 0;
    if (std::optional<double> finite = value.getAsNumber())
      number = *finite;
    else if (!value.getAsString() || value.getAsString()->getAsDouble(number))
      return createStringError("golden tensor holds what is not a number");
    numbers.push_back(number);
  }
  return numbers;
}

Expected<TensorType> goldenType(const json::Object &tensor) {
  StringRef text = tensor.getString("type").value_or("");
  TensorType type;
  if (!text.consume_front("tensor<") || !text.consume_back(">"))
    return createStringError("golden tensor has no type");
  for (int64_t size; !text.consumeInteger(10, size);) {
    type.shape.push_back(size);
    text.consume_front("x");
  }
  auto element = parseElementType(text);
  if (!element)
    return createStringError("golden tensor is of " + text);
  type.element = *element;
  return type;
}

Expected<json::Object> readGolden(StringRef name) {
  std::string path = (MP_GOLDENS_DIR "/" + name).str();
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read " + path);
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  if (!value->getAsObject())
    return createStringError(path + " holds no object");
  return std::move(*value->getAsObject());
}

} // namespace mp
