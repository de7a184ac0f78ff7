//===- Generate.cpp - mp-run generate -------------------------------------===//
#include "program/Limits.h"
#include "runtime/data/Array.h"
#include "runtime/text/TokenFile.h"
#include "runtime/train/TextWriter.h"
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

/// The most texts that are written at once.
constexpr uint64_t kMostTexts = 4096;

struct GenerateOptions {
  EvalOptions model;
  CommonOptions common;
  WritingOptions writing;
  std::string tokenizer, promptFile, promptsFile, until, output, input;
  std::vector<std::string> prompts;
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
      "one, and printed as they\ncome. A network of two texts, such as T5, "
      "reads "
      "the prompt and writes the other one."};
  command.positional = 1;
  auto &[model, common, writing, tokenizer, promptFile, promptsFile, until,
         output, input, prompts, quiet, numbers] = options;
  command.options = {
      text("module", "FILE", model.module, "the module (that of the run)",
           Names::Input),
      text("tokenizer", "TOKENIZER", tokenizer,
           "bytes, a tokenizer.json, a .model of SentencePiece, or the "
           "FILE.json that mp-data tokenize wrote"),
      list(
          "prompt", "TEXT", prompts,
          "what a text begins with, or is written from (a line's end); several "
          "are several texts"),
      text("prompt-file", "FILE", promptFile, "a file that has it",
           Names::Input),
      text("prompts", "FILE", promptsFile,
           "a file with a prompt in each line, for a text each", Names::Input),
      number(
          "length", [&](uint64_t n) { writing.length = n; }, 1, kMostElements,
          "how many tokens are written to each text (256)"),
      word("until", "TOKEN", until,
           "end at this token, such as '<|endoftext|>'"),
      upTo("temperature", writing.sampling.temperature, 100,
           "divides the logits: 0 takes the most probable token (1)"),
      number(
          "top-k", [&](uint64_t n) { writing.sampling.topK = n; }, 1,
          kMostTokens, "draw from the K most probable tokens (all)"),
      upTo("top-p", writing.sampling.topP, 1,
           "draw from the most probable tokens whose probabilities add up "
           "to X (1)"),
      number(
          "seed", [&](uint64_t n) { writing.sampling.seed = n; }, 0, UINT64_MAX,
          "of what is drawn (0)"),
      number(
          "samples", [&](uint64_t n) { writing.samples = n; }, 1, kMostTexts,
          "how many texts are written for each prompt (1)"),
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

  void add(Token token) { tokens.push_back(token); }
  /// Prints what is new, in whole characters unless it is the end.
  void print(bool isEnd) {
    ArrayRef<Token> known = tokens;
    if (!isEnd)
      known = known.take_front(tokenizer.settled(tokens));
    std::string text = tokenizer.decode(known);
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
};

/// What has been read before the model is opened.
struct Request {
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<Tokens> prompts;
};

/// A prompt, and what errors call it.
struct Prompt {
  std::string name, text;
};

Expected<std::vector<Prompt>> readPrompts(const GenerateOptions &options) {
  std::vector<Prompt> prompts;
  for (auto [i, text] : enumerate(options.prompts))
    prompts.push_back({options.prompts.size() == 1
                           ? "the prompt"
                           : formatv("prompt {0}", i + 1).str(),
                       text});
  if (!options.promptFile.empty()) {
    auto file = readFile(options.promptFile);
    if (!file)
      return file.takeError();
    prompts.push_back({"the prompt", (*file)->getBuffer().str()});
  }
  if (!options.promptsFile.empty()) {
    auto file = readFile(options.promptsFile);
    if (!file)
      return file.takeError();
    StringRef rest = (*file)->getBuffer();
    for (size_t line = 1; !rest.empty(); ++line) {
      auto [text, after] = rest.split('\n');
      prompts.push_back(
          {formatv("{0}:{1}", options.promptsFile, line).str(), text.str()});
      rest = after;
    }
    if (prompts.empty())
      return makeError("{0}: has no line", options.promptsFile);
  }
  if (prompts.empty())
    prompts.push_back({"the prompt", "\n"});
  if (prompts.size() > kMostTexts / options.writing.samples)
    return makeError("{0} prompts with {1} samples of each are more than {2} "
                     "texts",
                     prompts.size(), options.writing.samples, kMostTexts);
  return prompts;
}

Expected<Request> read(GenerateOptions &options) {
  Request request;
  if (options.tokenizer == "characters")
    return makeError("which characters they are is in the FILE.json that "
                     "mp-data tokenize wrote: --tokenizer FILE.json");
  auto tokenizer = TokenizerChoice(options.tokenizer).make();
  if (!tokenizer)
    return tokenizer.takeError();
  request.tokenizer = std::move(*tokenizer);
  // A vocabulary may be filled up with tokens that have no text.
  if (!options.numbers)
    options.writing.known = request.tokenizer->vocabularySize();
  auto prompts = readPrompts(options);
  if (!prompts)
    return prompts.takeError();
  for (const auto &[name, text] : *prompts) {
    Tokens &tokens = request.prompts.emplace_back();
    if (Error error = request.tokenizer->encode(text, tokens))
      return makeError("{0}: {1}", name, toString(std::move(error)));
    if (tokens.empty())
      return makeError("{0} has no token", name);
  }
  if (options.until.empty())
    return request;
  options.writing.end = request.tokenizer->find(options.until);
  if (!options.writing.end)
    return makeError("the vocabulary has no token '{0}' to end at",
                     withoutControls(options.until));
  return request;
}

Expected<Generator> open(GenerateOptions &options, StringRef run,
                         const Request &request) {
  options.model.checkpoint = run.str();
  if (options.model.module.empty()) {
    auto module = moduleOf(run);
    if (!module)
      return module.takeError();
    options.model.module = std::move(*module);
  }
  if (!options.output.empty())
    options.model.predictions = {options.output};
  options.model.batch = request.prompts.size() * options.writing.samples;
  takeCommon(options.model, options.common);
  return Generator::open(options.model, options.input,
                         options.common.compiler());
}

/// How long tokens took. The first ones have the prompts in them.
struct Times {
  uint64_t rounds = 0, tokens = 0, afterFirst = 0;
  double seconds = 0;

  void add(size_t written, double passed) {
    tokens += written;
    if (rounds++ == 0)
      return;
    afterFirst += written;
    seconds += passed;
  }
  void print() const {
    if (rounds > 1)
      note(formatv("{0} tokens, {1:f2} ms for each: {2:f1} a second", tokens,
                   1000 * seconds / (rounds - 1), afterFirst / seconds)
               .str());
  }
};

/// Writes all texts. One alone is printed as it comes.
Error write(TextWriter &writer, MutableArrayRef<GrowingText> texts,
            const GenerateOptions &options, Times &times) {
  bool streams = texts.size() == 1 && !options.numbers;
  while (true) {
    auto begin = std::chrono::steady_clock::now();
    auto written = writer.next();
    if (!written)
      return written.takeError();
    if (written->empty())
      return Error::success();
    for (const WrittenToken &token : *written)
      if (token.token != options.writing.end)
        texts[token.text].add(token.token);
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin;
    times.add(written->size(), passed.count());
    if (streams)
      texts[0].print(/*isEnd=*/false);
  }
}

/// Tells of a tokenizer that is not the one of the run's text. A vocabulary
/// that is filled up to a round number is no sign of that.
void checkTokenizer(const GenerateOptions &options, const Request &request,
                    const Generator &model) {
  int64_t known = request.tokenizer->vocabularySize();
  if (!options.numbers && model.vocabulary() > known + known / 4)
    note(formatv("the network has {0} tokens, of which --tokenizer {1} has {2} "
                 "alone: is its text divided by another one?",
                 model.vocabulary(), options.tokenizer, known)
             .str());
}

Error execute(GenerateOptions &options, StringRef run) {
  auto request = read(options);
  if (!request)
    return request.takeError();
  auto model = open(options, run, *request);
  if (!model)
    return model.takeError();
  checkTokenizer(options, *request, *model);
  std::vector<GrowingText> texts;
  for (Tokens &prompt : request->prompts) {
    for (int64_t i = 0; i < options.writing.samples; ++i)
      texts.emplace_back(*request->tokenizer,
                         model->hasSource() ? Tokens() : prompt);
    if (!model->hasSource() &&
        prompt.size() > static_cast<uint64_t>(model->context()))
      prompt.erase(prompt.begin(), prompt.end() - model->remembered());
  }
  auto writer = TextWriter::begin(*model, request->prompts, options.writing);
  if (!writer)
    return writer.takeError();
  Times times;
  if (Error error = write(*writer, texts, options, times))
    return error;
  for (GrowingText &text : texts) {
    if (options.numbers)
      text.printNumbers();
    else
      text.print(/*isEnd=*/true);
    outs() << "\n";
    if (!options.numbers && &text != &texts.back())
      outs() << "---\n";
  }
  outs().flush(); // so that the times come after it
  if (!options.quiet)
    times.print();
  return Error::success();
}

} // namespace

int generate(ArrayRef<const char *> arguments) {
  GenerateOptions options;
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
