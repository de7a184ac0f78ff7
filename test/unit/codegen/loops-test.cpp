//===- loops-test.cpp - loops beside their time steps ---------------------===//
//
// A scan is a loop, or all of its time steps where it asks to be unrolled. Both
// give the same bits forward on the CPU, and gradients that differ by rounding
// alone.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mp;
using namespace llvm;

namespace {

/// A function `@f`, with UNROLL in each scan that may be unrolled.
struct Case {
  StringLiteral name, text;
  double tolerance = 0; ///< relative to the largest element
};
void PrintTo(const Case &example, std::ostream *os) {
  *os << example.name.str();
}

std::string with(StringRef text, StringRef unroll) {
  std::string made;
  for (auto [before, rest] = text.split("UNROLL");;
       std::tie(before, rest) = rest.split("UNROLL")) {
    made += before;
    if (rest.empty())
      return made;
    made += unroll;
  }
}

/// Returns the results for numbers in no order.
std::vector<Numbers> run(const std::string &text, Device device) {
  auto function = GoldenFunction::compile(text, "f", device);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << text;
    return {};
  }
  std::vector<Numbers> inputs;
  for (const Input &input : function->entry().inputs) {
    Numbers &numbers = inputs.emplace_back(input.type.elements());
    for (auto [i, number] : enumerate(numbers))
      number = float(int64_t((i + inputs.size()) * 37 % 53) / 40.0 - 0.6);
  }
  auto results = (*function)(inputs);
  if (!results) {
    ADD_FAILURE() << toString(results.takeError());
    return {};
  }
  return std::move(*results);
}

void expectSame(const std::vector<Numbers> &got,
                const std::vector<Numbers> &wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t result = 0; result < got.size(); ++result) {
    ASSERT_EQ(got[result].size(), wanted[result].size());
    double largest = 0;
    for (double number : wanted[result])
      largest = std::max(largest, std::abs(number));
    EXPECT_GT(largest, 0) << "result " << result;
    for (auto [i, numbers] : enumerate(zip(got[result], wanted[result])))
      EXPECT_NEAR(std::get<0>(numbers), std::get<1>(numbers),
                  tolerance * largest)
          << "element " << i << " of result " << result;
  }
}

const Case cases[] = {
    // Time is the second dimension; elements of 84 bytes are at odd places.
    {"cell", R"(
func.func @f(%xs: tensor<3x5x7xf32>, %h0: tensor<3x7xf32>, %w: tensor<7x7xf32>)
    -> (tensor<3x7xf32>, tensor<3x5x7xf32>) {
  %r:2 = mp.scan carried(%h = %h0 : tensor<3x7xf32>) over(%x = %xs : tensor<3x5x7xf32>) dim(1) UNROLL
      -> (tensor<3x7xf32>, tensor<3x5x7xf32>) {
    %p = mp.linear %h, %w : tensor<3x7xf32>, tensor<7x7xf32>
    %s = mp.add %p, %x : tensor<3x7xf32>, tensor<3x7xf32>
    %t = mp.tanh %s : tensor<3x7xf32>
    mp.yield %t, %t : tensor<3x7xf32>, tensor<3x7xf32>
  }
  return %r#0, %r#1 : tensor<3x7xf32>, tensor<3x5x7xf32>
})"},
    {"lastToFirst", R"(
func.func @f(%xs: tensor<6x8xf32>, %h0: tensor<8xf32>) -> (tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %r:3 = mp.scan carried(%h = %h0 : tensor<8xf32>) over(%x = %xs : tensor<6x8xf32>) reverse UNROLL
      -> (tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
    %s = mp.mul %h, %x : tensor<8xf32>, tensor<8xf32>
    %t = mp.add %s, %x : tensor<8xf32>, tensor<8xf32>
    mp.yield %t, %t, %h : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
})"},
    // Carried values change places, one stays, and one is stacked before it is
    // overwritten.
    {"places", R"(
func.func @f(%a0: tensor<4xf32>, %b0: tensor<4xf32>, %c0: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<7x4xf32>, tensor<7x4xf32>) {
  %r:5 = mp.scan carried(%a = %a0 : tensor<4xf32>, %b = %b0 : tensor<4xf32>, %c = %c0 : tensor<4xf32>) length(7) UNROLL
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<7x4xf32>, tensor<7x4xf32>) {
    %s = mp.add %a, %c : tensor<4xf32>, tensor<4xf32>
    %t = mp.sub %s, %b : tensor<4xf32>, tensor<4xf32>
    mp.yield %b, %a, %c, %b, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<7x4xf32>, tensor<7x4xf32>
})"},
    {"fibonacci", R"(
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = mp.scan carried(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) length(9) UNROLL
      -> (tensor<4xf32>, tensor<4xf32>) {
    %s = mp.add %a, %b : tensor<4xf32>, tensor<4xf32>
    mp.yield %b, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
})"},
    // Nothing is carried; numbers are stacked, and a reshape of one.
    {"map", R"(
func.func @f(%xs: tensor<5x4xf32>, %w: tensor<4xf32>) -> (tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>) {
  %r:3 = mp.scan over(%x = %xs : tensor<5x4xf32>) UNROLL -> (tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>) {
    %p = mp.mul %x, %w : tensor<4xf32>, tensor<4xf32>
    %s = mp.sum %p dims[0] : tensor<4xf32>
    %t = mp.reshape %s : tensor<f32> to tensor<1xf32>
    mp.yield %s, %t, %w : tensor<f32>, tensor<1xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<5xf32>, tensor<5x1xf32>, tensor<5x4xf32>
})"},
    // A loop in each time step of a loop, and one that another one reads.
    {"nested", R"(
func.func @f(%xs: tensor<4x3x8xf32>, %h0: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  %r:2 = mp.scan carried(%h = %h0 : tensor<8xf32>) over(%x = %xs : tensor<4x3x8xf32>) UNROLL
      -> (tensor<8xf32>, tensor<4x8xf32>) {
    %i = mp.scan carried(%g = %h : tensor<8xf32>) over(%y = %x : tensor<3x8xf32>) -> tensor<8xf32> {
      %s = mp.mul %g, %y : tensor<8xf32>, tensor<8xf32>
      %t = mp.add %s, %y : tensor<8xf32>, tensor<8xf32>
      mp.yield %t : tensor<8xf32>
    }
    mp.yield %i, %i : tensor<8xf32>, tensor<8xf32>
  }
  %q:2 = mp.scan carried(%h = %r#0 : tensor<8xf32>) over(%x = %r#1 : tensor<4x8xf32>) reverse UNROLL
      -> (tensor<8xf32>, tensor<4x8xf32>) {
    %t = mp.sub %x, %h : tensor<8xf32>, tensor<8xf32>
    mp.yield %t, %t : tensor<8xf32>, tensor<8xf32>
  }
  return %q#0, %q#1 : tensor<8xf32>, tensor<4x8xf32>
})"},
    // Each time step draws other bits, of which backward draws some again; so
    // does each of those of a loop in it.
    {"draws", R"(
func.func @f(%xs: tensor<4x5x7xf32>, %h0: tensor<4x7xf32>, %w: tensor<7x7xf32>)
    -> (tensor<4x5x7xf32>, tensor<4x5x7xf32>, tensor<4x7xf32>, tensor<7x7xf32>) {
  %r:3 = mp.scan carried(%h = %h0 : tensor<4x7xf32>) over(%x = %xs : tensor<4x5x7xf32>) dim(1) reverse UNROLL
      -> (tensor<4x7xf32>, tensor<4x5x7xf32>, tensor<4x5x7xf32>) {
    %a = mp.dropout %h {p = 0.3} : tensor<4x7xf32>
    %p = mp.linear %a, %w : tensor<4x7xf32>, tensor<7x7xf32>
    %u = mp.uniform stream(3) : tensor<4x7xf32>
    %s = mp.add %p, %x : tensor<4x7xf32>, tensor<4x7xf32>
    %i = mp.scan carried(%g = %s : tensor<4x7xf32>) length(3) -> tensor<4x7xf32> {
      %n = mp.dropout %g {p = 0.2} : tensor<4x7xf32>
      mp.yield %n : tensor<4x7xf32>
    }
    mp.yield %i, %i, %u : tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>
  }
  %q = mp.sum %r#1 dims[0, 1, 2] : tensor<4x5x7xf32>
  %g:2 = mp.gradient %q of %h0, %w : tensor<f32>, tensor<4x7xf32>, tensor<7x7xf32>
  return %r#1, %r#2, %g#0, %g#1 : tensor<4x5x7xf32>, tensor<4x5x7xf32>, tensor<4x7xf32>, tensor<7x7xf32>
})",
     1e-5},
    // Of what is carried, sliced and the same in all rounds: weights of
    // products, of sums, and one that is no sum over rows.
    {"gradients", R"(
func.func @f(%xs: tensor<4x6x8xf32>, %h0: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %m: tensor<4x8xf32>)
    -> (tensor<f32>, tensor<4x6x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %r:3 = mp.scan carried(%h = %h0 : tensor<4x8xf32>, %k = %h0 : tensor<4x8xf32>) over(%x = %xs : tensor<4x6x8xf32>)
      dim(1) UNROLL -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x6x8xf32>) {
    %p = mp.linear %h, %w, %b : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>
    %o = mp.mul %m, %k : tensor<4x8xf32>, tensor<4x8xf32>
    %s = mp.add %p, %o : tensor<4x8xf32>, tensor<4x8xf32>
    %u = mp.add %s, %x : tensor<4x8xf32>, tensor<4x8xf32>
    %t = mp.tanh %u : tensor<4x8xf32>
    mp.yield %t, %h, %o : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  %q = mp.mul %r#2, %r#2 : tensor<4x6x8xf32>, tensor<4x6x8xf32>
  %c = mp.sum %q dims[0, 1, 2] : tensor<4x6x8xf32>
  %d = mp.sum %r#0 dims[0, 1] : tensor<4x8xf32>
  %n = mp.add %c, %d : tensor<f32>, tensor<f32>
  %g:5 = mp.gradient %n of %xs, %h0, %w, %b, %m
      : tensor<f32>, tensor<4x6x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>
  return %n, %g#0, %g#1, %g#2, %g#3, %g#4
      : tensor<f32>, tensor<4x6x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>
})",
     1e-5},
    // Elements of 12 and of 60 bytes are at odd places. A weight's gradient is
    // one product of the rows of all rounds of both loops, or is carried
    // through both.
    {"nestedGradients", R"(
func.func @f(%xs: tensor<4x5x3xf32>, %h0: tensor<1x3xf32>, %w: tensor<3x3xf32>, %m: tensor<1x3xf32>)
    -> (tensor<1x3xf32>, tensor<4x5x3xf32>, tensor<4x5x3xf32>, tensor<1x3xf32>, tensor<3x3xf32>, tensor<1x3xf32>) {
  %r:2 = mp.scan carried(%h = %h0 : tensor<1x3xf32>) over(%x = %xs : tensor<4x5x3xf32>) reverse UNROLL
      -> (tensor<1x3xf32>, tensor<4x5x3xf32>) {
    %o = mp.tanh %h : tensor<1x3xf32>
    %s:2 = mp.scan carried(%g = %o : tensor<1x3xf32>) over(%y = %x : tensor<5x3xf32>) UNROLL
        -> (tensor<1x3xf32>, tensor<5x3xf32>) {
      %p = mp.linear %g, %w : tensor<1x3xf32>, tensor<3x3xf32>
      %k = mp.mul %h, %m : tensor<1x3xf32>, tensor<1x3xf32>
      %q = mp.add %p, %k : tensor<1x3xf32>, tensor<1x3xf32>
      %u = mp.add %q, %y : tensor<1x3xf32>, tensor<3xf32>
      %t = mp.tanh %u : tensor<1x3xf32>
      %l = mp.reshape %t : tensor<1x3xf32> to tensor<3xf32>
      mp.yield %t, %l : tensor<1x3xf32>, tensor<3xf32>
    }
    mp.yield %s#0, %s#1 : tensor<1x3xf32>, tensor<5x3xf32>
  }
  %q = mp.mul %r#1, %r#1 : tensor<4x5x3xf32>, tensor<4x5x3xf32>
  %n = mp.sum %q dims[0, 1, 2] : tensor<4x5x3xf32>
  %g:4 = mp.gradient %n of %xs, %h0, %w, %m
      : tensor<f32>, tensor<4x5x3xf32>, tensor<1x3xf32>, tensor<3x3xf32>, tensor<1x3xf32>
  return %r#0, %r#1, %g#0, %g#1, %g#2, %g#3
      : tensor<1x3xf32>, tensor<4x5x3xf32>, tensor<4x5x3xf32>, tensor<1x3xf32>, tensor<3x3xf32>, tensor<1x3xf32>
})",
     1e-5},
    // What backward computes is differentiated again: a loop of a loop's
    // backward.
    {"secondOrder", R"(
func.func @f(%xs: tensor<5x3x4xf32>, %h0: tensor<3x4xf32>, %w: tensor<4x4xf32>)
    -> (tensor<5x3x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>) {
  %r:2 = mp.scan carried(%h = %h0 : tensor<3x4xf32>) over(%x = %xs : tensor<5x3x4xf32>) UNROLL
      -> (tensor<3x4xf32>, tensor<5x3x4xf32>) {
    %p = mp.linear %h, %w : tensor<3x4xf32>, tensor<4x4xf32>
    %s = mp.add %p, %x : tensor<3x4xf32>, tensor<3x4xf32>
    %t = mp.sigmoid %s : tensor<3x4xf32>
    mp.yield %t, %t : tensor<3x4xf32>, tensor<3x4xf32>
  }
  %q = mp.mul %r#1, %r#1 : tensor<5x3x4xf32>, tensor<5x3x4xf32>
  %n = mp.sum %q dims[0, 1, 2] : tensor<5x3x4xf32>
  %g:2 = mp.gradient %n of %xs, %w : tensor<f32>, tensor<5x3x4xf32>, tensor<4x4xf32>
  %g0 = mp.mul %g#0, %g#0 : tensor<5x3x4xf32>, tensor<5x3x4xf32>
  %g1 = mp.mul %g#1, %g#1 : tensor<4x4xf32>, tensor<4x4xf32>
  %s0 = mp.sum %g0 dims[0, 1, 2] : tensor<5x3x4xf32>
  %s1 = mp.sum %g1 dims[0, 1] : tensor<4x4xf32>
  %m = mp.add %s0, %s1 : tensor<f32>, tensor<f32>
  %gg:3 = mp.gradient %m of %xs, %h0, %w : tensor<f32>, tensor<5x3x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>
  return %gg#0, %gg#1, %gg#2 : tensor<5x3x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>
})",
     1e-5},
};

class Loops : public testing::TestWithParam<std::tuple<Case, Device::Kind>> {};

TEST_P(Loops, AreTheirTimeSteps) {
  auto [example, kind] = GetParam();
  Device device{kind, 0};
  auto steps = run(with(example.text, "unroll(99)"), device);
  // The kernel of a loop adds the sums of products in another order.
  double tolerance = example.tolerance;
  if (kind == Device::Kind::Cuda)
    tolerance = std::max(tolerance, 1e-6);
  expectSame(run(with(example.text, ""), device), steps, tolerance);
  // Rounds of some time steps, and time steps that are left over.
  expectSame(run(with(example.text, "unroll(2)"), device), steps, tolerance);
}

std::string nameOf(const testing::TestParamInfo<Loops::ParamType> &info) {
  auto &[example, kind] = info.param;
  return example.name.str() + (kind == Device::Kind::Cpu ? "Cpu" : "Emulated");
}
INSTANTIATE_TEST_SUITE_P(Cases, Loops,
                         testing::Combine(testing::ValuesIn(cases),
                                          testing::Values(Device::Kind::Cpu,
                                                          Device::Kind::Cuda)),
                         nameOf);

TEST(LoopPrograms, DoNotGrowWithTheTimeSteps) {
  CompileOptions options;
  options.goal = Goal::Run;
  auto compiled = [&](StringRef steps) {
    std::string text =
        (R"(
func.func @f(%xs: tensor<)" +
         steps +
         R"(x4x8xf32>, %h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = mp.scan carried(%h = %h0 : tensor<4x8xf32>) over(%x = %xs : tensor<)" +
         steps + R"(x4x8xf32>) -> tensor<4x8xf32> {
    %p = mp.linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %s = mp.add %p, %x : tensor<4x8xf32>, tensor<4x8xf32>
    mp.yield %s : tensor<4x8xf32>
  }
  %n = mp.sum %r dims[0, 1] : tensor<4x8xf32>
  %g = mp.gradient %n of %w : tensor<f32>, tensor<8x8xf32>
  return %g : tensor<8x8xf32>
})")
            .str();
    return cantFail(compile(text, options));
  };
  Program few = compiled("5"), many = compiled("500");
  EXPECT_EQ(few.kernels.size(), many.kernels.size());
  ASSERT_EQ(few.entries.front().steps.size(),
            many.entries.front().steps.size());
  size_t repeats = 0;
  for (const Step &step : many.entries.front().steps)
    if (const auto *repeat = std::get_if<Repeat>(&step)) {
      EXPECT_EQ(repeat->rounds, 500);
      ++repeats;
    }
  EXPECT_EQ(repeats, 2u); // forward and backward
}

/// Returns how often each of the launches runs that have so many operations.
std::vector<int64_t> roundsOf(const Program &program, uint64_t flops) {
  const Entry &entry = program.entries.front();
  std::vector<int64_t> found;
  for (auto [step, rounds] : zip_equal(entry.steps, entry.roundsOfSteps()))
    if (const auto *launch = std::get_if<Launch>(&step);
        launch && launch->flops == flops)
      found.push_back(rounds);
  return found;
}

TEST(LoopPrograms, HaveLoopsInLoops) {
  CompileOptions options;
  options.goal = Goal::Run;
  Program program = cantFail(compile(R"(
func.func @f(%xs: tensor<70x50x4x8xf32>, %h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = mp.scan carried(%h = %h0 : tensor<4x8xf32>) over(%x = %xs : tensor<70x50x4x8xf32>) -> tensor<4x8xf32> {
    %t = mp.scan carried(%g = %h : tensor<4x8xf32>) over(%y = %x : tensor<50x4x8xf32>) -> tensor<4x8xf32> {
      %p = mp.linear %g, %w : tensor<4x8xf32>, tensor<8x8xf32>
      %s = mp.add %p, %y : tensor<4x8xf32>, tensor<4x8xf32>
      %u = mp.tanh %s : tensor<4x8xf32>
      mp.yield %u : tensor<4x8xf32>
    }
    mp.yield %t : tensor<4x8xf32>
  }
  %n = mp.sum %r dims[0, 1] : tensor<4x8xf32>
  %g = mp.gradient %n of %w : tensor<f32>, tensor<8x8xf32>
  return %g : tensor<8x8xf32>
})",
                                     options));
  // A product in each round, forward and backward; one has the rows of all.
  EXPECT_EQ(roundsOf(program, 2 * 4 * 8 * 8),
            (std::vector<int64_t>{3500, 3500}));
  EXPECT_EQ(roundsOf(program, 3500 * 2 * 4 * 8 * 8), std::vector<int64_t>{1});
  // The weight is arranged for all rounds of both loops, forward and backward,
  // and the first gradient is set.
  EXPECT_EQ(roundsOf(program, 0), (std::vector<int64_t>{1, 1, 1}));
}

} // namespace
