//===- BytePairs.cpp - byte-pair encoding ---------------------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace llvm;

namespace mp::tokenizers {

/// The most words whose tokens are kept, and their longest.
static constexpr size_t kMostWords = 1 << 16, kLongestWord = 256;

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

/// Appends the tokens of the bytes of a symbol, "<0x0A>", if there are all.
bool BytePairs::appendBytes(StringRef symbol,
                            std::vector<Token> &symbols) const {
  size_t before = symbols.size();
  for (unsigned char byte : symbol) {
    std::optional<Token> token =
        vocabulary.find(formatv("<0x{0:X-2}>", unsigned(byte)).str());
    if (!token) {
      symbols.resize(before);
      return false;
    }
    symbols.push_back(*token);
  }
  return true;
}

std::vector<Token> BytePairs::symbolsOf(StringRef word) const {
  std::vector<Token> symbols;
  bool afterUnknown = false;
  for (StringRef rest = word; !rest.empty();) {
    bool isFirst = rest.size() == word.size();
    std::string symbol = rest.take_front(characterLength(rest)).str();
    rest = rest.drop_front(symbol.size());
    if (!isFirst)
      symbol = continuingPrefix + symbol;
    if (rest.empty())
      symbol += endSuffix;
    if (std::optional<Token> token = vocabulary.find(symbol)) {
      symbols.push_back(*token);
      afterUnknown = false;
    } else if (!byteFallback || !appendBytes(symbol, symbols)) {
      if (unknown && !(afterUnknown && fusesUnknown))
        symbols.push_back(*unknown);
      afterUnknown = true;
    }
  }
  return symbols;
}

void BytePairs::encode(StringRef word, Tokens &tokens) const {
  if (ignoresMerges)
    if (std::optional<Token> token = vocabulary.find(word))
      return tokens.push_back(*token);
  if (auto known = words.find(word); known != words.end())
    return append_range(tokens, known->second);
  Word symbols(*this, symbolsOf(word));
  symbols.merge();
  size_t before = tokens.size();
  symbols.append(tokens);
  if (word.size() > kLongestWord)
    return;
  if (words.size() >= kMostWords)
    words.clear();
  words[word].assign(tokens.begin() + before, tokens.end());
}

} // namespace mp::tokenizers
