//===- deep-modules-test.cpp - modules on small stacks --------------------===//
//
// A program may call the API on a thread of 1 MiB, or have threads of its own
// below Python: what is within the limits of a module must fit there.
//
//===----------------------------------------------------------------------===//
#include "api/SmallModule.h"
#include "dsl/Graph.h"
#include <pthread.h>

using namespace mantissa;
using namespace mantissa::test;

namespace {

/// Does `work` on a thread with a stack of 1 MiB.
void onSmallStack(llvm::function_ref<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread;
  auto run = [](void *work) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(work))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string errorOf(const std::string &text) {
  auto module = Module::parse(text, "net.mlir");
  return module ? "" : llvm::toString(module.takeError());
}

/// The small module, with something before its name.
std::string withAttribute(const std::string &value) {
  std::string text = kSmallModule, name = "module @small ";
  return text.replace(text.find(name), name.size(),
                      name + "attributes {t.a = " + value + "} ");
}

std::string nested(const char *open, const char *inner, const char *close,
                   int depth) {
  std::string text = inner;
  for (int i = 0; i < depth; ++i)
    text = open + text + close;
  return text;
}

TEST(DeepModules, AreErrorsAtTheirPlace) {
  onSmallStack([] {
    for (int depth : {300, 200000}) {
      EXPECT_EQ(errorOf(std::string(depth, '[')),
                "net.mlir:1:257: error: nests deeper than 256 brackets");
      std::string lists(depth, '[');
      EXPECT_EQ(errorOf(withAttribute(lists + std::string(depth, ']'))),
                "net.mlir:2:288: error: nests deeper than 256 brackets");
    }
    EXPECT_EQ(errorOf(nested("module {\n", "", "}\n", 5000)),
              "net.mlir:257:8: error: nests deeper than 256 brackets");
  });
}

void expectCompiled(const std::string &text) {
  auto module = Module::parse(text, "net.mlir");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  StepOptions options;
  options.batch = kRows;
  options.totalSteps = 1;
  auto step = module->compileStep(options);
  EXPECT_TRUE(bool(step)) << llvm::toString(step.takeError());
}

TEST(DeepModules, WithinTheLimitAreCompiled) {
  onSmallStack([] {
    for (const std::string &value :
         {nested("[", "1", "]", 250), nested("{a = ", "1", "}", 250),
          nested("tuple<", "i32", ">", 250),
          "affine_map<(d0) -> (" + nested("(", "d0", ")", 250) + ")>"})
      expectCompiled(withAttribute(value));
  });
}

TEST(DeepModules, OfRegionsWithinTheLimitAreCompiled) {
  std::string text = kSmallModule, product = "%logits = mp.linear %x",
              type = "tensor<?x4xf32>", value = "%x", regions;
  for (int i = 0; i < 250; ++i) {
    std::string name = "%r" + std::to_string(i);
    regions = name + " = mp.autocast enabled(false) {\n" + regions +
              "mp.yield " + value + " : " + type + "\n} : " + type + "\n";
    value = name;
  }
  text.replace(text.find(product), product.size(),
               regions + "%logits = mp.linear " + value);
  onSmallStack([&] { expectCompiled(text); });
}

TEST(DeepModules, AreNoBytecode) {
  std::string error = errorOf("ML\xEFR");
  EXPECT_NE(error.find("mp-opt --trust-bytecode"), std::string::npos) << error;
}

TEST(DeepModules, TheDslSaysItsVersion) {
  Graph net("m");
  net.output("y", net.input("x", F32, {2}));
  auto text = net.text();
  ASSERT_TRUE(bool(text));
  EXPECT_NE(text->find("module @m attributes {mp.version = \"0."),
            std::string::npos)
      << *text;
}

} // namespace
