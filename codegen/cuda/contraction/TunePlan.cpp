//===- TunePlan.cpp - configs of products by shape ------------------------===//
#include "codegen/cuda/contraction/TunePlan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mp;
using namespace mp::cuda;

static constexpr llvm::StringLiteral kHeading = "mp.plan 1 ";
static constexpr llvm::StringLiteral kCublaslt = "cublaslt";

/// Reads "gemm SHAPE = CHOICE".
static llvm::Error parseGemm(llvm::StringRef line, TunePlan &plan) {
  if (!line.consume_front("gemm ") || !line.contains(" = "))
    return llvm::createStringError("expected 'gemm SHAPE = CONFIG'");
  auto [shapeText, choiceText] = line.split(" = ");
  auto shape = GemmShape::parse(shapeText.trim());
  if (!shape)
    return shape.takeError();
  TunePlan::Choice choice;
  if (choiceText.trim() != kCublaslt) {
    auto config = GemmConfig::parse(choiceText.trim());
    if (!config)
      return config.takeError();
    if (std::string why = whyNot(*shape, *config, plan.arch); !why.empty())
      return llvm::createStringError("'" + config->str() +
                                     "' cannot be: " + why);
    choice.config = *config;
  }
  if (!plan.gemms.try_emplace(shape->str(), choice).second)
    return llvm::createStringError("'" + shape->str() + "' stands here twice");
  return llvm::Error::success();
}

llvm::Expected<TunePlan> TunePlan::parse(llvm::StringRef text,
                                         llvm::StringRef name) {
  TunePlan plan;
  bool headed = false;
  unsigned number = 0;
  auto parseLine = [&](llvm::StringRef line) -> llvm::Error {
    if (headed)
      return parseGemm(line, plan);
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
  for (const auto &[shape, choice] : gemms)
    text += "gemm " + shape + " = " +
            (choice.config ? choice.config->str() : kCublaslt.str()) + "\n";
  return text;
}

std::string TunePlan::hash() const {
  return llvm::utohexstr(llvm::xxh3_64bits(str()), /*LowerCase=*/true,
                         /*Width=*/16);
}

//===----------------------------------------------------------------------===//
// Modules for a tuner
//===----------------------------------------------------------------------===//

std::vector<GemmShape> mp::cuda::productsOf(const Program &program) {
  std::vector<GemmShape> shapes;
  for (const Kernel &kernel : program.kernels) {
    llvm::StringRef line = llvm::StringRef(kernel.code).split('\n').first;
    if (!line.consume_front("// gemm "))
      continue;
    auto shape = GemmShape::parse(line.split(" = ").first);
    if (!shape)
      llvm::consumeError(shape.takeError());
    else if (!llvm::is_contained(shapes, *shape))
      shapes.push_back(*shape);
  }
  return shapes;
}

namespace {
/// The text of a product's types and op.
struct ProductText {
  explicit ProductText(const GemmShape &s)
      : a(tensor(s, s.broadcastA, s.transposeA, s.m, s.k)),
        b(tensor(s, s.broadcastB, s.transposeB, s.k, s.n)),
        c(tensor(s, false, false, s.m, s.n)) {
    attributes = std::string(s.transposeA ? " transpose_a" : "") +
                 (s.transposeB ? " transpose_b" : "") +
                 (s.tf32 ? " {compute = tf32}" : "") + " : " + a + ", " + b;
  }

  std::string op(const std::string &left, const std::string &right) const {
    return "mp.matmul " + left + ", " + right + attributes + "\n";
  }

  std::string a, b, c, attributes;

private:
  static std::string tensor(const GemmShape &shape, bool broadcast,
                            bool transposed, int64_t rows, int64_t columns) {
    TensorType type{shape.type, {rows, columns}};
    if (transposed)
      std::swap(type.shape[0], type.shape[1]);
    if (shape.batch > 1 && !broadcast)
      type.shape.insert(type.shape.begin(), shape.batch);
    return "tensor<" + type.str() + ">";
  }
};
} // namespace

std::string mp::cuda::moduleOf(const GemmShape &shape) {
  ProductText text(shape);
  return "func.func @product(%a: " + text.a + ", %b: " + text.b + ") -> " +
         text.c + " {\n  %c = " + text.op("%a", "%b") +
         "  return %c : " + text.c + "\n}\n";
}

std::string mp::cuda::benchmarkOf(const GemmShape &shape,
                                  llvm::StringRef function, unsigned copies) {
  ProductText text(shape);
  auto variable = [](const std::string &name, const std::string &type) {
    return "mp.variable buffer @" + name + " : " + type +
           " = #mp.init<uniform, a = -1.0, b = 1.0>\n";
  };
  std::string variables = variable("b", text.b),
              body = "  %b = mp.read @b : " + text.b + "\n";
  for (unsigned i = 0; i < copies; ++i) {
    std::string copy = std::to_string(i);
    variables += variable("a" + copy, text.a) + variable("c" + copy, text.c);
    body += "  %a" + copy + " = mp.read @a" + copy + " : " + text.a + "\n  %c" +
            copy + " = " + text.op("%a" + copy, "%b") + "  mp.write @c" + copy +
            ", %c" + copy + " : " + text.c + "\n";
  }
  return variables + "func.func @" + function.str() + "() {\n" + body +
         "  return\n}\n";
}
