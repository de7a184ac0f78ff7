//===- PlaceCasts.cpp - fewer and smaller casts of the same bits ----------===//
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/autocast/CastPlacement.h"
#include "support/Json.h"
#include "llvm/Support/FormatVariadic.h"

namespace mp {
#define GEN_PASS_DEF_PLACECASTS
#include "passes/autocast/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

static llvm::json::Object asJson(CastCost cost) {
  return llvm::json::Object{{"casts", cost.casts}, {"bytes", cost.bytes}};
}

namespace {
struct PlaceCasts : mp::impl::PlaceCastsBase<PlaceCasts> {
  using Base::Base;

  void runOnOperation() override {
    llvm::json::Array report;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.getBody().hasOneBlock())
        continue;
      CastCost before = costOfCasts(function);
      placeCasts(function);
      CastCost after = costOfCasts(function);
      remark::passed(
          function.getLoc(),
          remark::RemarkOpts::name("placed").category("mp-place-casts"))
          << llvm::formatv("@{0}: {1} casts of {2} bytes, {3} of {4} before",
                           function.getName(), after.casts, after.bytes,
                           before.casts, before.bytes)
                 .str();
      report.push_back(
          llvm::json::Object{{"function", function.getName().str()},
                             {"before", asJson(before)},
                             {"after", asJson(after)}});
    }
    if (explain.empty())
      return;
    if (llvm::Error error = writeJsonFile(explain, std::move(report))) {
      getOperation().emitError() << toString(std::move(error));
      signalPassFailure();
    }
  }
};
} // namespace
