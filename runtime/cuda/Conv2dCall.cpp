//===- Conv2dCall.cpp - the attributes of a "cudnn.conv2d" call -----------===//
#include "runtime/cuda/Conv2dCall.h"
#include "runtime/MatmulCall.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mp;

static constexpr llvm::StringLiteral kKinds[] = {"forward", "backward_input",
                                                 "backward_weight"};

static std::string sizesText(llvm::ArrayRef<int64_t> sizes) {
  return llvm::join(
      llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }),
      "x");
}

std::string Conv2dCall::str() const {
  return kKinds[static_cast<size_t>(kind)].str() + " " +
         elementTypeName(type).str() + " " + sizesText(input) + " by " +
         sizesText(weight);
}

/// Reads a list of `count` numbers that are at least `least`.
static llvm::Error readList(const Call &call, llvm::StringRef name,
                            size_t count, int64_t least,
                            std::vector<int64_t> &list) {
  if (llvm::Error error = readAttribute(call, name, list))
    return error;
  bool good = list.size() == count &&
              llvm::all_of(list, [=](int64_t n) { return n >= least; });
  return good ? llvm::Error::success()
              : llvm::createStringError(
                    "attribute '" + name + "' must be " + llvm::Twine(count) +
                    " numbers of at least " + llvm::Twine(least) + ", found [" +
                    llvm::join(llvm::split(sizesText(list), 'x'), ", ") + "]");
}

/// Reads a word that must be one of `words`, as its position among them.
static llvm::Expected<size_t>
readWord(const Call &call, llvm::StringRef name,
         llvm::ArrayRef<llvm::StringLiteral> words) {
  std::string text;
  if (llvm::Error error = readAttribute(call, name, text))
    return error;
  const auto *found = llvm::find(words, text);
  if (found == words.end())
    return llvm::createStringError("attribute '" + name + "' must be " +
                                   llvm::join(words, " or ") + ", found '" +
                                   text + "'");
  return found - words.begin();
}

static llvm::Error readWords(const Call &call, Conv2dCall &conv) {
  auto kind = readWord(call, "kind", kKinds);
  if (!kind)
    return kind.takeError();
  conv.kind = static_cast<Conv2dCall::Kind>(*kind);
  constexpr llvm::StringLiteral types[] = {"f32", "f16", "bf16"};
  auto type = readWord(call, "type", types);
  if (!type)
    return type.takeError();
  conv.type = *parseElementType(types[*type]);
  constexpr llvm::StringLiteral computes[] = {"f32", "tf32"};
  auto compute = readWord(call, "compute", computes);
  if (!compute)
    return compute.takeError();
  conv.tf32 = *compute == 1;
  return llvm::Error::success();
}

/// Fails unless the sizes are those of one convolution.
static llvm::Error checkSizes(const Conv2dCall &conv) {
  if (conv.input[3] % conv.weight[3] || conv.weight[0] % conv.groups())
    return llvm::createStringError(
        "attributes 'input' and 'weight' have channels that groups do not "
        "divide: " +
        conv.str());
  std::vector<int64_t> expected = {conv.input[0], 0, 0, conv.weight[0]};
  for (int dim : {0, 1}) {
    int64_t span = (conv.weight[1 + dim] - 1) * conv.dilations[dim] + 1;
    int64_t room = conv.input[1 + dim] + conv.low[dim] + conv.high[dim] - span;
    expected[1 + dim] = room < 0 ? 0 : room / conv.strides[dim] + 1;
  }
  if (conv.output != expected)
    return llvm::createStringError("attribute 'output' must be " +
                                   sizesText(expected) + ", found " +
                                   sizesText(conv.output));
  return llvm::Error::success();
}

llvm::Expected<Conv2dCall> mp::readConv2d(const Call &call) {
  Conv2dCall conv;
  if (llvm::Error error = readWords(call, conv))
    return error;
  struct {
    llvm::StringRef name;
    size_t count;
    int64_t least;
    std::vector<int64_t> &list;
  } lists[] = {{"input", 4, 1, conv.input},
               {"weight", 4, 1, conv.weight},
               {"output", 4, 1, conv.output},
               {"strides", 2, 1, conv.strides},
               {"low", 2, 0, conv.low},
               {"high", 2, 0, conv.high},
               {"dilations", 2, 1, conv.dilations}};
  for (auto &[name, count, least, list] : lists)
    if (llvm::Error error = readList(call, name, count, least, list))
      return error;
  if (llvm::Error error = checkSizes(conv))
    return error;
  int64_t bias = 0;
  if (llvm::Error error = readAttribute(call, "bias", bias))
    return error;
  conv.bias = bias != 0;
  if (conv.bias && conv.kind != Conv2dCall::Kind::Forward)
    return llvm::createStringError("a gradient has no bias");
  if (llvm::Error error = readAttribute(call, "workspace", conv.workspace))
    return error;
  if (llvm::Error error = checkArguments(call, conv.bias ? 5 : 4))
    return error;
  return conv;
}
