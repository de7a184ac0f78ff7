//===- TunePlan.cpp - kernels chosen by measurement -----------------------===//
#include "codegen/cuda/contraction/TunePlan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mp;
using namespace mp::cuda;

static constexpr llvm::StringLiteral kHeading = "mp.plan 1 ";

namespace {
/// What plans call a kind of shape, and the library that has kernels for it.
struct Words {
  llvm::StringLiteral kind, library;
};
constexpr Words kGemm{"gemm", "cublaslt"}, kConv{"conv", "cudnn"};
} // namespace

static const Words &wordsOf(const TunedShape &shape) {
  return std::holds_alternative<GemmShape>(shape) ? kGemm : kConv;
}

std::string mp::cuda::lineOf(const TunedShape &shape) {
  return std::visit(
      [&](const auto &one) {
        return wordsOf(shape).kind.str() + " " + one.str();
      },
      shape);
}

llvm::StringRef mp::cuda::libraryOf(const TunedShape &shape) {
  return wordsOf(shape).library;
}

GemmShape mp::cuda::productOf(const TunedShape &shape) {
  if (const auto *sizes = std::get_if<ConvolutionSizes>(&shape))
    return sizes->product();
  return std::get<GemmShape>(shape);
}

/// Reads "gemm SHAPE" or "conv SHAPE".
static llvm::Expected<TunedShape> parseShape(llvm::StringRef text) {
  auto [kind, rest] = text.split(' ');
  if (kind == kConv.kind)
    return ConvolutionSizes::parse(rest.trim());
  return GemmShape::parse(rest.trim());
}

/// Reads "SHAPE = CHOICE".
static llvm::Error parseChoice(llvm::StringRef line, TunePlan &plan) {
  auto [shapeText, choiceText] = line.split(" = ");
  llvm::StringRef kind = shapeText.split(' ').first;
  if ((kind != kGemm.kind && kind != kConv.kind) || !line.contains(" = "))
    return llvm::createStringError(
        "expected 'gemm SHAPE = CONFIG' or 'conv SHAPE = CONFIG'");
  auto shape = parseShape(shapeText.trim());
  if (!shape)
    return shape.takeError();
  TunePlan::Choice choice;
  if (choiceText.trim() != libraryOf(*shape)) {
    auto config = GemmConfig::parse(choiceText.trim());
    if (!config)
      return config.takeError();
    std::string why = std::visit(
        [&](const auto &one) { return whyNot(one, *config, plan.arch); },
        *shape);
    if (!why.empty())
      return llvm::createStringError("'" + config->str() +
                                     "' cannot be: " + why);
    choice.config = *config;
  }
  if (!plan.choices.try_emplace(lineOf(*shape), choice).second)
    return llvm::createStringError("'" + lineOf(*shape) +
                                   "' stands here twice");
  return llvm::Error::success();
}

llvm::Expected<TunePlan> TunePlan::parse(llvm::StringRef text,
                                         llvm::StringRef name) {
  TunePlan plan;
  bool headed = false;
  unsigned number = 0;
  auto parseLine = [&](llvm::StringRef line) -> llvm::Error {
    if (headed)
      return parseChoice(line, plan);
    headed = true;
    if (!line.consume_front(kHeading))
      return llvm::createStringError("expected '" + kHeading + "sm_..'");
    auto arch = Arch::get(line);
    if (!arch)
      return arch.takeError();
    plan.arch = *arch;
    return llvm::Error::success();
  };
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    ++number;
    line = line.split('#').first.trim();
    if (line.empty())
      continue;
    if (llvm::Error error = parseLine(line))
      return llvm::createStringError(name + ", line " + llvm::Twine(number) +
                                     ": " + toString(std::move(error)));
  }
  if (!headed)
    return llvm::createStringError(name + ": expected '" + kHeading +
                                   "sm_..', got nothing");
  return plan;
}

std::string TunePlan::str() const {
  std::string text = kHeading.str() + arch.name() + "\n";
  for (const auto &[shape, choice] : choices) {
    const Words &words =
        llvm::StringRef(shape).starts_with(kConv.kind) ? kConv : kGemm;
    text += shape + " = " +
            (choice.config ? choice.config->str() : words.library.str()) + "\n";
  }
  return text;
}

std::string TunePlan::hash() const {
  return llvm::utohexstr(llvm::xxh3_64bits(str()), /*LowerCase=*/true,
                         /*Width=*/16);
}
