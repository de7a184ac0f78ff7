//===- Policy.h - which ops an autocast runs low --------------------------===//
//
// A policy is data: lists of op names in some system's vocabulary, and a
// category for ops that are in none. The presets are JSON files in policies/,
// embedded by the build; a user's own are JSON files, or `mp.policy` in the
// module. Facts about ops (their names elsewhere, which operands may change)
// stay with the ops.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTOCAST_POLICY_H
#define MP_PASSES_AUTOCAST_POLICY_H

#include "dialect/Mp.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mp {

/// The category that a policy gives an op. "Low" is the type that is cast to.
enum class Category {
  Allow,    ///< eligible operands in the low type
  Deny,     ///< eligible operands in f32
  Promote,  ///< eligible operands in the widest of their types; 16-bit types
            ///< other than the low one are an error
  Banned,   ///< an error
  Native,   ///< unchanged; mixed operands promote, as tensors do in PyTorch
  Follow,   ///< low if all eligible operands are or become so at no cost; else
            ///< f32
  Result,   ///< the first eligible operand, and with it the result, in f32
  Boundary, ///< operands and result low, computed in f32 inside
  Infer,    ///< TensorFlow: low between low ops, not after a denied one
  Clear,    ///< TensorFlow: changes no number, takes its neighbours' type
  Barrier,  ///< f32, and ends every propagation
};
constexpr unsigned kCategoryCount = unsigned(Category::Barrier) + 1;

/// The category's name in policy files.
llvm::StringRef nameOf(Category category);
std::optional<Category> parseCategory(llvm::StringRef name);

/// The types of a function's float results.
enum class Outputs {
  AsComputed, ///< those of the ops that yield them, as in PyTorch
  Wide,       ///< f32, as in jmp
  Declared,   ///< those that the function declares, as in Relax
};

/// A policy's category for one op, and the reason.
struct CastDecision {
  Category category = Category::Native;
  /// "listed under deny as \"softmax\"", "not listed".
  std::string rule;
};

/// The 8-bit types in which contractions that run low keep their operands:
/// those that forward reads, and the gradients that arrive. See `#mp.storage`.
struct Storage {
  std::string forward, backward;
  int64_t amaxHistory = 16, margin = 0;
};

/// The names that lists may have beside those of the presets.
struct KnownNames {
  std::vector<std::string> ops;    ///< of dialects: "mp.exp", "own.softcap"
  std::vector<std::string> others; ///< of the system, and "class:loss"
};

class Policy {
public:
  /// Loads a preset by its name, or else a JSON file by its path (it ends in
  /// ".json"). An unknown name is an error that lists the presets.
  static llvm::Expected<Policy> load(llvm::StringRef name);
  /// `source` names the policy in errors.
  static llvm::Expected<Policy> parse(llvm::StringRef text,
                                      llvm::StringRef source);
  static llvm::Expected<Policy> read(const llvm::json::Object &object,
                                     llvm::StringRef source);
  /// Returns the names of the presets.
  static std::vector<std::string> names();

  llvm::StringRef name() const { return title; }
  llvm::StringRef about() const { return description; }
  /// Returns the system whose names the lists use.
  llvm::StringRef system() const { return vocabulary; }
  /// Returns "eager" or "propagate": the mode in which the system decides.
  llvm::StringRef mode() const { return defaultMode; }
  /// Returns the low types that the lists are for; empty: any.
  llvm::ArrayRef<std::string> dtypes() const { return types; }
  Category unlisted() const { return otherwise; }
  Outputs outputs() const { return returned; }
  /// Whether a contraction that runs low yields its f32 sums unrounded if the
  /// function returns them: Relax's `out_dtype`.
  bool keepsSums() const { return sums; }
  const std::optional<Storage> &storage() const { return stored; }
  /// Returns the types for which the policy has lists of their own.
  std::vector<std::string> listedTypes() const;
  /// Activates the lists for a low type; without it only those for all types
  /// count.
  void chooseType(llvm::StringRef type) { chosenType = type.str(); }
  const std::string &type() const { return chosenType; }
  /// Finds out which ops the names in a user's lists mean, among those of the
  /// context's dialects, and fails if there is an unknown one. Presets also
  /// name ops that Mantissa lacks.
  llvm::Error resolveNames(mlir::MLIRContext *context);

  /// Returns the names in the lists that stand for single ops, as `placeNames`
  /// gives them.
  std::vector<std::string> listedPlaces() const;

  /// Moves ops to a category. Names are those of dialects ("mp.exp", or of one
  /// op alone "mp.exp@mlp.mlir:12"), the system's, or "class:" and a numeric
  /// class. A name that neither `known` nor the policy has is an error with the
  /// nearest ones.
  llvm::Error move(llvm::ArrayRef<std::string> ops, Category category,
                   const KnownNames &known);
  /// Returns every name in the lists, for checks of spelling.
  std::vector<std::string> listed() const;

  /// Judges an op by its own attribute, or else by the lists.
  CastDecision decide(AutocastOpInterface op) const;
  /// Judges by the op's own attribute; returns nothing if it has none.
  static std::optional<CastDecision> decideByWord(mlir::Operation *op);
  /// Judges an op that need not exist, by its names in the policy's vocabulary
  /// (`namesIn`); `places` are those of the op alone.
  CastDecision decide(llvm::StringRef op, llvm::StringRef names,
                      NumericClass kind,
                      llvm::ArrayRef<std::string> places = {}) const;

private:
  /// A list of names: for one low type, or for all.
  struct Layer {
    std::string type;
    llvm::StringMap<Category> names;
  };

  llvm::Error readPolicy(const llvm::json::Object &object);
  llvm::Error readLists(const llvm::json::Object &object, llvm::StringRef type);
  llvm::Error readStorage(const llvm::json::Object &object);
  llvm::Error readSettings(const llvm::json::Object &object);
  llvm::Error unknownName(llvm::StringRef name, const KnownNames &known) const;

  std::string title, description, vocabulary, defaultMode = "eager";
  std::vector<std::string> types;
  Category otherwise = Category::Native;
  Outputs returned = Outputs::AsComputed;
  bool sums = false;
  std::optional<Storage> stored;
  std::string chosenType;
  /// The lists of the base policy that all extend, ..., the policy's own, and
  /// those of `move`. A later entry overrides the earlier ones.
  std::vector<Layer> layers;
  size_t ownLayers = 0; ///< the first of the policy's own
};

/// Returns the names of one op alone, the most exact first:
/// "mp.exp@mlp.mlir:12:8" by file, line and column, "mp.exp@mlp.mlir:12", and
/// "mp.exp@gate" if its location has a name, as loc("gate") gives it. Folders
/// are left out.
std::vector<std::string> placeNames(mlir::Operation *op);

/// Returns the op's name in a policy's vocabulary: a system's, "A+B" if the
/// system makes it of several, or "class", whose names are the numeric classes.
llvm::StringRef namesIn(llvm::StringRef vocabulary,
                        const AutocastOpInterface::Concept &facts);

/// Returns a numeric class as every policy may list it, "class:contraction".
std::string className(NumericClass kind);

/// Returns the ops that policies judge, by name.
std::vector<mlir::RegisteredOperationName>
decidedOps(mlir::MLIRContext *context);

/// Returns the names of the context's ops.
KnownNames knownNames(mlir::MLIRContext *context, llvm::StringRef system);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_POLICY_H
