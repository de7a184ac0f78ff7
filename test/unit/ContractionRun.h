//===- ContractionRun.h - contractions emitted, linked and run --*- C++ -*-===//
#ifndef MP_TEST_UNIT_CONTRACTIONRUN_H
#define MP_TEST_UNIT_CONTRACTIONRUN_H

#include "LinkedKernels.h"
#include "codegen/cpu/contraction/Contraction.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace mp::cpu {

/// Returns numbers as `type` stores them.
inline std::string pack(const std::vector<double> &values, mlir::Type type) {
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  std::string out(values.size() * bytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = int64_t(values[i]);
    if (auto real = mlir::dyn_cast<mlir::FloatType>(type)) {
      llvm::APFloat x(values[i]);
      bool loses;
      x.convert(real.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
      bits = x.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(&out[i * bytes], &bits, bytes);
  }
  return out;
}

inline std::vector<double> unpack(const std::string &bytes, mlir::Type type) {
  unsigned width = type.getIntOrFloatBitWidth() / 8;
  std::vector<double> out;
  for (size_t at = 0; at < bytes.size(); at += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at], width);
    llvm::APInt value(width * 8, bits);
    if (auto real = mlir::dyn_cast<mlir::FloatType>(type)) {
      llvm::APFloat x(real.getFloatSemantics(), value);
      bool loses;
      x.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
      out.push_back(x.convertToDouble());
    } else {
      out.push_back(type.isUnsignedInteger() ? double(bits)
                                             : double(value.getSExtValue()));
    }
  }
  return out;
}

/// Bytes that end where unmapped memory begins, so that a kernel that touches
/// one past the end dies.
class GuardedBytes {
public:
  explicit GuardedBytes(size_t count) : count(count) {
    size_t page = sysconf(_SC_PAGESIZE);
    mapped = llvm::alignTo(count, page) + page;
    base = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + mapped - page, page, PROT_NONE);
    start = base + mapped - page - count;
    // NaN in every type of float.
    std::memset(start, 0xff, count);
  }
  explicit GuardedBytes(const std::string &bytes) : GuardedBytes(bytes.size()) {
    std::memcpy(start, bytes.data(), count);
  }
  GuardedBytes(const GuardedBytes &) = delete;
  ~GuardedBytes() { munmap(base, mapped); }
  char *data() { return start; }
  std::string str() const { return std::string(start, count); }

private:
  size_t count, mapped;
  char *base, *start;
};

/// Emits contractions and runs them on this thread, as the executor would.
class ContractionRun {
public:
  struct Operands {
    std::string a, b, bias;
  };

  explicit ContractionRun(Target target) : compiler(std::move(target)) {
    ObjectCompiler::prepare(context);
  }

  /// Returns the bytes of c. `scatter` runs one work item at a time, the last
  /// first.
  std::string operator()(const ContractionSpec &spec, const Operands &operands,
                         int64_t elements, bool scatter = false) {
    auto kernel = emitContraction(&context, spec, workers, compiler);
    EXPECT_TRUE(mlir::succeeded(kernel));
    GuardedBytes a(operands.a), b(operands.b), bias(operands.bias);
    GuardedBytes c(elements * spec.c.getIntOrFloatBitWidth() / 8);
    char *inputs[] = {a.data(), b.data(), bias.data()};
    std::vector<std::unique_ptr<GuardedBytes>> temporaries;
    for (uint64_t bytes : kernel->temporaries)
      temporaries.push_back(std::make_unique<GuardedBytes>(bytes));
    for (const KernelLaunch &launch : kernel->launches) {
      std::vector<void *> args;
      for (const KernelArgument &argument : launch.arguments)
        args.push_back(argument.kind == KernelArgument::Kind::Operand
                           ? inputs[argument.index]
                       : argument.kind == KernelArgument::Kind::Result
                           ? c.data()
                           : temporaries[argument.index]->data());
      this->launch(launch, args.data(), scatter);
    }
    return c.str();
  }

  /// Runs one launch, its tasks in order or its items in reverse.
  void launch(const KernelLaunch &launch, void *const *args,
              bool scatter = false) {
    EXPECT_TRUE(undefinedSymbols(compiler.object(launch.symbol)).empty());
    KernelFunction function = kernels.function(compiler, launch.symbol);
    GuardedBytes scratch(llvm::alignTo(launch.shared, 64));
    void *shared = scratch.data();
    int64_t block = scatter ? 1 : launch.block;
    for (int64_t done = 0; done < launch.grid; done += block) {
      int64_t begin = scatter ? launch.grid - done - 1 : done;
      function(args, begin, std::min(begin + block, launch.grid), shared);
    }
  }

  unsigned workers = 2;
  mlir::MLIRContext context;
  ObjectCompiler compiler;
  LinkedKernels kernels;
};

} // namespace mp::cpu

#endif // MP_TEST_UNIT_CONTRACTIONRUN_H
