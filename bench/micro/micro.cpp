//===- micro.cpp - single kernels next to a copy and to peak arithmetic ---===//
//
//   bench-micro [--threads=N] [--benchmark_filter=...] [--benchmark_out=...]
//   bench-micro [--threads=N] --serve
//
// Each benchmark is a function of a few ops, compiled and run as a training
// step is. A stage kernel is compared with a copy of as many bytes as it moves
// by the plan, a matrix product with the fastest arithmetic of as many cores;
// both sides take turns in one loop, so that a machine that slows down slows
// both.
//
//===----------------------------------------------------------------------===//
#include "Runner.h"
#include "Serve.h"
#include "runtime/Profile.h"
#include "runtime/cpu/Onednn.h"
#include "runtime/cpu/Peak.h"
#include "llvm/Support/Format.h"
#include <benchmark/benchmark.h>

using namespace llvm;
using namespace mp;
using namespace mp::micro;

namespace {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `$T`: an element type, `$M`: a matrix of it, `$R` and `$C`: its rows and
/// columns.
struct Source {
  const char *name;
  int64_t columns;
  const char *text;
};

constexpr Source kSources[] = {
    {"chain", 768, R"(
func.func @f(%x: $M) -> $M {
  %a = mp.constant dense<1.5> : tensor<$T>
  %b = mp.constant dense<0.25> : tensor<$T>
  %0 = mp.mul %x, %a : $M, tensor<$T>
  %1 = mp.add %0, %b : $M, tensor<$T>
  %2 = mp.mul %1, %x : $M, $M
  %3 = mp.relu %2 : $M
  return %3 : $M
})"},
    {"bias_relu", 768, R"(
func.func @f(%x: $M, %b: tensor<$Cx$T>) -> $M {
  %0 = mp.add %x, %b : $M, tensor<$Cx$T>
  %1 = mp.relu %0 : $M
  return %1 : $M
})"},
    {"bias_gelu", 768, R"(
func.func @f(%x: $M, %b: tensor<$Cx$T>) -> $M {
  %0 = mp.add %x, %b : $M, tensor<$Cx$T>
  %1 = mp.gelu %0 : $M
  return %1 : $M
})"},
    {"gelu", 768, R"(
func.func @f(%x: $M) -> $M {
  %0 = mp.gelu %x : $M
  return %0 : $M
})"},
    {"gelu_backward", 768, R"(
func.func @f(%g: $M, %x: $M) -> $M {
  %0 = mp.gelu_backward %g, %x : $M, $M
  return %0 : $M
})"},
    {"cast_from_f32", 768, R"(
func.func @f(%x: tensor<$Rx$Cxf32>) -> $M {
  %0 = mp.cast %x : tensor<$Rx$Cxf32> to $M
  return %0 : $M
})"},
    {"softmax", 768, R"(
func.func @f(%x: $M) -> $M {
  %0 = mp.softmax %x dim(1) : $M
  return %0 : $M
})"},
    // Scores of 12 heads, scaled, with a mask for the keys of a sample.
    {"masked_softmax", 128, R"(
func.func @f(%x: tensor<$Rx12x128x$Cx$T>, %m: tensor<$Rx1x1x$Cx$T>)
    -> tensor<$Rx12x128x$Cx$T> {
  %s = mp.constant dense<0.125> : tensor<$T>
  %0 = mp.mul %x, %s : tensor<$Rx12x128x$Cx$T>, tensor<$T>
  %1 = mp.add %0, %m : tensor<$Rx12x128x$Cx$T>, tensor<$Rx1x1x$Cx$T>
  %2 = mp.softmax %1 dim(3) : tensor<$Rx12x128x$Cx$T>
  return %2 : tensor<$Rx12x128x$Cx$T>
})"},
    // The norm is computed in f32, as autocast does.
    {"layer_norm", 768, R"(
func.func @f(%x: $M, %g: tensor<$Cxf32>, %b: tensor<$Cxf32>) -> $M {
  %eps = mp.constant dense<1.0e-5> : tensor<f32>
  %one = mp.constant dense<1.0> : tensor<f32>
  %w = mp.cast %x : $M to tensor<$Rx$Cxf32>
  %m = mp.mean %w dims[1] keepdim : tensor<$Rx$Cxf32>
  %d = mp.sub %w, %m : tensor<$Rx$Cxf32>, tensor<$Rx1xf32>
  %q = mp.mul %d, %d : tensor<$Rx$Cxf32>, tensor<$Rx$Cxf32>
  %v = mp.mean %q dims[1] keepdim : tensor<$Rx$Cxf32>
  %e = mp.add %v, %eps : tensor<$Rx1xf32>, tensor<f32>
  %s = mp.sqrt %e : tensor<$Rx1xf32>
  %r = mp.div %one, %s : tensor<f32>, tensor<$Rx1xf32>
  %n = mp.mul %d, %r : tensor<$Rx$Cxf32>, tensor<$Rx1xf32>
  %h = mp.mul %n, %g : tensor<$Rx$Cxf32>, tensor<$Cxf32>
  %y = mp.add %h, %b : tensor<$Rx$Cxf32>, tensor<$Cxf32>
  %0 = mp.cast %y : tensor<$Rx$Cxf32> to $M
  return %0 : $M
})"},
    {"column_sum", 768, R"(
func.func @f(%x: $M) -> tensor<$Cx$T> {
  %0 = mp.sum %x dims[0] : $M
  return %0 : tensor<$Cx$T>
})"},
    {"transpose", 1024, R"(
func.func @f(%x: $M) -> tensor<$Cx$Rx$T> {
  %0 = mp.transpose %x [1, 0] : $M
  return %0 : tensor<$Cx$Rx$T>
})"},
    {"cross_entropy", 1000, R"(
func.func @f(%x: $M, %y: tensor<$Rxi64>) -> tensor<$T> {
  %0 = mp.cross_entropy %x, %y : $M, tensor<$Rxi64>
  return %0 : tensor<$T>
})"},
    {"cross_entropy_backward", 1000, R"(
func.func @f(%x: $M, %y: tensor<$Rxi64>) -> $M {
  %g = mp.constant dense<1.0> : tensor<$T>
  %0 = mp.cross_entropy_backward %g, %x, %y : tensor<$T>, $M, tensor<$Rxi64>
  return %0 : $M
})"},
    // The loss and its gradient, as a step has them.
    {"cross_entropy_both", 1000, R"(
func.func @f(%x: $M, %y: tensor<$Rxi64>) -> (tensor<$T>, $M) {
  %g = mp.constant dense<1.0> : tensor<$T>
  %0 = mp.cross_entropy %x, %y : $M, tensor<$Rxi64>
  %1 = mp.cross_entropy_backward %g, %x, %y : tensor<$T>, $M, tensor<$Rxi64>
  return %0, %1 : tensor<$T>, $M
})"},
    // A gradient of type T comes in; a copy of type T goes out beside the
    // state.
    {"adamw", 768, R"(
mp.variable @p : tensor<$Rx$Cxf32> = #mp.init<kaiming_uniform>
mp.variable slot @m : tensor<$Rx$Cxf32> = #mp.init<zeros>
mp.variable slot @v : tensor<$Rx$Cxf32> = #mp.init<zeros>
mp.variable buffer @copy : $M = #mp.init<zeros>
func.func @f(%g: $M) {
  %lr = mp.constant dense<1.0e-3> : tensor<f32>
  %c1 = mp.constant dense<0.5> : tensor<f32>
  %c2 = mp.constant dense<0.25> : tensor<f32>
  %p = mp.read @p : tensor<$Rx$Cxf32>
  %m = mp.read @m : tensor<$Rx$Cxf32>
  %v = mp.read @v : tensor<$Rx$Cxf32>
  %w = mp.cast %g : $M to tensor<$Rx$Cxf32>
  %p1, %m1, %v1 = mp.adamw %p, %w, %m, %v, %lr, %c1, %c2
      : tensor<$Rx$Cxf32>, tensor<$Rx$Cxf32>, tensor<$Rx$Cxf32>,
        tensor<$Rx$Cxf32>, tensor<f32>, tensor<f32>, tensor<f32>
  %k = mp.cast %p1 : tensor<$Rx$Cxf32> to $M
  mp.write @p, %p1 : tensor<$Rx$Cxf32>
  mp.write @m, %m1 : tensor<$Rx$Cxf32>
  mp.write @v, %v1 : tensor<$Rx$Cxf32>
  mp.write @copy, %k : $M
  return
})"},
};

constexpr Source kProduct = {"matmul", 0, R"(
func.func @f(%a: $M, %b: $M) -> $M {
  %0 = mp.matmul %a, %b : $M, $M
  return %0 : $M
})"};

std::string fillIn(std::string text, StringRef type, int64_t rows,
                   int64_t columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::pair<StringRef, std::string> values[] = {
      {"$M", "tensor<" + r + "x" + c + "x" + type.str() + ">"},
      {"$T", type.str()},
      {"$R", r},
      {"$C", c}};
  for (auto &[name, value] : values)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value);
  return text;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Returns as many rows as move `target` bytes.
int64_t rowsFor(const Source &source, StringRef type, uint64_t target) {
  constexpr int64_t probe = 64;
  Runner small(fillIn(source.text, type, probe, source.columns), false);
  int64_t rows = probe * static_cast<double>(target) / small.bytes;
  return std::max<int64_t>(rows, 1);
}

void stages(benchmark::State &state, const Source &source, StringRef type,
            uint64_t target) {
  ThreadPool pool(threads);
  int64_t rows = rowsFor(source, type, target);
  Runner runner(fillIn(source.text, type, rows, source.columns), false);
  runner.makeInputs(pool);
  uint64_t copied = runner.bytes / 2;
  Memory to = memory(copied), from = memory(copied);
  for (int warm = 0; warm < 3; ++warm) {
    runner.run();
    measureCopy(pool, to.data(), from.data(), copied);
  }
  std::vector<double> rates, copies, ratios;
  for (auto _ : state) {
    double seconds = secondsOf([&] { runner.run(); });
    rates.push_back(runner.bytes / seconds / 1e9);
    double copying = secondsOf(
        [&] { (void)measureCopy(pool, to.data(), from.data(), copied); });
    copies.push_back(2 * copied / copying / 1e9);
    ratios.push_back(rates.back() / copies.back());
    state.SetIterationTime(seconds);
  }
  state.counters["us"] = runner.bytes / median(rates) / 1e3;
  state.counters["GB/s"] = median(rates);
  state.counters["copy_GB/s"] = median(copies);
  state.counters["ratio"] = median(ratios);
  state.counters["GFLOP/s"] =
      median(rates) * runner.flops / std::max<double>(runner.bytes, 1);
  state.counters["rows"] = rows;
  state.counters["bytes"] = runner.bytes;
}

/// Measures the multiply-adds of a function against the fastest ones.
void products(benchmark::State &state, const std::string &text, StringRef type,
              bool onednn) {
  ThreadPool pool(threads);
  Runner runner(text, onednn);
  runner.makeInputs(pool);
  runner.run();
  // f16 is computed in f32.
  ElementType unit = type == "bf16" ? ElementType::BF16 : ElementType::F32;
  std::vector<double> rates, peaks, ratios;
  for (auto _ : state) {
    double seconds = secondsOf([&] { runner.run(); });
    rates.push_back(runner.flops / seconds / 1e9);
    peaks.push_back(measurePeak(pool, unit));
    ratios.push_back(rates.back() / peaks.back());
    state.SetIterationTime(seconds);
  }
  state.counters["us"] = runner.flops / median(rates) / 1e3;
  state.counters["GFLOP/s"] = median(rates);
  state.counters["peak_GFLOP/s"] = median(peaks);
  state.counters["ratio"] = median(ratios);
}

void registerAll() {
  struct Size {
    const char *name;
    uint64_t bytes;
    int iterations;
  };
  for (const Source &source : kSources)
    for (StringRef type : {"f32", "f16", "bf16"})
      for (Size size :
           {Size{"256KiB", 256 << 10, 400}, Size{"128MiB", 128 << 20, 9}}) {
        if (type == "f32" && StringRef(source.name) == "cast_from_f32")
          continue;
        std::string name =
            (source.name + Twine("/") + type + "/" + size.name).str();
        benchmark::RegisterBenchmark(
            name.c_str(),
            [&source, type, size](benchmark::State &state) {
              stages(state, source, type, size.bytes);
            })
            ->UseManualTime()
            ->Iterations(size.iterations)
            ->Unit(benchmark::kMicrosecond);
      }
  for (bool onednn : {false, true})
    for (StringRef type : {"f32", "bf16", "f16"})
      for (int64_t size : {1024, 500}) {
        if (onednn && (type == "f16" || !onednnAvailable()))
          continue;
        std::string name = ("matmul/" + type + "/" + Twine(size) + "/" +
                            (onednn ? "onednn" : "generated"))
                               .str();
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=](benchmark::State &state) {
              products(state, fillIn(kProduct.text, type, size, size), type,
                       onednn);
            })
            ->UseManualTime()
            ->Iterations(15)
            ->Unit(benchmark::kMicrosecond);
      }
}

void registerConvolutions() {
  for (const Convolution &convolution : convolutions())
    for (StringRef type : {"f32", "bf16", "f16"})
      for (ConvolutionKind kind :
           {ConvolutionKind::Forward, ConvolutionKind::Input,
            ConvolutionKind::Weight}) {
        std::string name =
            ("conv2d/" + type + "/" + convolution.name + "/" + nameOf(kind))
                .str();
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=, &convolution](benchmark::State &state) {
              products(state, textOf(convolution, kind, type), type,
                       /*onednn=*/false);
            })
            ->UseManualTime()
            ->Iterations(9)
            ->Unit(benchmark::kMicrosecond);
      }
}

} // namespace

int main(int argc, char **argv) {
  std::vector<char *> arguments;
  bool serves = false;
  for (char *argument : ArrayRef(argv, argc)) {
    StringRef word = argument;
    if (word == "--serve") {
      serves = true;
    } else if (!word.consume_front("--threads=")) {
      arguments.push_back(argument);
    } else if (word.getAsInteger(10, threads) || threads < 1) {
      errs() << "--threads takes a whole number, not '" << word << "'\n";
      return 2;
    }
  }
  if (serves) {
    serve();
    return 0;
  }
  int count = arguments.size();
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    return 2;
  benchmark::AddCustomContext("threads", std::to_string(threads));
  registerAll();
  registerConvolutions();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
