//===- Variant.h - one function under one policy, or in f64 ---------------===//
#ifndef MP_PRECISION_COMPARE_VARIANT_H
#define MP_PRECISION_COMPARE_VARIANT_H

#include "program/Program.h"
#include <functional>
#include <map>

namespace mp::precision {

/// The module, and what of it is compared.
struct Subject {
  std::string text, filename; ///< of the module
  std::string function;       ///< the one that is compared
  std::string recipe;         ///< entry of the recipe that trains it, or ""
  /// What the recipe says: "f16", "torch"; "" where it does not.
  std::string dtype, policy;
  std::string scaler; ///< preset that was asked for instead of the recipe's
  int64_t batch = 0;
  std::function<void(llvm::StringRef)> onWarning;

  /// The text of a line of the module, trimmed; "" for another file's.
  llvm::StringRef line(const Location &location) const;
};

/// `name` is a recipe's or a function's; empty: the only recipe, or the only
/// function where there is none. Errors: no such one, more than one.
llvm::Expected<Subject>
readSubject(llvm::StringRef filename, llvm::StringRef name, int64_t batch,
            std::function<void(llvm::StringRef)> onWarning);

/// How a variant computes.
struct Setting {
  std::string title;     ///< "fp16:torch", for people
  std::string precision; ///< "fp16", as --precision takes it
  std::string dtype;     ///< "f16", "bf16", "tf32", "f32"; "f64": the reference
  std::string policy = {}; ///< of autocast; "" where nothing is cast
  std::string scaler = {}; ///< as CompileOptions'
  /// Loss scale of gradients, instead of the one that training begins with.
  std::optional<double> scale = std::nullopt;
  /// Half the distance from one to the next number, relative.
  double roundoff() const;
};

/// `text` is TYPE:POLICY, POLICY or TYPE, which is a precision's name; what it
/// does not say is `precision`, else the recipe's, else fp16 and torch.
llvm::Expected<Setting> parseSetting(llvm::StringRef text,
                                     llvm::StringRef precision,
                                     const Subject &subject);
Setting plainSetting();     ///< f32 throughout
Setting referenceSetting(); ///< f64 throughout

struct CastFact {
  unsigned operand = 0;
  std::string from, to;
  bool shared = false; ///< an op before had the same value cast
};

/// An op that yields a value.
struct OpFacts {
  std::string name, variable; ///< "mp.read", and of what
  Location source;
  std::vector<int64_t> operands; ///< numbers of the ops that yield them
  bool yieldsFloats = false;
  std::string type; ///< that it runs in
  /// What the policy says; "" where none was asked.
  std::string category, why, runsIn;
  std::vector<CastFact> casts = {};
};

struct Variant {
  std::string module; ///< its text; the function returns what was asked for
  std::map<int64_t, OpFacts> ops;   ///< by number
  int64_t casts = 0, castBytes = 0; ///< of the function
  /// Of the step, backward among it, where mp-place-casts has put them.
  int64_t stepCasts = 0, stepCastBytes = 0;
  double scale = 1; ///< by which gradients are too large
};

/// What a variant's function returns.
enum class Expose {
  Everything,         ///< every value, and its gradient
  ParameterGradients, ///< of what reads parameters; casts of the step are not
                      ///< counted
};

/// Fails with located diagnostics.
llvm::Expected<Variant> makeVariant(const Subject &subject,
                                    const Setting &setting,
                                    Expose what = Expose::Everything);

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_VARIANT_H
