//===- Tokenize.cpp - mp-data tokenize ------------------------------------===//
#include "tools/data/Tokenize.h"
#include "program/Limits.h"
#include "support/Error.h"
#include "tools/data/Commands.h"

using namespace llvm;

namespace mp::tool {

Expected<tokenizers::Token> findToken(const tokenizers::Tokenizer &tokenizer,
                                      StringRef option, StringRef name) {
  if (std::optional<tokenizers::Token> token = tokenizer.find(name))
    return *token;
  return makeError("--{0}: the vocabulary has no token '{1}'", option, name);
}

static Command describe(TokenizeOptions &options) {
  Command command{
      "tokenize", "INPUT... --tokenizer TOKENIZER --out FILE [options]",
      "Writes the tokens of texts as a file of uint16 or uint32 without a "
      "header, and what it\nholds as FILE.json. With --field, writes an array "
      "in NumPy's format, of the tokens of a\nfield in each row of JSON lines "
      "or, by the ending of the name, .csv or .tsv."};
  command.positional = 1;
  command.optional = kMostCount;
  command.called = "the input";
  command.options = {
      text("tokenizer", "TOKENIZER", options.tokenizer,
           "bytes, characters (those of the inputs), or a file: a "
           "tokenizer.json, a .model of SentencePiece, or the FILE.json of "
           "tokens of characters"),
      text("out", "FILE", options.out, "where the tokens are written",
           Names::Output),
      choice("dtype", options.dtype, {"uint16", "uint32"},
             "the type of a token (uint16 if it holds the vocabulary)"),
      text("validation", "FILE", options.validation,
           "where the end of the text is written, which is not for training",
           Names::Output),
      positive(
          "train-fraction",
          [&](double fraction) { options.trainFraction = fraction; },
          "the share of characters before it, if there is --validation (0.9)",
          Infinite::Refused),
      text("end", "TOKEN", options.end,
           "a token after each input, or after each text of --segments, such "
           "as <|endoftext|>"),
      text("field", "NAME", options.field, "the field of rows that is text"),
      text("pair", "NAME", options.pair,
           "the field that is the second text of a row"),
      number(
          "length", [&](uint64_t length) { options.length = length; }, 1,
          kMostCount, "tokens of a row: longer ones are cut off"),
      text("pad", "TOKEN", options.pad,
           "the token after those of shorter rows ([PAD] if there is one, else "
           "token 0)"),
      text("lengths", "FILE", options.lengths,
           "where the numbers of tokens of the rows are written, as int32",
           Names::Output),
      text("types", "FILE", options.types,
           "where it is written which tokens are of the second text, 0 or 1 as "
           "uint8",
           Names::Output),
      text("segments", "FILE", options.segments,
           "pack several texts into a row, and write which of them a token is "
           "of: 1, 2, ..., and 0 for padding, as uint16",
           Names::Output),
      text("positions", "FILE", options.positions,
           "where the places of tokens in their texts are written, as uint16",
           Names::Output),
      text("label", "NAME", options.label, "the field that is the class"),
      text("labels", "FILE", options.labels,
           "where the classes are written, as int32", Names::Output),
      text("classes", "FILE", options.classes,
           "a FILE.json, for labels with the numbers that they have there",
           Names::Input),
      flag("no-special-tokens", options.specialTokens, false,
           "leave out the tokens around rows that the tokenizer's file asks "
           "for"),
  };
  return command;
}

/// Fails if options do not go with those that pack texts into rows.
static Error checkPacked(const TokenizeOptions &options) {
  if (!options.pair.empty() || !options.label.empty() ||
      !options.labels.empty() || !options.lengths.empty() ||
      !options.types.empty())
    return make_error<UsageError>("--segments does not go with --pair, "
                                  "--label, --labels, --lengths or --types");
  if (options.length > UINT16_MAX)
    return make_error<UsageError>("--segments takes a --length of at most "
                                  "65535");
  return Error::success();
}

/// Fails if options do not go together.
static Error check(const TokenizeOptions &options) {
  auto wrong = [](const char *message) {
    return make_error<UsageError>(message);
  };
  if (options.tokenizer.empty() || options.out.empty())
    return wrong("tokenize needs --tokenizer and --out");
  if (options.trainFraction >= 1)
    return wrong("--train-fraction takes a number below 1");
  bool hasRowOptions = options.length || !options.pad.empty() ||
                       !options.pair.empty() || !options.lengths.empty() ||
                       !options.types.empty() || !options.label.empty() ||
                       !options.labels.empty() || !options.classes.empty() ||
                       options.isPacked() || !options.positions.empty();
  if (!options.isOfRows())
    return hasRowOptions
               ? wrong("--pair, --length, --pad, --lengths, --types, --label, "
                       "--labels, --classes, --segments and --positions need "
                       "--field")
               : Error::success();
  if (!options.validation.empty())
    return wrong("--field does not go with --validation");
  if (!options.length)
    return wrong("--field needs --length");
  if (options.isPacked())
    return checkPacked(options);
  if (!options.end.empty() || !options.positions.empty())
    return wrong("--field with --end or --positions needs --segments");
  if (options.label.empty() != options.labels.empty())
    return wrong("--label and --labels need each other");
  return Error::success();
}

int tokenize(ArrayRef<const char *> arguments) {
  TokenizeOptions options;
  auto inputs = describe(options).parse(arguments);
  if (!inputs)
    return report(inputs.takeError());
  if (!*inputs)
    return 0;
  options.inputs = **inputs;
  Error error = check(options);
  if (!error)
    error = options.isOfRows() ? tokenizeRows(options) : tokenizeTexts(options);
  return error ? report(std::move(error)) : 0;
}

} // namespace mp::tool
