//===- policy.cpp - fuzz target: the JSON of an autocast policy -----------===//
#include "passes/autocast/Policy.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text = textOf(data, size);
  // A policy may extend a file of any name.
  if (text.contains("json"))
    return 0;
  auto policy = Policy::parse(text, "fuzz.json");
  if (!succeeds(policy))
    return 0;
  for (const char *type : {"", "f16", "bf16", "tf32"}) {
    policy->chooseType(type);
    for (const char *op : {"mp.linear", "mp.exp", "own.op"})
      (void)policy->decide(op, "torch:linear", NumericClass());
  }
  (void)policy->listed();
  (void)policy->listedPlaces();
  return 0;
}
