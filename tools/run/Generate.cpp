//===- Generate.cpp - mp-run generate -------------------------------------===//
#include "runtime/train/Generate.h"
#include "program/Limits.h"
#include "runtime/data/Array.h"
#include "runtime/text/TokenFile.h"
#include "support/Error.h"
#include "support/Json.h"
#include "tools/run/Commands.h"
#include "tools/run/RunModule.h"
#include "llvm/Support/Format.h"
#include <chrono>

using namespace llvm;
using namespace mp::tokenizers;

namespace mp::tool {
namespace {

struct GenerateOptions {
  EvalOptions model;
  CommonOptions common;
  SamplingOptions sampling;
  std::string tokenizer, prompt = "\n", promptFile, until, output, input;
  uint64_t length = 256;
  bool quiet = false, numbers = false;
};

/// An option for a number from zero to `most`.
Option upTo(std::string name, double &to, unsigned most, std::string help) {
  return {name, "X", std::move(help),
          [name, &to, most](StringRef given) -> Error {
            double value;
            if (given.getAsDouble(value) || !(value >= 0 && value <= most))
              return make_error<UsageError>(
                  formatv("--{0} takes a number from 0 to {1}, not '{2}'", name,
                          most, given));
            to = value;
            return Error::success();
          }};
}

Command describe(GenerateOptions &options) {
  Command command{
      "generate", "RUN --tokenizer TOKENIZER [--prompt TEXT] [options]",
      "Prints texts that the language model of a run, or of a safetensors file "
      "of weights,\nwrites: tokens are drawn from what it says of the next "
      "one, "
      "and printed as they come."};
  command.positional = 1;
  auto &[model, common, sampling, tokenizer, prompt, promptFile, until, output,
         input, length, quiet, numbers] = options;
  command.options = {
      text("module", "FILE", model.module, "the module (that of the run)",
           Names::Input),
      text("tokenizer", "TOKENIZER", tokenizer,
           "bytes, a tokenizer.json, or the FILE.json that mp-data tokenize "
           "wrote"),
      text("prompt", "TEXT", prompt,
           "what the text begins with (a line's end)"),
      text("prompt-file", "FILE", promptFile, "a file that has it",
           Names::Input),
      number(
          "length", [&](uint64_t n) { length = n; }, 1, kMostElements,
          "how many tokens are written (256)"),
      text("until", "TOKEN", until,
           "end at this token, such as '<|endoftext|>'"),
      upTo("temperature", sampling.temperature, 100,
           "divides the logits: 0 takes the most probable token (1)"),
      number(
          "top-k", [&](uint64_t n) { sampling.topK = n; }, 1, kMostTokens,
          "draw from the K most probable tokens (all)"),
      upTo("top-p", sampling.topP, 1,
           "draw from the most probable tokens whose probabilities add up "
           "to X (1)"),
      number(
          "seed", [&](uint64_t n) { sampling.seed = n; }, 0, UINT64_MAX,
          "of what is drawn (0)"),
      number(
          "samples", [&](uint64_t n) { model.batch = n; }, 1, 4096,
          "how many texts are written at once (1)"),
      text("output", "NAME", output,
           "the logits: a result of the recipe's function, or value:%NAME (its "
           "only result that is not a single number)"),
      text("input", "NAME", input,
           "the input that holds the tokens (the only one of integers)"),
      flag("ema", model.averaged, true,
           "take the moving averages of weights that the recipe's ema keeps"),
      flag("numbers", numbers, true,
           "print the numbers of the tokens that are written, a line for each "
           "text"),
      flag("quiet", quiet, true, "do not say how long a token took"),
      text("function", "NAME", model.function, "which recipe (the only one)"),
  };
  llvm::append_range(command.options, common.table());
  return command;
}

/// Text as it is printed: lines and tabs stay, other control characters are
/// shown, and what is not UTF-8 is U+FFFD.
std::string printable(StringRef bytes) {
  std::string valid = validUtf8(bytes), shown;
  StringRef text = valid;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of("\n\t"), text.size());
    shown += withoutControls(text.take_front(end));
    text = text.drop_front(end);
    shown += text.take_front(1);
    text = text.drop_front(std::min<size_t>(1, text.size()));
  }
  return shown;
}

/// The length of a text without the character that its end cuts off.
size_t wholeCharacters(StringRef text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    unsigned char byte = text[text.size() - back];
    if (byte < 0x80)
      break;
    size_t needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needs)
      return needs > back ? text.size() - back : text.size();
  }
  return text.size();
}

/// A text that grows by tokens.
class GrowingText {
public:
  GrowingText(const Tokenizer &tokenizer, Tokens prompt)
      : tokenizer(tokenizer), begin(prompt.size()), tokens(std::move(prompt)) {}

  bool isEnded() const { return ended; }
  void end() { ended = true; }
  void add(Token token) { tokens.push_back(token); }
  /// Prints what is new, in whole characters unless it is the end.
  void print(bool isEnd) {
    std::string text = tokenizer.decode(tokens);
    size_t end = isEnd ? text.size() : wholeCharacters(text);
    if (end <= printed)
      return;
    outs() << printable(StringRef(text).slice(printed, end));
    outs().flush();
    printed = end;
  }

  void printNumbers() const {
    ListSeparator space(" ");
    for (Token token : ArrayRef(tokens).drop_front(begin))
      outs() << StringRef(space) << token;
  }

private:
  const Tokenizer &tokenizer;
  size_t begin; ///< of what is written
  Tokens tokens;
  size_t printed = 0;
  bool ended = false;
};

/// What has been read before the model is opened.
struct Request {
  std::unique_ptr<Tokenizer> tokenizer;
  Tokens prompt;
  std::optional<Token> until;
  size_t tokens; ///< that are drawn from: those that have a text
};

Expected<Request> read(GenerateOptions &options) {
  Request request;
  if (options.tokenizer == "characters")
    return makeError("which characters they are is in the FILE.json that "
                     "mp-data tokenize wrote: --tokenizer FILE.json");
  auto tokenizer = TokenizerChoice(options.tokenizer).make();
  if (!tokenizer)
    return tokenizer.takeError();
  request.tokenizer = std::move(*tokenizer);
  request.tokens =
      options.numbers ? kMostTokens : request.tokenizer->vocabularySize();
  if (!options.promptFile.empty()) {
    auto file = readFile(options.promptFile);
    if (!file)
      return file.takeError();
    options.prompt = (*file)->getBuffer().str();
  }
  if (Error error = request.tokenizer->encode(options.prompt, request.prompt))
    return makeError("the prompt: {0}", toString(std::move(error)));
  if (request.prompt.empty())
    return makeError("the prompt has no token");
  if (options.until.empty())
    return request;
  request.until = request.tokenizer->find(options.until);
  if (!request.until)
    return makeError("the vocabulary has no token '{0}' to end at",
                     withoutControls(options.until));
  return request;
}

/// Continues all texts by a token; false if all have ended.
Expected<bool> grow(MutableArrayRef<GrowingText> texts,
                    ArrayRef<std::vector<float>> logits, Sampler &sampler,
                    const Request &request, std::vector<Tokens> &drawn) {
  bool goesOn = false;
  for (auto [text, numbers, row] : zip_equal(texts, logits, drawn)) {
    // A vocabulary may be filled up with tokens that have no text.
    auto known =
        ArrayRef(numbers).take_front(std::min(numbers.size(), request.tokens));
    auto token = sampler.draw(known);
    if (!token)
      return token.takeError();
    row.assign(1, *token);
    if (text.isEnded())
      continue;
    if (request.until == *token)
      text.end();
    else
      text.add(*token);
    goesOn |= !text.isEnded();
  }
  return goesOn;
}

Error execute(GenerateOptions &options, StringRef run) {
  auto request = read(options);
  if (!request)
    return request.takeError();
  options.model.checkpoint = run.str();
  if (options.model.module.empty()) {
    auto module = moduleOf(run);
    if (!module)
      return module.takeError();
    options.model.module = std::move(*module);
  }
  if (!options.output.empty())
    options.model.predictions = {options.output};
  takeCommon(options.model, options.common);
  auto model =
      Generator::open(options.model, options.input, options.common.compiler());
  if (!model)
    return model.takeError();
  std::vector<GrowingText> texts(model->texts(),
                                 {*request->tokenizer, request->prompt});
  std::vector<Tokens> rows(texts.size(), request->prompt);
  Sampler sampler(options.sampling);
  bool streams = texts.size() == 1 && !options.numbers;
  uint64_t count = 0;
  double seconds = 0;
  for (bool goesOn = true; goesOn && count < options.length; ++count) {
    auto begin = std::chrono::steady_clock::now();
    auto logits = model->take(rows);
    if (!logits)
      return logits.takeError();
    auto grown = grow(texts, *logits, sampler, *request, rows);
    if (!grown)
      return grown.takeError();
    goesOn = *grown;
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin;
    seconds += count ? passed.count() : 0; // the first has the prompt
    if (streams)
      texts[0].print(/*isEnd=*/false);
  }
  for (GrowingText &text : texts) {
    if (options.numbers)
      text.printNumbers();
    else
      text.print(/*isEnd=*/true);
    outs() << "\n";
    if (!options.numbers && &text != &texts.back())
      outs() << "---\n";
  }
  if (!options.quiet && count > 1)
    note(formatv("{0} tokens, {1:f2} ms for each: {2:f1} a second",
                 count * texts.size(), 1000 * seconds / (count - 1),
                 (count - 1) * texts.size() / seconds)
             .str());
  return Error::success();
}

} // namespace

int generate(ArrayRef<const char *> arguments) {
  GenerateOptions options;
  options.model.batch = 1;
  auto others = describe(options).parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  if (options.tokenizer.empty())
    return report(make_error<UsageError>("--tokenizer is needed: what the "
                                         "tokens of the model stand for"));
  if (Error error = execute(options, (*others)->front()))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
