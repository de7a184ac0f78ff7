//===- contraction.cpp - speed of matrix products -------------------------===//
//
// GFLOP/s of the generated matrix products, next to oneDNN's and to the fastest
// multiply-adds, on one thread.
//   bench-contraction [m n k ta tb type]...   ta, tb: 1 if stored transposed
//
//===----------------------------------------------------------------------===//
#include "runtime/Memory.h"
#include "runtime/cpu/Peak.h"
#include "test/unit/ContractionRun.h"

#include <chrono>
#include <dnnl.h>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

extern "C" void omp_set_num_threads(int);

namespace {

struct Shape {
  int64_t m, n, k;
  bool transposeA, transposeB;
  const char *type;
};

double secondsOf(llvm::function_ref<void()> body) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9, total = 0;
  for (int run = 0; run < 200 && total < 0.4; ++run) {
    auto start = Clock::now();
    body();
    double seconds =
        std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

Type typeOf(MLIRContext &context, llvm::StringRef name) {
  Builder b(&context);
  return name == "f64"    ? Type(b.getF64Type())
         : name == "f16"  ? Type(b.getF16Type())
         : name == "bf16" ? Type(b.getBF16Type())
                          : Type(b.getF32Type());
}

/// Zeros in huge pages, as the runtime has its memory.
Memory memory(uint64_t bytes) {
  return llvm::cantFail(
      Memory::allocate(llvm::alignTo(bytes, uint64_t(2) << 20), "data"));
}

/// Small normal numbers.
Memory numbers(int64_t count, Type type) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = (i * 7919 % 1009) / 1009.0 - 0.5;
  std::string bytes = pack(values, type);
  Memory made = memory(bytes.size());
  std::memcpy(made.data(), bytes.data(), bytes.size());
  return made;
}

/// A launch with its code linked, as the executor has it.
struct LinkedLaunch {
  LinkedLaunch(ContractionRun &run, const KernelLaunch &launch)
      : function(run.kernels.function(run.compiler, launch.symbol)),
        grid(launch.grid), block(launch.block), scratch(memory(launch.shared)) {
  }

  void operator()() {
    for (int64_t begin = 0; begin < grid; begin += block)
      function(args.data(), begin, std::min(begin + block, grid),
               scratch.data());
  }

  KernelFunction function;
  int64_t grid, block;
  Memory scratch;
  std::vector<void *> args;
};

struct Measured {
  double compile, product;
};

Measured measure(const Shape &shape) {
  ContractionRun run(llvm::cantFail(Target::get("", "")));
  ContractionSpec spec;
  spec.m = shape.m, spec.n = shape.n, spec.k = shape.k;
  spec.a = spec.b = spec.c = typeOf(run.context, shape.type);
  spec.transposeA = shape.transposeA, spec.transposeB = shape.transposeB;
  auto begin = std::chrono::steady_clock::now();
  EmittedKernel kernel = *emitContraction(&run.context, spec, 1, run.compiler);
  Measured measured;
  measured.compile =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  Memory a = numbers(shape.m * shape.k, spec.a),
         b = numbers(shape.k * shape.n, spec.b),
         c = memory(shape.m * shape.n * 8);
  std::vector<Memory> temporaries;
  for (int64_t bytes : kernel.temporaries)
    temporaries.push_back(memory(bytes));
  auto place = [&](const KernelArgument &argument) -> void * {
    if (argument.kind == KernelArgument::Kind::Temporary)
      return temporaries[argument.index].data();
    if (argument.kind == KernelArgument::Kind::Result)
      return c.data();
    return argument.index == 0 ? a.data() : b.data();
  };
  std::vector<LinkedLaunch> launches;
  for (const KernelLaunch &launch : kernel.launches) {
    launches.emplace_back(run, launch);
    for (const KernelArgument &argument : launch.arguments)
      launches.back().args.push_back(place(argument));
  }
  measured.product = secondsOf([&] {
    for (LinkedLaunch &launch : launches)
      launch();
  });
  return measured;
}

/// Returns seconds of oneDNN's product, or 0 if it has none for the type.
double measureOneDnn(const Shape &shape) {
  llvm::StringRef name = shape.type;
  if (name == "f64" || name == "f16")
    return 0;
  dnnl_data_type_t type = name == "bf16" ? dnnl_bf16 : dnnl_f32;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  auto describe = [&](int64_t rows, int64_t columns, bool transposed) {
    dnnl_memory_desc_t md;
    dnnl_dims_t dims = {rows, columns},
                strides = {transposed ? 1 : columns, transposed ? rows : 1};
    dnnl_memory_desc_init_by_strides(&md, 2, dims, type, strides);
    return md;
  };
  dnnl_memory_desc_t a = describe(shape.m, shape.k, shape.transposeA);
  dnnl_memory_desc_t b = describe(shape.k, shape.n, shape.transposeB);
  dnnl_memory_desc_t c = describe(shape.m, shape.n, false);
  dnnl_matmul_desc_t desc;
  dnnl_matmul_desc_init(&desc, &a, &b, nullptr, &c);
  dnnl_primitive_desc_t pd;
  dnnl_primitive_t primitive;
  if (dnnl_primitive_desc_create(&pd, &desc, nullptr, engine, nullptr) !=
      dnnl_success)
    return 0;
  dnnl_primitive_create(&primitive, pd);
  Memory data[3] = {memory(dnnl_memory_desc_get_size(&a)),
                    memory(dnnl_memory_desc_get_size(&b)),
                    memory(dnnl_memory_desc_get_size(&c))};
  dnnl_memory_t memory[3];
  dnnl_memory_create(&memory[0], &a, engine, data[0].data());
  dnnl_memory_create(&memory[1], &b, engine, data[1].data());
  dnnl_memory_create(&memory[2], &c, engine, data[2].data());
  dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, memory[0]},
                            {DNNL_ARG_WEIGHTS, memory[1]},
                            {DNNL_ARG_DST, memory[2]}};
  return secondsOf([&] {
    dnnl_primitive_execute(primitive, stream, 3, args);
    dnnl_stream_wait(stream);
  });
}

} // namespace

int main(int argc, char **argv) {
  omp_set_num_threads(1);
  std::vector<Shape> shapes = {{128, 512, 784, false, true, "f32"},
                               {512, 784, 128, true, false, "f32"},
                               {128, 256, 512, false, true, "f32"},
                               {128, 512, 256, false, false, "f32"},
                               {128, 10, 256, false, true, "f32"},
                               {10, 256, 128, true, false, "f32"},
                               {128, 256, 10, false, false, "f32"},
                               {1, 512, 784, false, true, "f32"},
                               {8, 512, 784, false, true, "f32"},
                               {512, 1024, 1024, false, true, "f32"},
                               {512, 1024, 1024, false, false, "f32"},
                               {1024, 1024, 512, true, false, "f32"},
                               {512, 1024, 1024, false, true, "bf16"},
                               {1024, 1024, 512, true, false, "bf16"},
                               {1024, 1024, 1024, false, false, "f32"},
                               {500, 500, 500, false, false, "f32"},
                               {1024, 1024, 1024, false, false, "f16"},
                               {1024, 1024, 1024, false, true, "bf16"},
                               {128, 512, 784, false, true, "bf16"},
                               {128, 512, 784, false, true, "f16"},
                               {512, 512, 512, false, false, "f64"}};
  if (argc > 6) {
    shapes.clear();
    for (int i = 1; i + 5 < argc; i += 6)
      shapes.push_back({atoll(argv[i]), atoll(argv[i + 1]), atoll(argv[i + 2]),
                        argv[i + 3][0] == '1', argv[i + 4][0] == '1',
                        argv[i + 5]});
  }
  std::printf("%-28s %8s %8s %8s %10s\n", "m n k ta tb type", "GFLOP/s",
              "oneDNN", "peak", "compile ms");
  ThreadPool pool(1);
  for (const Shape &s : shapes) {
    Measured measured = measure(s);
    ElementType peakType =
        StringRef(s.type) == "bf16" ? ElementType::BF16 : ElementType::F32;
    double onednn = measureOneDnn(s), work = 2e-9 * s.m * s.n * s.k;
    std::string name = std::to_string(s.m) + " " + std::to_string(s.n) + " " +
                       std::to_string(s.k) + (s.transposeA ? " t" : " n") +
                       (s.transposeB ? " t " : " n ") + s.type;
    std::printf("%-28s %8.1f %8.1f %8.1f %10.1f\n", name.c_str(),
                work / measured.product, onednn ? work / onednn : 0,
                measurePeak(pool, peakType), measured.compile * 1e3);
  }
}
