//===- TuneModules.cpp - modules that a tuner measures --------------------===//
#include "codegen/cuda/contraction/TuneModules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mp;
using namespace mp::cuda;
using Kind = ConvolutionSizes::Kind;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static TensorType matrix(const GemmShape &shape, bool broadcast,
                         bool transposed, int64_t rows, int64_t columns) {
  TensorType type{shape.type, {rows, columns}};
  if (transposed)
    std::swap(type.shape[0], type.shape[1]);
  if (shape.batch > 1 && !broadcast)
    type.shape.insert(type.shape.begin(), shape.batch);
  return type;
}

static TunedTensors tensors(const GemmShape &s) {
  return {matrix(s, s.broadcastA, s.transposeA, s.m, s.k),
          matrix(s, s.broadcastB, s.transposeB, s.k, s.n),
          matrix(s, false, false, s.m, s.n)};
}

static TunedTensors tensors(const ConvolutionSizes &s) {
  TensorType input{s.type, s.inputSizes()}, weight{s.type, s.weightSizes()},
      output{s.type, s.outputSizes()};
  switch (s.kind) {
  case Kind::Forward:
    return {input, weight, output};
  case Kind::BackwardInput:
    return {output, weight, input};
  case Kind::BackwardWeight:
    return {output, input, weight};
  }
  llvm_unreachable("all kinds are handled");
}

TunedTensors mp::cuda::tensorsOf(const TunedShape &shape) {
  return std::visit([](const auto &one) { return tensors(one); }, shape);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the op's name.
static std::string opName(const GemmShape &) { return "mp.matmul"; }
static std::string opName(const ConvolutionSizes &sizes) {
  return sizes.kind == Kind::Forward ? "mp.conv2d"
                                     : ("mp.conv2d_" + sizes.kindName()).str();
}

/// Returns what stands between the operands and their types.
static std::string attributes(const GemmShape &shape) {
  return std::string(shape.transposeA ? " transpose_a" : "") +
         (shape.transposeB ? " transpose_b" : "") +
         (shape.tf32 ? " {compute = tf32}" : "");
}
static std::string attributes(const ConvolutionSizes &sizes) {
  auto two = [](const char *name, const std::array<int64_t, 2> &pair) {
    return llvm::formatv(" {0}[{1}, {2}]", name, pair[0], pair[1]).str();
  };
  std::string text;
  if (sizes.kind != Kind::Forward)
    text += two("size",
                sizes.kind == Kind::BackwardInput ? sizes.input : sizes.window);
  return text + two("strides", sizes.strides) + two("low", sizes.low) +
         two("high", sizes.high) + two("dilations", sizes.dilations) +
         llvm::formatv(" groups({0})", sizes.groups).str() +
         (sizes.tf32 ? " {compute = tf32}" : "");
}

namespace {
/// The text of an op and of its types.
struct OpText {
  explicit OpText(const TunedShape &shape) {
    TunedTensors tensors = tensorsOf(shape);
    auto text = [](const TensorType &type) {
      return "tensor<" + type.str() + ">";
    };
    a = text(tensors.a), b = text(tensors.b), c = text(tensors.c);
    std::visit(
        [&](const auto &one) {
          name = opName(one);
          rest = attributes(one) + " : " + a + ", " + b;
        },
        shape);
  }

  std::string op(const std::string &left, const std::string &right) const {
    return name + " " + left + ", " + right + rest + "\n";
  }

  std::string a, b, c;

private:
  std::string name, rest;
};
} // namespace

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::vector<TunedShape> mp::cuda::shapesOf(const Program &program) {
  std::vector<TunedShape> shapes;
  auto add = [&](auto parsed) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    else if (!llvm::is_contained(shapes, TunedShape(*parsed)))
      shapes.push_back(*parsed);
  };
  for (const Kernel &kernel : program.kernels) {
    llvm::StringRef line = llvm::StringRef(kernel.code).split('\n').first;
    line = line.split(" = ").first;
    if (line.consume_front("// gemm "))
      add(GemmShape::parse(line));
    else if (line.consume_front("// conv "))
      add(ConvolutionSizes::parse(line));
  }
  return shapes;
}

std::string mp::cuda::moduleOf(const TunedShape &shape) {
  OpText text(shape);
  return "func.func @product(%a: " + text.a + ", %b: " + text.b + ") -> " +
         text.c + " {\n  %c = " + text.op("%a", "%b") +
         "  return %c : " + text.c + "\n}\n";
}

std::string mp::cuda::benchmarkOf(const TunedShape &shape,
                                  llvm::StringRef function, unsigned copies) {
  OpText text(shape);
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
