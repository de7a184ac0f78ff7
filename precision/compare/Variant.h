//===- Variant.h - one function under one policy, or in f64 ---------------===//
#ifndef MP_PRECISION_COMPARE_VARIANT_H
#define MP_PRECISION_COMPARE_VARIANT_H

#include "program/Program.h"
#include <functional>
#include <map>

namespace mp::precision {

/// The module, and the function of it that is compared.
struct Subject {
  std::string text, filename; ///< of the module
  std::string function;       ///< the one that is compared
  std::string recipe;         ///< entry of the recipe that trains it, or ""
  /// The recipe's settings: "f16", "torch"; "" without one.
  std::string dtype, policy;
  std::string scaler; ///< preset given instead of the recipe's
  int64_t batch = 0;
  std::function<void(llvm::StringRef)> onWarning;

  /// Returns the text of a line of the module, trimmed; "" for another file's.
  llvm::StringRef line(const Location &location) const;
};

/// Reads a module. `name` is a recipe's or a function's; empty: the only
/// recipe, or if there is none the only function. Errors: no such one, more
/// than one.
llvm::Expected<Subject>
readSubject(llvm::StringRef filename, llvm::StringRef name, int64_t batch,
            std::function<void(llvm::StringRef)> onWarning);

/// How a variant computes.
struct Setting {
  std::string title;     ///< "fp16:torch", for reports
  std::string precision; ///< "fp16", as --precision takes it
  std::string dtype;     ///< "f16", "bf16", "tf32", "f32"; "f64": the reference
  std::string policy = {}; ///< of autocast; "" if nothing is cast
  std::string scaler = {}; ///< as in CompileOptions
  /// The loss scale of gradients, instead of the one that training begins with.
  std::optional<double> scale = std::nullopt;
  /// Returns half the distance from one to the next number, relative.
  double roundoff() const;
};

/// Parses `text`, which is TYPE:POLICY, POLICY or TYPE, a precision's name. A
/// missing part is `precision`, else the recipe's, else fp16 and torch.
llvm::Expected<Setting> parseSetting(llvm::StringRef text,
                                     llvm::StringRef precision,
                                     const Subject &subject);
Setting plainSetting();     ///< f32 throughout
Setting referenceSetting(); ///< f64 throughout

struct CastFact {
  unsigned operand = 0;
  std::string from, to;
  bool shared = false; ///< an earlier op had the same value cast
};

/// An op that yields a value.
struct OpFacts {
  std::string name, variable; ///< "mp.read", and the variable it reads
  Location source;
  std::vector<int64_t> operands; ///< numbers of the ops that yield them
  bool yieldsFloats = false;
  std::string type; ///< the type that it runs in
  /// The policy's explanation; "" without a policy.
  std::string category, why, runsIn;
  std::vector<CastFact> casts = {};
};

struct Variant {
  std::string module; ///< its text; the function returns the exposed values
  std::map<int64_t, OpFacts> ops;   ///< by number
  int64_t casts = 0, castBytes = 0; ///< of the function
  /// Casts of the step with its backward, after mp-place-casts.
  int64_t stepCasts = 0, stepCastBytes = 0;
  double scale = 1; ///< the factor in the gradients
};

/// The values that a variant's function returns.
enum class Expose {
  Everything,         ///< every value, and its gradient
  ParameterGradients, ///< only those of parameters; casts of the step are not
                      ///< counted
};

/// Makes a variant. Fails with located diagnostics.
llvm::Expected<Variant> makeVariant(const Subject &subject,
                                    const Setting &setting,
                                    Expose what = Expose::Everything);

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_VARIANT_H
