//===- object-compiler-test.cpp - functions of memrefs to objects ---------===//
//
// The interface below the stage emitter. Roundings are compared with APFloat
// bit by bit.
//
//===----------------------------------------------------------------------===//
#include "LinkedKernels.h"
#include "program/CodeStore.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <map>
#include <random>
#include <thread>

using namespace mlir;
using namespace mp::cpu;

namespace {

MLIRContext &context() {
  static MLIRContext *context = [] {
    auto *context = new MLIRContext;
    ObjectCompiler::prepare(*context);
    return context;
  }();
  return *context;
}

std::string compile(ObjectCompiler &compiler, const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context());
  EXPECT_TRUE(module);
  FailureOr<std::string> symbol = compiler.compile(std::move(module));
  EXPECT_TRUE(succeeded(symbol));
  return succeeded(symbol) ? *symbol : "";
}

/// A function that converts `n` elements, 32 at a time; `n` is a multiple
/// of 32.
std::string conversion(int64_t n, const char *from, const char *op,
                       const char *to) {
  std::string size = std::to_string(n) + "x";
  std::string a = "memref<" + size + from + ">",
              b = "memref<" + size + to + ">";
  std::string va = std::string("vector<32x") + from + ">",
              vb = std::string("vector<32x") + to + ">";
  return "func.func @f(%a: " + a + ", %b: " + b +
         ", %begin: index, %end: index) {\n"
         "  %s = arith.constant 32 : index\n"
         "  scf.for %i = %begin to %end step %s {\n"
         "    %x = vector.load %a[%i] : " +
         a + ", " + va +
         "\n"
         "    %y = " +
         op + " %x : " + va + " to " + vb +
         "\n"
         "    vector.store %y, %b[%i] : " +
         b + ", " + vb +
         "\n"
         "  }\n  return\n}\n";
}

/// Rounds `bits`, read in one format, to another. Extending bf16 is a shift,
/// which leaves a signalling NaN signalling; a NaN is compared as quiet.
uint64_t rounded(uint64_t bits, const llvm::fltSemantics &from,
                 const llvm::fltSemantics &to) {
  llvm::APFloat x(from, llvm::APInt(llvm::APFloat::getSizeInBits(from), bits));
  bool losesInfo;
  x.convert(to, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return x.bitcastToAPInt().getZExtValue();
}

uint64_t quieted(uint64_t bits, const llvm::fltSemantics &format) {
  llvm::APFloat x(format,
                  llvm::APInt(llvm::APFloat::getSizeInBits(format), bits));
  return (x.isSignaling() ? x.makeQuiet() : x).bitcastToAPInt().getZExtValue();
}

/// Bit patterns of `From` with many ties, subnormals and extremes among them.
template <typename From> std::vector<From> patterns(size_t n) {
  std::mt19937_64 random(1);
  std::vector<From> values(n);
  for (From &value : values) {
    value = random();
    if (unsigned kind = random() % 8; kind < 4)
      value &= ~From(0) << (kind * sizeof(From) * 2); // few bits set: ties
    else if (kind == 4)
      value &= ~(From(0x7f) << (sizeof(From) * 8 - 8)); // small exponents
  }
  return values;
}

template <typename From, typename To>
void expectExact(const char *from, const char *op, const char *to,
                 const llvm::fltSemantics &a, const llvm::fltSemantics &b) {
  constexpr size_t n = 1 << 16;
  std::vector<From> in = patterns<From>(n);
  for (auto [features, cpu] : {std::pair("", ""), std::pair("", "x86-64-v3")}) {
    ObjectCompiler compiler(llvm::cantFail(Target::get(cpu, features)));
    std::string symbol = compile(compiler, conversion(n, from, op, to));
    EXPECT_EQ(undefinedSymbols(compiler.object(symbol)),
              std::vector<std::string>());
    std::vector<To> out(n);
    void *args[] = {in.data(), out.data()};
    LinkedKernels kernels;
    kernels.function(compiler, symbol)(args, 0, n, nullptr);
    size_t wrong = 0;
    for (size_t i = 0; i < n && wrong < 5; ++i)
      if (uint64_t want = rounded(in[i], a, b); quieted(out[i], b) != want) {
        ++wrong;
        ADD_FAILURE() << from << " to " << to << " of bits " << std::hex
                      << uint64_t(in[i]) << ": " << uint64_t(out[i])
                      << ", want " << want;
      }
  }
}

} // namespace

TEST(ObjectCompiler, RoundsToBF16LikeAPFloat) {
  expectExact<uint32_t, uint16_t>("f32", "arith.truncf", "bf16",
                                  llvm::APFloat::IEEEsingle(),
                                  llvm::APFloat::BFloat());
}

TEST(ObjectCompiler, RoundsToF16LikeAPFloat) {
  expectExact<uint32_t, uint16_t>("f32", "arith.truncf", "f16",
                                  llvm::APFloat::IEEEsingle(),
                                  llvm::APFloat::IEEEhalf());
}

TEST(ObjectCompiler, RoundsF64OnceNotTwice) {
  expectExact<uint64_t, uint16_t>("f64", "arith.truncf", "f16",
                                  llvm::APFloat::IEEEdouble(),
                                  llvm::APFloat::IEEEhalf());
  expectExact<uint64_t, uint16_t>("f64", "arith.truncf", "bf16",
                                  llvm::APFloat::IEEEdouble(),
                                  llvm::APFloat::BFloat());
}

TEST(ObjectCompiler, ExtendsLikeAPFloat) {
  expectExact<uint16_t, uint32_t>("bf16", "arith.extf", "f32",
                                  llvm::APFloat::BFloat(),
                                  llvm::APFloat::IEEEsingle());
  expectExact<uint16_t, uint32_t>("f16", "arith.extf", "f32",
                                  llvm::APFloat::IEEEhalf(),
                                  llvm::APFloat::IEEEsingle());
}

TEST(ObjectCompiler, StoresI1AsBytes) {
  ObjectCompiler compiler(Target::host());
  std::string symbol = compile(compiler, R"(
    func.func @f(%a: memref<64xf32>, %b: memref<64xi1>, %c: memref<64xi1>, %begin: index, %end: index) {
      %zero = arith.constant dense<0.0> : vector<32xf32>
      %mask = arith.constant dense<true> : vector<32xi1>
      %s = arith.constant 32 : index
      scf.for %i = %begin to %end step %s {
        %x = vector.load %a[%i] : memref<64xf32>, vector<32xf32>
        %p = arith.cmpf ogt, %x, %zero : vector<32xf32>
        vector.store %p, %b[%i] : memref<64xi1>, vector<32xi1>
        %q = vector.load %b[%i] : memref<64xi1>, vector<32xi1>
        %r = arith.xori %q, %mask : vector<32xi1>
        vector.maskedstore %c[%i], %mask, %r : memref<64xi1>, vector<32xi1>, vector<32xi1>
      }
      return
    })");
  std::vector<float> a(64);
  for (int i = 0; i < 64; ++i)
    a[i] = i % 3 - 1;
  std::vector<uint8_t> b(64, 0xcc), c(64, 0xcc);
  void *args[] = {a.data(), b.data(), c.data()};
  LinkedKernels kernels;
  kernels.function(compiler, symbol)(args, 0, 64, nullptr);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(b[i], i % 3 == 2);
    EXPECT_EQ(c[i], i % 3 != 2);
  }
}

TEST(ObjectCompiler, PassesSharedAndCallsLibm) {
  ObjectCompiler compiler(Target::host());
  std::string symbol = compile(compiler, R"(
    func.func @f(%a: memref<8xf64>, %begin: index, %end: index, %shared: memref<64xi8>) {
      %c0 = arith.constant 0 : index
      %view = memref.view %shared[%c0][] : memref<64xi8> to memref<8xf64>
      %x = vector.load %a[%c0] : memref<8xf64>, vector<8xf64>
      %e = math.exp %x : vector<8xf64>
      %r = math.erf %e : vector<8xf64>
      vector.store %r, %view[%c0] : memref<8xf64>, vector<8xf64>
      %y = vector.load %view[%c0] : memref<8xf64>, vector<8xf64>
      vector.store %y, %a[%c0] : memref<8xf64>, vector<8xf64>
      return
    })");
  std::vector<std::string> called = undefinedSymbols(compiler.object(symbol));
  llvm::sort(called);
  EXPECT_EQ(called, (std::vector<std::string>{"erf", "exp"}));
  alignas(64) double a[8], shared[8];
  for (int i = 0; i < 8; ++i)
    a[i] = -0.5 * i;
  void *args[] = {a};
  LinkedKernels kernels;
  kernels.function(compiler, symbol)(args, 0, 1, shared);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(a[i], std::erf(std::exp(-0.5 * i)));
}

TEST(ObjectCompiler, CompilesEqualFunctionsOnce) {
  ObjectCompiler compiler(Target::host());
  std::string text = conversion(64, "f32", "arith.truncf", "bf16");
  std::string renamed = text;
  renamed.replace(renamed.find("@f"), 2, "@other");
  std::string first, second;
  std::thread one([&] { first = compile(compiler, text); });
  std::thread two([&] { second = compile(compiler, renamed); });
  one.join();
  two.join();
  EXPECT_EQ(first, second);
  EXPECT_NE(first,
            compile(compiler, conversion(96, "f32", "arith.truncf", "bf16")));
}

namespace {
/// A store in memory that counts its calls.
struct CountingStore : mp::CodeStore {
  std::optional<std::string> find(const mp::CodeKey &key) override {
    ++lookups;
    last = key;
    auto found = entries.find(textOf(key));
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const mp::CodeKey &key, llvm::StringRef code,
            double seconds) override {
    EXPECT_GT(seconds, 0);
    EXPECT_TRUE(entries.emplace(textOf(key), code.str()).second);
  }
  static std::string textOf(const mp::CodeKey &key) {
    std::string text = key.kind + key.source;
    for (auto &[name, value] : key.facts)
      text += "\n" + name + "=" + value;
    return text;
  }
  std::map<std::string, std::string> entries;
  mp::CodeKey last;
  unsigned lookups = 0;
};
} // namespace

TEST(ObjectCompiler, AStoreSparesCompiling) {
  auto store = std::make_shared<CountingStore>();
  std::string text = conversion(64, "f32", "arith.truncf", "bf16");
  ObjectCompiler first(ObjectCompiler(Target::host()), store);
  std::string symbol = compile(first, text);
  EXPECT_EQ(store->entries.size(), 1u);
  EXPECT_EQ(compile(first, text), symbol);
  EXPECT_EQ(store->lookups, 1u) << "what is in memory is not asked for";
  // Another process would do the same.
  ObjectCompiler second(ObjectCompiler(Target::host()), store);
  EXPECT_EQ(compile(second, text), symbol);
  EXPECT_EQ(store->entries.size(), 1u);
  EXPECT_EQ(second.object(symbol), first.object(symbol));
  // A compiler that shares its memory with another needs no store.
  ObjectCompiler third(second, nullptr);
  EXPECT_EQ(third.object(symbol), first.object(symbol));
  // The source is the same for another CPU, but the facts differ.
  std::string source = store->last.source;
  ObjectCompiler older(
      ObjectCompiler(llvm::cantFail(Target::get("x86-64-v3", ""))), store);
  EXPECT_NE(compile(older, text), symbol);
  EXPECT_EQ(store->last.source, source);
  EXPECT_EQ(store->entries.size(), 2u);
}

TEST(Target, NamesWhatItRefuses) {
  auto message = [](llvm::Expected<Target> target) {
    EXPECT_FALSE(bool(target));
    return llvm::toString(target.takeError());
  };
  EXPECT_EQ(message(Target::get("pentium9", "")), "unknown cpu 'pentium9'");
  EXPECT_EQ(message(Target::get("x86-64", "")),
            "cpu 'x86-64' lacks f16c: kernels need at least x86-64-v3");
  EXPECT_TRUE(llvm::cantFail(Target::get("x86-64", "f16c")).has("f16c"));
  EXPECT_FALSE(llvm::cantFail(Target::get("x86-64-v3", "-avx2")).has("avx2"));
}
