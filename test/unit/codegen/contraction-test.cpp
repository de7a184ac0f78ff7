//===- contraction-test.cpp - matrix products on the CPU ------------------===//
//
// Generated matrix products against sums in double (or exact integers).
//
//===----------------------------------------------------------------------===//
#include "ContractionRun.h"

#include "llvm/ADT/APFloat.h"
#include <random>

using namespace mlir;
using namespace mp::cpu;

namespace {

class ContractionTest : public ::testing::Test {
protected:
  static ContractionRun &run() {
    static ContractionRun *run =
        new ContractionRun(llvm::cantFail(Target::get("", "")));
    return *run;
  }
  static ContractionSpec spec(int64_t m, int64_t n, int64_t k, Type type) {
    ContractionSpec spec;
    spec.m = m, spec.n = n, spec.k = k;
    spec.a = spec.b = spec.c = type;
    return spec;
  }
  static Builder types() { return Builder(&run().context); }
};

/// Operands of small numbers that every type holds, and the expected sums.
struct Problem {
  explicit Problem(const ContractionSpec &spec) : spec(spec) {
    for (int64_t size : spec.batch)
      batch *= size;
    std::mt19937 random(7);
    auto fill = [&](std::vector<double> &values, int64_t count, Type type) {
      bool isFloat = isa<FloatType>(type);
      values.resize(count);
      for (double &value : values) {
        int64_t x = random() % 17;
        value = isFloat ? (x - 8) / 8.0 : type.isUnsignedInteger() ? x : x - 8;
      }
    };
    fill(a, (spec.broadcastA ? 1 : batch) * spec.m * spec.k, spec.a);
    fill(b, (spec.broadcastB ? 1 : batch) * spec.k * spec.n, spec.b);
    if (spec.bias)
      fill(bias, spec.n, *spec.bias);
    c.resize(batch * spec.m * spec.n);
    for (int64_t i = 0; i < batch; ++i)
      product(i);
  }

  void product(int64_t index) {
    const double *x =
        a.data() + (spec.broadcastA ? 0 : index * spec.m * spec.k);
    const double *y =
        b.data() + (spec.broadcastB ? 0 : index * spec.k * spec.n);
    for (int64_t i = 0; i < spec.m; ++i)
      for (int64_t j = 0; j < spec.n; ++j) {
        double sum = spec.bias ? bias[j] : 0;
        for (int64_t p = 0; p < spec.k; ++p)
          sum += x[spec.transposeA ? p * spec.m + i : i * spec.k + p] *
                 y[spec.transposeB ? j * spec.k + p : p * spec.n + j];
        c[(index * spec.m + i) * spec.n + j] =
            spec.relu ? std::max(sum, 0.0) : sum;
      }
  }

  ContractionSpec spec;
  int64_t batch = 1;
  std::vector<double> a, b, bias, c;
};

/// `value` rounded to `type`, once.
double rounded(double value, Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    llvm::APInt bits(64, int64_t(value), true);
    bits = bits.trunc(integer.getWidth());
    return type.isUnsignedInteger() ? double(bits.getZExtValue())
                                    : double(bits.getSExtValue());
  }
  llvm::APFloat x(value);
  bool loses;
  x.convert(cast<FloatType>(type).getFloatSemantics(),
            llvm::APFloat::rmNearestTiesToEven, &loses);
  x.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
            &loses);
  return x.convertToDouble();
}

/// Expects exact results: sums of these numbers are exact in the accumulator,
/// so the result has to be the exact one, rounded once.
void expectExact(ContractionRun &run, const ContractionSpec &spec) {
  Problem problem(spec);
  ContractionRun::Operands operands = {
      pack(problem.a, spec.a), pack(problem.b, spec.b), {}};
  if (spec.bias)
    operands.bias = pack(problem.bias, *spec.bias);
  std::vector<double> got =
      unpack(run(spec, operands, problem.c.size()), spec.c);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], rounded(problem.c[i], spec.c))
        << "element " << i << " of " << spec.m << "x" << spec.n << "x" << spec.k
        << (spec.transposeA ? " a^T" : "") << (spec.transposeB ? " b^T" : "");
}

TEST_F(ContractionTest, EverySizeAndTransposition) {
  const int64_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 129};
  // Pairs of sizes meet every third one in turn, in all four orientations.
  unsigned turn = 0;
  for (int64_t m : sizes)
    for (int64_t n : sizes) {
      ContractionSpec s =
          spec(m, n, sizes[turn * 5 % std::size(sizes)], types().getF32Type());
      s.transposeA = turn & 1;
      s.transposeB = turn & 2;
      ++turn;
      expectExact(run(), s);
    }
}

TEST_F(ContractionTest, DepthIsSummedInBlocks) {
  for (int64_t k : {191, 192, 193, 784, 1537})
    for (int orientation = 0; orientation < 4; ++orientation) {
      ContractionSpec s = spec(65, 270, k, types().getF32Type());
      s.transposeA = orientation & 1;
      s.transposeB = orientation & 2;
      expectExact(run(), s);
    }
}

TEST_F(ContractionTest, EveryType) {
  Builder b = types();
  struct Case {
    Type a, b, c;
  };
  Type f16 = b.getF16Type(), bf16 = b.getBF16Type(), f32 = b.getF32Type(),
       f64 = b.getF64Type();
  Type i8 = b.getI8Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  Type u8 = b.getIntegerType(8, /*isSigned=*/false);
  const Case cases[] = {{f16, f16, f16},   {bf16, bf16, bf16}, {f64, f64, f64},
                        {f16, f16, f32},   {bf16, bf16, f32},  {f32, f16, f16},
                        {f32, bf16, bf16}, {f64, f32, f32},    {f32, f32, f64},
                        {i8, i8, i32},     {u8, i8, i32},      {i32, i32, i32},
                        {i64, i64, i64},   {i8, i8, i8}};
  for (const Case &c : cases)
    for (int orientation = 0; orientation < 4; ++orientation) {
      ContractionSpec s = spec(19, 45, 21, c.a);
      s.b = c.b;
      s.c = c.c;
      s.bias = c.c;
      s.relu = orientation == 1;
      s.transposeA = orientation & 1;
      s.transposeB = orientation & 2;
      expectExact(run(), s);
    }
}

// Tile registers have edges of their own: 16 rows, 32 steps, 1024 steps at
// once.
TEST_F(ContractionTest, BFloatsOfEverySizeAndTransposition) {
  const int64_t sizes[] = {1, 15, 16, 17, 32, 33, 48, 64, 130};
  const int64_t depths[] = {1, 2, 31, 32, 33, 64, 95, 96, 320, 1100, 2048};
  unsigned turn = 0;
  for (int64_t m : sizes)
    for (int64_t n : sizes) {
      ContractionSpec s = spec(m, n, depths[turn * 5 % std::size(depths)],
                               types().getBF16Type());
      s.c = types().getF32Type();
      s.transposeA = turn % 3 == 1;
      s.transposeB = turn & 1;
      ++turn;
      expectExact(run(), s);
    }
  // The gradient of a weight sums over many more steps than it has elements.
  for (int64_t n : {16, 70})
    for (bool transposeB : {false, true}) {
      ContractionSpec s = spec(40, n, 1037, types().getBF16Type());
      s.batch = {2};
      s.transposeA = true;
      s.transposeB = transposeB;
      expectExact(run(), s);
    }
}

// A copy of an A of over 32 MiB, such as the gradient of logits, would take as
// much memory again: items pack the parts of it that they sum.
TEST_F(ContractionTest, LargeOperandsAreNotCopied) {
  ContractionSpec s = spec(4100, 20, 4101, types().getBF16Type());
  s.c = types().getF32Type();
  s.transposeA = true;
  expectExact(run(), s);
  auto kernel = emitContraction(&run().context, s, 2, run().compiler);
  ASSERT_TRUE(succeeded(kernel));
  ASSERT_EQ(kernel->temporaries.size(), 1u);
  EXPECT_LT(kernel->temporaries[0], 1u << 20) << "more than a copy of B";
}

// A few rows are summed along the lines of B, sixteen elements at once.
TEST_F(ContractionTest, AFewRows) {
  Builder b = types();
  unsigned turn = 0;
  for (int64_t m : {1, 2, 4, 5})
    for (int64_t n : {1, 3, 15, 16, 17, 50})
      for (int64_t k : {31, 32, 33, 47, 64, 100, 769}) {
        const Type elements[] = {b.getF32Type(), b.getF16Type(),
                                 b.getBF16Type()};
        ContractionSpec s = spec(m, n, k, elements[turn % 3]);
        s.transposeB = true;
        if (turn % 2)
          s.c = b.getF32Type();
        if (turn % 5 < 2)
          s.bias = s.c;
        s.relu = turn % 5 == 1;
        ++turn;
        expectExact(run(), s);
      }
}

TEST_F(ContractionTest, BiasAndRelu) {
  for (int64_t n : {1, 10, 32, 300})
    for (bool relu : {false, true}) {
      ContractionSpec s = spec(9, n, 12, types().getF16Type());
      s.bias = types().getF32Type();
      s.relu = relu;
      expectExact(run(), s);
    }
}

TEST_F(ContractionTest, BatchesAndBroadcasts) {
  for (ContractionSpec s : {spec(5, 34, 6, types().getF32Type()),
                            spec(32, 50, 64, types().getBF16Type())})
    for (int orientation = 0; orientation < 4; ++orientation)
      for (int broadcast = 0; broadcast < 4; ++broadcast) {
        s.batch = {2, 3};
        s.transposeA = orientation & 1;
        s.transposeB = orientation & 2;
        s.broadcastA = broadcast & 1;
        s.broadcastB = broadcast & 2;
        expectExact(run(), s);
      }
}

/// Normally distributed operands, which round in every step.
ContractionRun::Operands normalOperands(const ContractionSpec &spec) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> a(spec.m * spec.k), b(spec.k * spec.n);
  for (std::vector<double> *values : {&a, &b})
    for (double &value : *values)
      value = normal(random);
  return {pack(a, spec.a), pack(b, spec.b), {}};
}

TEST_F(ContractionTest, SplittingALaunchKeepsTheBits) {
  ContractionSpec s = spec(200, 600, 300, types().getBF16Type());
  s.transposeB = true;
  ContractionRun::Operands operands = normalOperands(s);
  EXPECT_EQ(run()(s, operands, s.m * s.n),
            run()(s, operands, s.m * s.n, /*scatter=*/true));
}

/// The first rows of a product, whose A is copied, are those of the whole,
/// whose A is too large for that, with more columns than a block has.
TEST_F(ContractionTest, PackingPartsKeepsTheBits) {
  ContractionSpec whole = spec(4200, 1100, 4001, types().getBF16Type());
  ContractionSpec half = whole;
  half.m = 2100;
  ContractionRun::Operands operands = normalOperands(whole);
  std::string all = run()(whole, operands, whole.m * whole.n);
  operands.a.resize(operands.a.size() / 2);
  std::string first = run()(half, operands, half.m * half.n);
  EXPECT_TRUE(first == all.substr(0, first.size()));
}

/// A b that other products share is prepared by a launch that reads nothing
/// else, and no bit depends on that.
TEST_F(ContractionTest, KeptOperands) {
  Builder b = types();
  for (Type type : {Type(b.getF32Type()), Type(b.getBF16Type()),
                    Type(b.getF16Type()), Type(b.getF64Type())})
    for (int64_t m : {2, 20, 65})
      for (int orientation = 0; orientation < 4; ++orientation) {
        ContractionSpec s = spec(m, 77, 5 + 70 * m, type);
        s.transposeA = orientation & 1;
        s.transposeB = orientation & 2;
        ContractionRun::Operands operands = normalOperands(s);
        std::string expected = run()(s, operands, s.m * s.n);
        s.keepsB = true;
        EXPECT_EQ(run()(s, operands, s.m * s.n), expected);
        expectExact(run(), s);
      }
}

TEST_F(ContractionTest, KeptOperandsOfABatch) {
  for (bool shared : {false, true}) {
    ContractionSpec s = spec(6, 70, 130, types().getF32Type());
    s.batch = {3};
    s.broadcastB = shared;
    s.transposeA = s.keepsB = true;
    expectExact(run(), s);
    auto kernel = emitContraction(&run().context, s, 2, run().compiler);
    ASSERT_TRUE(succeeded(kernel));
    EXPECT_EQ(kernel->launches.size(), shared ? 2u : 1u);
  }
}

TEST_F(ContractionTest, SumsPartsInOrderOnEveryTarget) {
  ContractionRun v3(llvm::cantFail(Target::get("x86-64-v3", "")));
  ContractionSpec s = spec(37, 50, 401, Builder(&v3.context).getF32Type());
  ContractionRun::Operands operands = normalOperands(s);
  std::vector<double> a = unpack(operands.a, s.a), b = unpack(operands.b, s.b);
  std::vector<double> expected(s.m * s.n);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      constexpr int64_t parts = 4; // of 401, none longer than 128
      float sum = 0;
      for (int64_t part = 0; part < parts; ++part) {
        float own = 0;
        for (int64_t p = part * s.k / parts; p < (part + 1) * s.k / parts; ++p)
          own = std::fma(float(a[i * s.k + p]), float(b[p * s.n + j]), own);
        sum = part ? sum + own : own;
      }
      expected[i * s.n + j] = sum;
    }
  EXPECT_EQ(unpack(v3(s, operands, s.m * s.n), s.c), expected);
  s.a = s.b = s.c = types().getF32Type();
  EXPECT_EQ(unpack(run()(s, operands, s.m * s.n), s.c), expected);
}

/// A single chain over all of k would stop growing at 2^24.
TEST_F(ContractionTest, LongSumsKeepTheirDigits) {
  ContractionSpec s = spec(1, 1, 1 << 25, types().getF32Type());
  std::vector<double> ones(s.k, 1);
  ContractionRun::Operands operands = {pack(ones, s.a), pack(ones, s.b), {}};
  EXPECT_EQ(unpack(run()(s, operands, 1), s.c),
            std::vector<double>{double(1 << 25)});
}

TEST_F(ContractionTest, NaNPassesThroughRelu) {
  ContractionSpec s = spec(1, 3, 1, types().getF32Type());
  s.relu = true;
  ContractionRun::Operands operands = {
      pack({1}, s.a), pack({NAN, -2, INFINITY}, s.b), {}};
  std::vector<double> c = unpack(run()(s, operands, 3), s.c);
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0);
  EXPECT_EQ(c[2], INFINITY);
}

TEST_F(ContractionTest, OlderMachinesToo) {
  ContractionRun v3(llvm::cantFail(Target::get("x86-64-v3", "")));
  Builder b(&v3.context);
  for (Type type :
       {Type(b.getF32Type()), Type(b.getBF16Type()), Type(b.getF16Type())})
    for (bool transposed : {false, true}) {
      ContractionSpec s = spec(13, 41, 300, type);
      s.transposeA = s.transposeB = transposed;
      expectExact(v3, s);
    }
}

TEST_F(ContractionTest, MixedKindsAreRefused) {
  ContractionSpec s = spec(2, 2, 2, types().getF32Type());
  s.b = types().getI32Type();
  std::string message;
  ScopedDiagnosticHandler handler(&run().context,
                                  [&](Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(emitContraction(&run().context, s, 1, run().compiler)));
  EXPECT_EQ(
      message,
      "contraction of 'f32' and 'i32' to 'f32' mixes floats and integers");
}

} // namespace
