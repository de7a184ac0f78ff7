//===- TuneJobs.cpp - what mp-run tune measures ---------------------------===//
#include "tools/run/TuneJobs.h"
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace mp::cuda;

namespace mp::tool {

static StringRef typeWord(const GemmShape &shape) {
  return shape.tf32 ? "tf32" : elementTypeName(shape.type);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<TunedShape> readProduct(const json::Value &value,
                                        StringRef name, StringRef type) {
  json::Path::Root root("shape");
  json::ObjectMapper map(value, root);
  GemmShape shape;
  bool good = map && map.map("m", shape.m) && map.map("n", shape.n) &&
              map.map("k", shape.k) &&
              map.map("transpose_a", shape.transposeA) &&
              map.map("transpose_b", shape.transposeB);
  if (!good)
    return root.getError();
  shape.tf32 = type == "tf32";
  auto element = shape.tf32 ? ElementType::F32 : parseElementType(type);
  if (!element || std::min({shape.m, shape.n, shape.k}) < 1)
    return makeError("'{0}': expected sizes of at least 1 and a type, got "
                     "{1}x{2}x{3} of '{4}'",
                     name, shape.m, shape.n, shape.k, type);
  shape.type = *element;
  return shape;
}

/// "1x2x3"
static std::string sizesText(ArrayRef<int64_t> sizes) {
  return join(map_range(sizes, [](int64_t n) { return std::to_string(n); }),
              "x");
}

/// Reads it by way of its text form, which checks it.
static Expected<TunedShape> readConvolution(const json::Value &value,
                                            StringRef type) {
  json::Path::Root root("shape");
  json::ObjectMapper map(value, root);
  std::string kind;
  std::vector<int64_t> input, weight, strides, low, high, dilations;
  bool good = map && map.map("kind", kind) && map.map("input", input) &&
              map.map("weight", weight) && map.map("strides", strides) &&
              map.map("low", low) && map.map("high", high) &&
              map.map("dilations", dilations);
  if (!good)
    return root.getError();
  int64_t groups = input.size() == 4 && weight.size() == 4 && weight[3] > 0
                       ? input[3] / weight[3]
                       : 0;
  if (groups < 1 || groups * weight[3] != input[3])
    return makeError("expected an input of 4 sizes and a weight of 4, the last "
                     "of them the channels of a group, got {0} and {1}",
                     sizesText(input), sizesText(weight));
  weight.pop_back();
  return ConvolutionSizes::parse(
      (type + " " + kind + " " + sizesText(input) + " " + sizesText(weight) +
       " groups " + Twine(groups) + " strides " + sizesText(strides) + " low " +
       sizesText(low) + " high " + sizesText(high) + " dilations " +
       sizesText(dilations))
          .str());
}

static Expected<TuneJob> readJob(const json::Value &value) {
  json::Path::Root root("shape");
  json::ObjectMapper map(value, root);
  std::string name, type;
  if (!map || !map.map("name", name) || !map.map("type", type))
    return root.getError();
  auto shape = value.getAsObject()->get("kind")
                   ? readConvolution(value, type)
                   : readProduct(value, name, type);
  if (!shape)
    return shape.takeError();
  return TuneJob{name, *shape};
}

Expected<std::vector<TuneJob>> readTuneJobs(StringRef path) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  auto value = parseJson((*buffer)->getBuffer());
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (!value)
    return makeError("{0}: {1}", path, toString(value.takeError()));
  if (!list)
    return makeError("{0}: expected a list of shapes", path);
  if (list->empty())
    return makeError("{0}: expected a list of shapes, got none", path);
  std::vector<TuneJob> jobs;
  for (const json::Value &item : *list) {
    auto job = readJob(item);
    if (!job)
      return makeError("{0}: {1}", path, toString(job.takeError()));
    jobs.push_back(std::move(*job));
  }
  return jobs;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Object fields(const GemmShape &shape) {
  return json::Object{{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
}

static json::Object fields(const ConvolutionSizes &sizes) {
  auto pair = [](const std::array<int64_t, 2> &numbers) {
    return json::Array{numbers[0], numbers[1]};
  };
  return json::Object{{"kind", sizes.kindName()},
                      {"input", json::Array(sizes.inputSizes())},
                      {"weight", json::Array(sizes.weightSizes())},
                      {"strides", pair(sizes.strides)},
                      {"low", pair(sizes.low)},
                      {"high", pair(sizes.high)},
                      {"dilations", pair(sizes.dilations)},
                      {"flops", int64_t(sizes.flops())}};
}

json::Object fieldsOf(const TunedShape &shape) {
  json::Object object =
      std::visit([](const auto &one) { return fields(one); }, shape);
  object["type"] = typeWord(productOf(shape));
  return object;
}

} // namespace mp::tool
