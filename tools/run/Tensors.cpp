//===- Tensors.cpp - inputs and results of mp-run run ---------------------===//
#include "tools/run/Tensors.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Dataset.h"
#include "support/Error.h"
#include "tools/common/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp::tool {

StringRef formatOf(StringRef path) {
  path.consume_back(".gz");
  if (path.ends_with(".safetensors"))
    return "safetensors";
  return path.ends_with(".idx") || path.ends_with("ubyte") ? "idx" : "npy";
}

/// Returns an argument's name, or its position if it has none.
static std::string shown(const Input &input, size_t position) {
  return input.name.empty() ? std::to_string(position) : "'" + input.name + "'";
}

/// Reads a whole number that was written as "1e3" or "2.0".
static bool readWhole(double value, int64_t &integer) {
  constexpr double most = 9007199254740992; // all whole numbers below are exact
  if (!(std::fabs(value) <= most) || value != std::trunc(value))
    return false;
  integer = static_cast<int64_t>(value);
  return true;
}

static Expected<Array> readNumber(const Input &input, size_t position,
                                  const std::string &text) {
  double value = 0;
  int64_t integer = 0;
  if (input.type.elements() != 1)
    return make_error<UsageError>(
        formatv("argument {0} takes {1}, which no number can be; give @FILE",
                shown(input, position), input.type.str()));
  // A 64-bit integer need not be exact as a double.
  bool whole = isInteger(input.type.element) && to_integer(text, integer, 10);
  if (text.empty() || !(whole || to_float(text, value)))
    return make_error<UsageError>(
        formatv("--input takes @FILE or a number, not '{0}'", text));
  char *storage;
  Array array = Array::allocate(input.type, &storage);
  bool fits = true;
  if (!isInteger(input.type.element)) {
    storeElement(input.type.element, value, storage);
    fits = StringRef(text).contains_insensitive("inf") ||
           !std::isfinite(loadElement(input.type.element, storage)) ==
               std::isnan(value);
  } else {
    fits = whole || readWhole(value, integer);
    storeInteger(input.type.element, integer, storage);
    fits &= loadInteger(input.type.element, storage) == integer;
  }
  if (!fits)
    return make_error<UsageError>(formatv("argument {0} takes {1}, not '{2}'",
                                          shown(input, position),
                                          input.type.str(), text));
  return array;
}

Expected<std::vector<Array>> bindInputs(const Entry &entry,
                                        ArrayRef<std::string> given,
                                        ArrayRef<std::optional<Array>> arrays) {
  if (given.size() != entry.inputs.size())
    return make_error<UsageError>(
        formatv("{0} inputs given, function '{1}' takes {2}", given.size(),
                entry.function, entry.inputs.size()));
  std::vector<Array> inputs;
  for (auto [input, text, file] : llvm::zip(entry.inputs, given, arrays)) {
    if (!file) {
      Expected<Array> number = readNumber(input, inputs.size(), text);
      if (!number)
        return number.takeError();
      inputs.push_back(std::move(*number));
      continue;
    }
    StringRef path = StringRef(text).drop_front();
    if (file->type != input.type)
      return makeError("{0}: holds {1}, argument {2} takes {3}{4}", path,
                       file->type.str(), shown(input, inputs.size()),
                       input.type.str(), at(input.location));
    int64_t samples = input.type.shape.empty() ? 1 : input.type.shape.front();
    int64_t perSample = std::max<int64_t>(
        input.type.elements() / std::max<int64_t>(samples, 1), 1);
    if (Error error =
            checkRange(input, file->type.element, file->bytes, path, perSample))
      return error;
    inputs.push_back(*file);
  }
  return inputs;
}

static void printElement(raw_ostream &os, ElementType type, const char *bytes) {
  if (isInteger(type))
    os << loadInteger(type, bytes);
  else
    os << format(type == ElementType::F64 ? "%.17g" : "%.9g",
                 loadElement(type, bytes));
}

void printTensor(raw_ostream &os, StringRef name, const TensorType &type,
                 ArrayRef<char> bytes) {
  constexpr int64_t most = 1000;
  os << (name.empty() ? "result" : name) << ": " << type.str() << " = ";
  int64_t count = type.elements();
  unsigned width = byteWidth(type.element);
  for (int64_t i = 0; i < std::min(count, most); ++i) {
    // A bracket opens at each multiple of the trailing sizes' product.
    unsigned opening = 0;
    int64_t product = 1;
    for (int64_t size : llvm::reverse(type.shape)) {
      product *= size;
      opening += i % product == 0;
    }
    if (i)
      os << std::string(opening, ']') << ", ";
    os << std::string(opening, '[');
    printElement(os, type.element, bytes.data() + i * width);
  }
  if (count > most)
    os << ", ... (" << count - most << " more)";
  else
    os << std::string(count ? type.shape.size() : 0, ']');
  os << (count ? "" : "[]") << "\n";
}

} // namespace mp::tool
