//===- Setting.cpp - how a variant computes -------------------------------===//
#include "passes/Passes.h"
#include "precision/compare/Variant.h"

using namespace llvm;

namespace mp::precision {

double Setting::roundoff() const {
  if (dtype == "bf16")
    return 0x1p-8;
  return dtype == "f32" ? 0x1p-24 : dtype == "f64" ? 0x1p-53 : 0x1p-11;
}

Setting plainSetting() { return {"fp32", "fp32", "f32"}; }
Setting referenceSetting() { return {"f64", "", "f64"}; }

static std::string precisionOf(StringRef dtype) {
  return dtype == "f16" ? "fp16" : dtype == "f32" ? "fp32" : dtype.str();
}

Expected<Setting> parseSetting(StringRef text, StringRef precision,
                               const Subject &subject) {
  Setting setting;
  auto [head, tail] = text.split(':');
  auto named = resolvePrecision(head);
  if (named && !named->dtype.empty()) {
    setting.precision = named->name.str();
    setting.policy = tail.str();
  } else {
    if (!named)
      consumeError(named.takeError());
    setting.policy = text.str();
    setting.precision = !precision.empty()       ? precision.str()
                        : !subject.dtype.empty() ? precisionOf(subject.dtype)
                                                 : "fp16";
    named = resolvePrecision(setting.precision);
    if (!named)
      return named.takeError();
  }
  if (named->dtype == "f32")
    return plainSetting();
  setting.dtype = named->dtype.str();
  if (setting.dtype == "f16")
    setting.scaler = subject.scaler;
  if (setting.policy.empty())
    setting.policy = named->policy.str();
  if (setting.policy.empty())
    setting.policy = subject.policy.empty() ? "torch" : subject.policy;
  setting.title = precisionOf(setting.dtype) + ":" + setting.policy;
  return setting;
}

} // namespace mp::precision
