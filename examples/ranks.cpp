//===- ranks.cpp - trains on several processes ----------------------------===//
//
// Joins the processes that mpirun or torchrun has started, which train one
// network. Each draws the rows of a batch that are its own, so that the result
// depends on the number of all rows, and not on who draws them.
// mpirun -n 2 ranks [FILE]
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "mantissa.h"
#include <cmath>
#include <random>

using namespace mantissa;
static constexpr int64_t kRows = 64, kSteps = 500;
static llvm::ExitOnError check("ranks: ");

/// The function y = sin(3 a) + b^2, at random places.
struct Samples {
  std::vector<float> x = std::vector<float>(2 * kRows);
  std::vector<float> y = std::vector<float>(kRows);

  void draw(int64_t batch) {
    std::mt19937 random(batch);
    std::uniform_real_distribution<float> place(-1, 1);
    for (int64_t row = 0; row < kRows; ++row) {
      float a = x[2 * row] = place(random), b = x[2 * row + 1] = place(random);
      y[row] = std::sin(3 * a) + b * b;
    }
  }
};

static void build(Graph &net) {
  Tensor x = net.input("x", F32, {Batch, 2});
  Tensor y = net.input("y", F32, {Batch, 1});
  x = tanh(linear(x, {.out = 64, .name = "fc1"}));
  x = linear(x, {.out = 1, .name = "fc2"});
  Tensor off = x - y;
  net.output("loss", mean(off * off));
  net.train({.optimizer = adam({.lr = 1e-2}), .precision = "fp32"});
}

int main(int argc, char **argv) {
  std::shared_ptr<mp::Communicator> ranks = check(mp::openRanks());
  int64_t rank = ranks ? ranks->rank() : 0, size = ranks ? ranks->size() : 1;

  Graph net("ranks");
  build(net);
  // Each rank has a GPU of its own, or the CPU if there is none.
  Step step =
      check(check(Module::fromGraph(net))
                .compileStep(
                    {.batch = kRows, .ranks = ranks, .device = std::nullopt}));
  Samples own;
  for (int64_t i = 0; i < kSteps; ++i) {
    own.draw(i * size + rank);
    auto results = check(
        step.run({{"x", {own.x, {kRows, 2}}}, {"y", {own.y, {kRows, 1}}}}));
    // The loss is that of all rows, on every rank.
    if (rank == 0 && (i + 1) % 100 == 0)
      llvm::outs() << "step " << results.step << " of " << size
                   << " ranks: loss " << results.loss << "\n";
  }
  // All ranks save, as each may have a part of the state; rank 0 writes.
  if (argc > 1)
    check(step.save(argv[1]));
}
