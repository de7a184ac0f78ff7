//===- RankReduction.cpp - what ranks give, reduced in their order --------===//
#include "codegen/cuda/RankReduction.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/SourceText.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mp;
using namespace mp::cuda;

static llvm::StringRef nameOf(RankReduction reduction) {
  switch (reduction) {
  case RankReduction::sum:
    return "SumOfRanks";
  case RankReduction::max:
    return "MaxOfRanks";
  case RankReduction::logicalOr:
    return "OrOfRanks";
  }
  llvm_unreachable("all reductions are handled");
}

std::string mp::cuda::emitRankReduction(RankReduction reduction,
                                        mlir::Type element,
                                        KernelStore &store) {
  constexpr int64_t threads = 256;
  std::string type = storageType(element);
  SourceText text;
  text.line("#include \"ranks.cuh\"");
  text.line("using namespace mp;");
  text.blank();
  text.open(KernelStore::head(threads) + " " + KernelStore::name + "(" + type +
            " *from, " + type + " *to, long long count, int ranks)");
  text.line("reduceRanks<" + nameOf(reduction) + ">(from, to, count, ranks);");
  text.close();
  return store.add(text.str());
}
