//===- OpGoldens.cpp - the goldens of single ops --------------------------===//
#include "OpGoldens.h"
#include "OpSamples.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;

namespace mp {

std::vector<std::string> opGoldenFamilies() {
  std::vector<std::string> families;
  std::error_code error;
  for (sys::fs::directory_iterator it(MP_GOLDENS_DIR "/ops", error), end;
       !error && it != end; it.increment(error))
    if (sys::path::extension(it->path()) == ".json")
      families.push_back(sys::path::stem(it->path()).str());
  llvm::sort(families);
  return families;
}

static std::optional<GoldenTensor> readTensor(const json::Value &value) {
  const json::Object *tensor = value.getAsObject();
  if (!tensor)
    return std::nullopt; // null
  GoldenTensor read;
  read.numbers = cantFail(goldenNumbers(*tensor));
  read.type = cantFail(goldenType(*tensor));
  return read;
}

/// Reads a golden of either kind: `results` names the field of its expected
/// results.
static OpGolden readOpGolden(const json::Object &object, StringRef results) {
  OpGolden golden;
  golden.module = object.getString("module")->str();
  for (const json::Value &input : *object.getArray("inputs"))
    golden.inputs.push_back(cantFail(goldenNumbers(*input.getAsObject())));
  for (const json::Value &output : *object.getArray(results))
    golden.expected.push_back(readTensor(output));
  golden.ulps = *object.getNumber("ulps");
  golden.atLargest = *object.getString("at") == "largest";
  return golden;
}

OpGoldenFile readOpGoldens(StringRef family) {
  OpGoldenFile goldens;
  auto file = readGolden(("ops/" + family + ".json").str());
  if (!file) {
    ADD_FAILURE() << toString(file.takeError());
    return goldens;
  }
  for (const json::Value &item : *file->getArray("forward")) {
    goldens.forward.push_back(readOpGolden(*item.getAsObject(), "outputs"));
    goldens.forward.back().function = "f";
  }
  for (const json::Value &item : *file->getArray("backward")) {
    OpGolden golden = readOpGolden(*item.getAsObject(), "gradients");
    golden.function = "f.gradient";
    golden.module = differentiated(golden.module, "f");
    goldens.backward.push_back(std::move(golden));
  }
  return goldens;
}

Expected<std::vector<Numbers>> runGolden(const OpGolden &golden,
                                         Device device) {
  auto function =
      GoldenFunction::compile(golden.module, golden.function, device);
  if (!function)
    return function.takeError();
  return (*function)(golden.inputs);
}

/// Returns a unit in the last place of numbers of a type that are as large as
/// `value`.
static double ulp(double value, ElementType type) {
  auto [digits, smallest] = type == ElementType::F16        ? std::pair(11, -14)
                            : type == ElementType::BF16     ? std::pair(8, -126)
                            : type == ElementType::F8E4M3FN ? std::pair(4, -6)
                            : type == ElementType::F8E5M2   ? std::pair(3, -14)
                            : type == ElementType::F32 ? std::pair(24, -126)
                                                       : std::pair(53, -1022);
  int exponent = value == 0 ? smallest : std::max(std::ilogb(value), smallest);
  return std::ldexp(1.0, exponent - (digits - 1));
}

double ulpsApart(double ours, const GoldenTensor &theirs, size_t index,
                 bool atLargest) {
  double wanted = theirs.numbers[index];
  if (ours == wanted || (std::isnan(ours) && std::isnan(wanted)))
    return 0;
  if (!std::isfinite(ours) || !std::isfinite(wanted) ||
      !isFloat(theirs.type.element))
    return std::numeric_limits<double>::infinity();
  double scale = wanted;
  if (atLargest)
    for (double number : theirs.numbers)
      if (std::isfinite(number))
        scale = std::max(std::abs(scale), std::abs(number));
  return std::abs(ours - wanted) / ulp(scale, theirs.type.element);
}

} // namespace mp
