//===- layout-test.cpp - moves and sums of rows, beyond one task ----------===//
//
// Goldens are small. Here tensors are larger than the part of a task or a
// block, in every element type, and the results are compared, bit for bit, with
// a loop over the elements; on the CPU and on the emulated device.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

namespace {
using Shape = std::vector<int64_t>;

int64_t elements(ArrayRef<int64_t> shape) {
  return TensorType{ElementType::I8, shape.vec()}.elements();
}
std::string tensor(const Shape &shape, StringRef element) {
  auto type = *parseElementType(element);
  return "tensor<" + TensorType{type, shape}.str() + ">";
}
std::string spell(ArrayRef<int64_t> numbers) {
  auto spelled =
      map_range(numbers, [](int64_t n) { return std::to_string(n); });
  return "[" + join(spelled, ", ") + "]";
}

/// Calls body(place, number) for all places of a shape, in order.
void forPlaces(const Shape &shape,
               function_ref<void(const Shape &, int64_t)> body) {
  Shape place(shape.size());
  for (int64_t number = 0, all = elements(shape); number < all; ++number) {
    int64_t rest = number;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      place[dim] = rest % shape[dim];
    body(place, number);
  }
}
int64_t numberOf(const Shape &place, const Shape &shape) {
  int64_t number = 0;
  for (auto [at, size] : zip_equal(place, shape))
    number = number * size + at;
  return number;
}

/// An op on operands of these shapes, and its result.
struct Case {
  struct Operand {
    Shape shape;
    std::string element; ///< "" for the tested one
    int64_t low = -3, high = 4;
  };
  std::vector<Operand> operands;
  std::string op; ///< over %0, %1, ... without types
  Shape result;
  std::function<Numbers(ArrayRef<Numbers>)> reference;
};

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

Case slice(Shape shape, Shape offsets, Shape sizes, Shape strides) {
  std::string op = "mp.slice %0 offsets" + spell(offsets) + " sizes" +
                   spell(sizes) + " strides" + spell(strides);
  return {{{shape, ""}}, op, sizes, [=](ArrayRef<Numbers> in) {
            Numbers out(elements(sizes));
            forPlaces(sizes, [&](Shape place, int64_t number) {
              for (size_t dim = 0; dim < place.size(); ++dim)
                place[dim] = offsets[dim] + place[dim] * strides[dim];
              out[number] = in[0][numberOf(place, shape)];
            });
            return out;
          }};
}

Case pad(Shape shape, Shape low, Shape high, Shape interior) {
  Shape result = shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    result[dim] += low[dim] + high[dim] + (shape[dim] - 1) * interior[dim];
  std::string op = "mp.pad %0 low" + spell(low) + " high" + spell(high) +
                   " interior" + spell(interior) + " value(1.0)";
  return {{{shape, ""}}, op, result, [=](ArrayRef<Numbers> in) {
            Numbers out(elements(result), 1);
            forPlaces(shape, [&](Shape place, int64_t number) {
              for (size_t dim = 0; dim < place.size(); ++dim)
                place[dim] = low[dim] + place[dim] * (interior[dim] + 1);
              out[numberOf(place, result)] = in[0][number];
            });
            return out;
          }};
}

Case concat(Shape shape, size_t dim, Shape sizes) {
  Case made;
  std::vector<std::string> names;
  made.result = shape;
  made.result[dim] = 0;
  for (int64_t size : sizes) {
    names.push_back("%" + std::to_string(names.size()));
    shape[dim] = size;
    made.operands.push_back({shape, ""});
    made.result[dim] += size;
  }
  made.op =
      "mp.concat " + join(names, ", ") + " dim(" + std::to_string(dim) + ")";
  made.reference = [=, result = made.result,
                    operands = made.operands](ArrayRef<Numbers> in) {
    Numbers out(elements(result));
    int64_t begin = 0;
    for (auto [operand, numbers] : zip_equal(operands, in)) {
      forPlaces(operand.shape, [&](Shape place, int64_t number) {
        place[dim] += begin;
        out[numberOf(place, result)] = numbers[number];
      });
      begin += operand.shape[dim];
    }
    return out;
  };
  return made;
}

/// Indices of rows along dimension 1 of [outer, rows, inner]: the same for all
/// of `outer`, or batched. They may be out of range.
struct Rows {
  Shape shape;
  int64_t count;
  std::string element;
  bool batched = false;

  Case::Operand indices() const {
    Shape own = batched ? Shape{shape[0], count} : Shape{count};
    return {own, element, element.front() == 'u' ? 0 : -2, shape[1] + 3};
  }
  std::string dim() const { return batched ? "dim(1) batched" : "dim(1)"; }
  /// The row of a place of [outer, count, inner].
  int64_t rowOf(const Shape &place, const Numbers &indices) const {
    return indices[(batched ? place[0] * count : 0) + place[1]];
  }
};

Case gather(const Rows &rows) {
  const Shape &shape = rows.shape;
  Shape result = {shape[0], rows.count, shape[2]};
  return {{{shape, ""}, rows.indices()},
          "mp.gather %0, %1 " + rows.dim(),
          result,
          [=](ArrayRef<Numbers> in) {
            Numbers out(elements(result));
            forPlaces(result, [&](Shape place, int64_t number) {
              place[1] = rows.rowOf(place, in[1]);
              if (place[1] >= 0 && place[1] < shape[1])
                out[number] = in[0][numberOf(place, shape)];
            });
            return out;
          }};
}

Case scatterAdd(const Rows &rows, bool based) {
  const Shape &shape = rows.shape;
  Shape updates = {shape[0], rows.count, shape[2]};
  Case made{{{updates, "", -1, 2}, rows.indices()}, "", shape, nullptr};
  if (based)
    made.operands.push_back({shape, ""});
  made.op =
      (based ? "mp.scatter_add %0, %1 into %2 " : "mp.scatter_add %0, %1 ") +
      rows.dim() + (based ? "" : " size(" + std::to_string(shape[1]) + ")");
  made.reference = [=](ArrayRef<Numbers> in) {
    Numbers out = based ? in[2] : Numbers(elements(shape));
    forPlaces(updates, [&](Shape place, int64_t number) {
      place[1] = rows.rowOf(place, in[1]);
      if (place[1] >= 0 && place[1] < shape[1])
        out[numberOf(place, shape)] += in[0][number];
    });
    return out;
  };
  return made;
}

Case cumsum(Shape shape, size_t dim, bool reverse) {
  std::string op = "mp.cumsum %0 dim(" + std::to_string(dim) + ")" +
                   (reverse ? " reverse" : "");
  return {{{shape, "", -1, 2}}, op, shape, [=](ArrayRef<Numbers> in) {
            Numbers out = in[0];
            auto add = [&](const Shape &place, int64_t number) {
              Shape before = place;
              before[dim] += reverse ? 1 : -1;
              if (before[dim] >= 0 && before[dim] < shape[dim])
                out[number] += out[numberOf(before, shape)];
            };
            std::vector<std::pair<Shape, int64_t>> places;
            forPlaces(shape, [&](const Shape &place, int64_t number) {
              places.emplace_back(place, number);
            });
            for (size_t i = 0; i < places.size(); ++i) {
              auto &[place, number] =
                  places[reverse ? places.size() - 1 - i : i];
              add(place, number);
            }
            return out;
          }};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Numbers draw(const Case::Operand &operand, StringRef element, unsigned seed) {
  int64_t low = operand.low, high = operand.high;
  if (operand.element.empty() && element == "i1")
    low = 0, high = 2;
  else if (operand.element.empty() && element.starts_with("ui"))
    low = std::max<int64_t>(low, 0);
  Numbers numbers(elements(operand.shape));
  uint64_t state = seed + 1;
  for (double &number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = low + int64_t((state >> 33) % uint64_t(high - low));
  }
  return numbers;
}

/// Checks all cases in one function, so that they share launches.
void check(ArrayRef<Case> cases, StringRef element, Device device = {}) {
  std::string arguments, body;
  std::vector<std::string> names, types;
  std::vector<Numbers> inputs;
  std::vector<size_t> first;
  for (const Case &test : cases) {
    std::string op = test.op;
    std::vector<std::string> used;
    first.push_back(inputs.size());
    for (const Case::Operand &operand : test.operands) {
      std::string name = "%a" + std::to_string(inputs.size());
      StringRef own = operand.element.empty() ? element : operand.element;
      size_t number = &operand - test.operands.data();
      size_t at = op.find("%" + std::to_string(number));
      op.replace(at, 2, name);
      used.push_back(tensor(operand.shape, own));
      arguments += (inputs.empty() ? "" : ", ") + name + ": " + used.back();
      inputs.push_back(draw(operand, element, inputs.size()));
    }
    names.push_back("%r" + std::to_string(names.size()));
    types.push_back(tensor(test.result, element));
    body += "  " + names.back() + " = " + op + " : " + join(used, ", ") + "\n";
  }
  std::string module = "func.func @f(" + arguments + ") -> (" +
                       join(types, ", ") + ") {\n" + body + "  return " +
                       join(names, ", ") + " : " + join(types, ", ") + "\n}\n";
  auto function = GoldenFunction::compile(module, "f", device);
  ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
  auto results = (*function)(inputs);
  ASSERT_TRUE(bool(results)) << toString(results.takeError()) << module;
  for (auto [i, test] : enumerate(cases)) {
    auto own = ArrayRef(inputs).slice(first[i], test.operands.size());
    Numbers expected = test.reference(own);
    ASSERT_EQ((*results)[i].size(), expected.size()) << test.op;
    size_t at =
        std::mismatch(expected.begin(), expected.end(), (*results)[i].begin())
            .first -
        expected.begin();
    if (at < expected.size())
      ADD_FAILURE() << test.op << " of " << element.str() << ": element " << at
                    << " is " << (*results)[i][at] << ", expected "
                    << expected[at];
  }
}

std::vector<Case> moves(bool large) {
  int64_t n = large ? 70000 : 3000, m = large ? 300 : 37;
  return {slice({n}, {7}, {n - 100}, {1}),
          slice({m, 401}, {3, 5}, {m - 9, 390}, {1, 1}),
          slice({m, 96}, {0, 32}, {m, 64}, {1, 1}),
          slice({m, 400}, {1, 0}, {m / 2, 400}, {2, 1}),
          slice({m, 401}, {0, 1}, {m, 133}, {1, 3}),
          slice({3, 5, 4, 3, 7, 9}, {1, 0, 1, 0, 2, 3}, {2, 3, 2, 3, 5, 2},
                {1, 2, 2, 1, 1, 4}),
          pad({n}, {5}, {9}, {0}),
          pad({n / 3}, {2}, {3}, {2}),
          pad({m, 300}, {3, 0}, {1, 20}, {0, 0}),
          pad({m, 64}, {0, 16}, {2, 16}, {1, 0}),
          pad({m, 33}, {1, 2}, {0, 1}, {0, 1}),
          pad({2, 3, 4, 2, 3, 5}, {1, 0, 2, 0, 1, 0}, {0, 1, 0, 0, 2, 3},
              {0, 2, 0, 1, 0, 1}),
          concat({0, 30}, 0, {m, 1, 2 * m}),
          concat({m, 0}, 1, {1, 2, 3, 1, 64, 5, 6, 7, 8, 9}),
          concat({m, 0, 5}, 1, {16, 3}),
          concat({2, 3, 0, 2, 3, 4}, 2, {1, 5}),
          gather({{1, m, 96}, 2 * m, "i32"}),
          gather({{3, 70, 33}, 41, "i64"}),
          gather({{m, 200, 1}, 260, "ui8"}),
          gather({{1, 40000, 3}, m, "ui16"}),
          gather({{2, 99, 7}, 50, "ui32"}),
          gather({{m, 90, 1}, 40, "i32", true}),
          gather({{3, 70, 16}, 41, "ui8", true})};
}

std::vector<Case> sums(bool large) {
  int64_t n = large ? 3000 : 60, m = large ? 700 : 300;
  return {scatterAdd({{1, n, 96}, 150, "i32"}, false),
          scatterAdd({{1, 2, 200}, n, "i64"}, true),
          scatterAdd({{3, 70, 33}, 41, "ui8"}, true),
          scatterAdd({{1, 40000, 2}, 41, "ui16"}, true),
          scatterAdd({{2, 5000, 1}, 2500, "i32"}, false),
          scatterAdd({{m, 90, 1}, 40, "i32", true}, false),
          scatterAdd({{2, 5000, 1}, 2500, "i64", true}, true),
          scatterAdd({{3, 70, 33}, 41, "ui8", true}, true),
          cumsum({37, m}, 1, false),
          cumsum({3, 1111}, 1, true),
          cumsum({2, 50, m}, 1, false),
          cumsum({20, 45, 3}, 1, true),
          cumsum({m, 40}, 0, true)};
}

Device emulated() {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  return {Device::Kind::Cuda, 0};
}
} // namespace

TEST(Layout, MovesElementsOfEveryType) {
  for (StringRef element : {"f32", "f64", "f16", "bf16", "i1", "i8", "ui8",
                            "i16", "ui16", "i32", "ui32", "i64"})
    check(moves(/*large=*/true), element);
}

TEST(Layout, AddsElementsOfEveryType) {
  // Sums in 16 bits are small enough to be exact.
  for (StringRef element : {"f32", "f64", "i32", "i64"})
    check(sums(/*large=*/true), element);
  check(sums(/*large=*/false), "f16");
}

TEST(Layout, AgreesOnTheDevice) {
  for (StringRef element : {"f32", "bf16", "ui8", "ui16", "ui32", "i64"})
    check(moves(/*large=*/false), element, emulated());
  for (StringRef element : {"f32", "f16", "i32"})
    check(sums(/*large=*/false), element, emulated());
}

// In f16, 2048 + 1 is 2048.
TEST(Layout, RoundsOnce) {
  std::string module = R"(
func.func @f(%u: tensor<3x1xf16>, %i: tensor<3xi32>) -> (tensor<2x1xf16>, tensor<3x1xf16>) {
  %0 = mp.scatter_add %u, %i dim(0) size(2) : tensor<3x1xf16>, tensor<3xi32>
  %1 = mp.cumsum %u dim(0) : tensor<3x1xf16>
  return %0, %1 : tensor<2x1xf16>, tensor<3x1xf16>
})";
  for (Device device : {Device(), emulated()}) {
    auto function = cantFail(GoldenFunction::compile(module, "f", device));
    auto results = cantFail(function({{2048, 1, 1}, {1, 1, 1}}));
    EXPECT_EQ(results[0], (Numbers{0, 2050}));
    EXPECT_EQ(results[1], (Numbers{2048, 2048, 2050}));
  }
}

// The table is an argument, which keeps its elements.
TEST(Layout, RowsAreReplaced) {
  StringRef module = R"(
func.func @f(%u: tensor<5x7xf16>, %i: tensor<5xi64>, %t: tensor<9x7xf16>)
    -> (tensor<9x7xf16>, tensor<9x7xf16>) {
  %0 = mp.scatter_rows %u, %i into %t
    : tensor<5x7xf16>, tensor<5xi64>, tensor<9x7xf16>
  return %0, %t : tensor<9x7xf16>, tensor<9x7xf16>
})";
  Numbers rows, indices{3, -1, 8, 9, 0}, table;
  for (int i = 0; i < 5 * 7; ++i)
    rows.push_back(100 + i);
  for (int i = 0; i < 9 * 7; ++i)
    table.push_back(i);
  Numbers expected = table;
  for (auto [from, to] : {std::pair(0, 3), {2, 8}, {4, 0}})
    std::copy_n(rows.begin() + 7 * from, 7, expected.begin() + 7 * to);
  for (Device device : {Device(), emulated()}) {
    auto function = cantFail(GoldenFunction::compile(module, "f", device));
    auto results = cantFail(function({rows, indices, table}));
    EXPECT_EQ(results[0], expected);
    EXPECT_EQ(results[1], table);
  }
}

// Rows are added in the order of their indices, by any thread.
TEST(Layout, SumsHaveTheBitsOfOneThread) {
  std::string module = R"(
func.func @f(%u: tensor<2000x40xf32>, %i: tensor<2000xi32>) -> (tensor<30x40xf32>, tensor<2000x40xf32>, tensor<2000x40xf32>) {
  %0 = mp.scatter_add %u, %i dim(0) size(30) : tensor<2000x40xf32>, tensor<2000xi32>
  %1 = mp.cumsum %u dim(0) : tensor<2000x40xf32>
  %2 = mp.cumsum %u dim(1) reverse : tensor<2000x40xf32>
  return %0, %1, %2 : tensor<30x40xf32>, tensor<2000x40xf32>, tensor<2000x40xf32>
})";
  Numbers updates, indices;
  for (int i = 0; i < 2000 * 40; ++i)
    updates.push_back(float(std::sin(i * 0.37)));
  for (int i = 0; i < 2000; ++i)
    indices.push_back(i * 17 % 31);
  std::vector<float> sums(30 * 40), running(40);
  Numbers down;
  for (int i = 0; i < 2000; ++i)
    for (int j = 0; j < 40; ++j) {
      if (indices[i] < 30)
        sums[int(indices[i]) * 40 + j] += float(updates[i * 40 + j]);
      running[j] += float(updates[i * 40 + j]);
      down.push_back(running[j]);
    }
  std::optional<Numbers> across;
  for (unsigned threads : {1, 2, 5}) {
    auto function =
        cantFail(GoldenFunction::compile(module, "f", Device(), threads));
    auto results = cantFail(function({updates, indices}));
    EXPECT_EQ(results[0], Numbers(sums.begin(), sums.end()));
    EXPECT_EQ(results[1], down);
    EXPECT_EQ(results[2], across.value_or(results[2]));
    across = results[2];
  }
  auto device = cantFail(GoldenFunction::compile(module, "f", emulated()));
  auto results = cantFail(device({updates, indices}));
  EXPECT_EQ(results[0], Numbers(sums.begin(), sums.end()));
  EXPECT_EQ(results[1], down);
}
