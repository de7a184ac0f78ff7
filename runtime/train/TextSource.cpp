//===- TextSource.cpp - what texts are written from -----------------------===//
#include "runtime/train/TextSource.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

using tokenizers::Tokens;

Expected<TextSource> TextSource::open(Executable &entry) {
  TextSource made(entry);
  std::optional<unsigned> tokens;
  std::vector<std::string> others;
  for (auto [i, input] : enumerate(entry.entry().inputs)) {
    size_t rank = input.type.shape.size();
    bool isCount = !isFloat(input.type.element);
    if (isCount && rank == 2 && !tokens)
      tokens = i;
    else if (isCount && rank == 1 && !made.lengthsInput)
      made.lengthsInput = i;
    else
      others.push_back(input.name + ": " + input.type.str());
  }
  if (!tokens || !others.empty())
    return makeError("the network writes texts from more than another text and "
                     "its length: {0}{1}",
                     join(others, ", "), at(entry.entry().location));
  made.tokensInput = *tokens;
  return made;
}

Error TextSource::read(ArrayRef<Tokens> rows) {
  std::vector<std::vector<char>> arrays;
  for (const Input &input : entry->entry().inputs)
    arrays.emplace_back(input.type.bytes(), 0);
  auto put = [&](unsigned input, size_t place, uint64_t number) {
    ElementType element = entry->entry().inputs[input].type.element;
    storeElement(element, number,
                 arrays[input].data() + place * byteWidth(element));
  };
  for (auto [row, text] : enumerate(rows)) {
    for (auto [i, token] : enumerate(text))
      put(tokensInput, row * context() + i, token);
    if (lengthsInput)
      put(*lengthsInput, row, text.size());
  }
  std::vector<TensorView> inputs;
  for (auto [input, bytes] : zip_equal(entry->entry().inputs, arrays))
    inputs.push_back({input.type.element, bytes});
  auto results = entry->run(inputs);
  return results ? Error::success() : results.takeError();
}

} // namespace mp
