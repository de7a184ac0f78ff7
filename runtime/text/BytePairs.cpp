//===- BytePairs.cpp - byte-pair encoding ---------------------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace llvm;

namespace mp::tokenizers {

/// A token of a word, with its neighbours.
struct BytePairs::Symbol {
  Token token;
  int before, after; ///< -1: none
  bool isMerged = false;
};

/// A word whose tokens are merged. It takes n log n steps, so that a long text
/// without a space is no trouble.
class BytePairs::Word {
public:
  Word(const BytePairs &model, ArrayRef<Token> tokens) : model(model) {
    int count = static_cast<int>(tokens.size());
    for (int i = 0; i < count; ++i)
      symbols.push_back({tokens[i], i - 1, i + 1 < count ? i + 1 : -1});
    for (int i = 0; i + 1 < count; ++i)
      propose(i);
  }

  void merge() {
    while (!proposals.empty()) {
      Proposal best = proposals.top();
      proposals.pop();
      Symbol &left = symbols[best.left];
      if (left.isMerged || left.after < 0)
        continue;
      Symbol &right = symbols[left.after];
      // One of the two may have been merged with another one since.
      const Merge *merge = model.find(left.token, right.token);
      if (!merge || merge->made != best.made)
        continue;
      left.token = merge->made;
      right.isMerged = true;
      left.after = right.after;
      if (right.after >= 0)
        symbols[right.after].before = best.left;
      if (left.before >= 0)
        propose(left.before);
      propose(best.left);
    }
  }

  void append(Tokens &tokens) const {
    for (const Symbol &symbol : symbols)
      if (!symbol.isMerged)
        tokens.push_back(symbol.token);
  }

private:
  struct Proposal {
    uint32_t rank;
    int left;
    Token made;
    /// Whether it comes after another one.
    bool operator<(const Proposal &other) const {
      return std::pair(rank, left) > std::pair(other.rank, other.left);
    }
  };

  void propose(int left) {
    int right = symbols[left].after;
    if (right < 0)
      return;
    if (const Merge *merge =
            model.find(symbols[left].token, symbols[right].token))
      proposals.push({merge->rank, left, merge->made});
  }

  const BytePairs &model;
  std::vector<Symbol> symbols;
  std::priority_queue<Proposal> proposals;
};

const BytePairs::Merge *BytePairs::find(Token left, Token right) const {
  auto found = merges.find({left, right});
  return found == merges.end() ? nullptr : &found->second;
}

Error BytePairs::addMerge(StringRef left, StringRef right) {
  StringRef tail = right;
  tail.consume_front(continuingPrefix);
  std::string made = (left + tail).str();
  StringRef names[] = {left, right, made};
  Token tokens[3];
  for (auto [i, name] : enumerate(names)) {
    std::optional<Token> token = vocabulary.find(name);
    if (!token)
      return makeError("the merge of '{0}' and '{1}' needs the token '{2}', "
                       "which the vocabulary has not",
                       printableName(left), printableName(right),
                       printableName(name));
    tokens[i] = *token;
  }
  merges[{tokens[0], tokens[1]}] = {mergeCount++, tokens[2]};
  return Error::success();
}

std::vector<Token> BytePairs::symbolsOf(StringRef word) const {
  std::vector<Token> symbols;
  // An unknown one comes after the bytes that follow it, as Hugging Face does.
  unsigned pending = 0;
  auto takePending = [&] {
    symbols.insert(symbols.end(), pending, unknown.value_or(0));
    pending = 0;
  };
  for (StringRef rest = word; !rest.empty();) {
    bool isFirst = rest.size() == word.size();
    std::string symbol = rest.take_front(characterLength(rest)).str();
    rest = rest.drop_front(symbol.size());
    if (!isFirst)
      symbol = continuingPrefix + symbol;
    if (rest.empty())
      symbol += endSuffix;
    if (std::optional<Token> token = vocabulary.find(symbol)) {
      takePending();
      symbols.push_back(*token);
    } else if (!(byteFallback && vocabulary.appendBytes(symbol, symbols)) &&
               unknown) {
      if (!fusesUnknown)
        takePending();
      pending = 1;
    }
  }
  takePending();
  return symbols;
}

void BytePairs::encode(StringRef word, Tokens &tokens) const {
  if (ignoresMerges)
    if (std::optional<Token> token = vocabulary.find(word))
      return tokens.push_back(*token);
  if (const Tokens *known = words.find(word))
    return append_range(tokens, *known);
  Word symbols(*this, symbolsOf(word));
  symbols.merge();
  size_t before = tokens.size();
  symbols.append(tokens);
  words.keep(word, ArrayRef(tokens).drop_front(before));
}

} // namespace mp::tokenizers
