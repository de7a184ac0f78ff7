//===- Policy.h - which ops an autocast runs low --------------------------===//
//
// A policy is data: lists of op names in some system's vocabulary, and what
// becomes of an op that is in none. The presets are JSON files in policies/,
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

/// What a policy makes of an op. "Low" is the type that is cast to.
enum class Category {
  Allow,    ///< eligible operands in the low type
  Deny,     ///< eligible operands in f32
  Promote,  ///< eligible operands in the widest of their types; 16-bit types
            ///< other than the low one are an error
  Banned,   ///< an error
  Native,   ///< as it comes; mixed operands promote, as tensors do in PyTorch
  Follow,   ///< low if all eligible operands are, or can be had so; else f32
  Result,   ///< the first eligible operand, and with it the result, in f32
  Boundary, ///< operands and result low, computed in f32 inside
  Infer,    ///< TensorFlow: low between ops that are, not behind a denied one
  Clear,    ///< TensorFlow: changes no number, takes its neighbours' type
  Barrier,  ///< f32, and ends every propagation
};
constexpr unsigned categoryCount = unsigned(Category::Barrier) + 1;

/// The category's name in policy files.
llvm::StringRef nameOf(Category category);
std::optional<Category> parseCategory(llvm::StringRef name);

/// Which types floats have that a function returns.
enum class Outputs {
  AsComputed, ///< that of the op that yields them, as in PyTorch
  Wide,       ///< f32, as in jmp
  Declared,   ///< the one that the function says, as in Relax
};

/// What a policy says of one op, and why.
struct Judgement {
  Category category = Category::Native;
  /// "listed under deny as \"softmax\"", "not listed".
  std::string rule;
};

/// In which 8-bit types contractions that run low keep their operands: those
/// that forward reads, and the gradients that arrive. See `#mp.storage`.
struct Storage {
  std::string forward, backward;
  int64_t amaxHistory = 16, margin = 0;
};

class Policy {
public:
  /// A preset by its name, or else a JSON file by its path (it ends in
  /// ".json"). An unknown name is an error that lists the presets.
  static llvm::Expected<Policy> load(llvm::StringRef name);
  /// `source` names the policy in errors.
  static llvm::Expected<Policy> parse(llvm::StringRef text,
                                      llvm::StringRef source);
  static llvm::Expected<Policy> read(const llvm::json::Object &object,
                                     llvm::StringRef source);
  /// Names of the presets.
  static std::vector<std::string> names();

  llvm::StringRef name() const { return title; }
  llvm::StringRef about() const { return description; }
  /// The system whose names the lists use.
  llvm::StringRef system() const { return vocabulary; }
  /// "eager" or "propagate": the mode that the system decides in.
  llvm::StringRef mode() const { return defaultMode; }
  /// Low types that the lists are for; empty: any.
  llvm::ArrayRef<std::string> dtypes() const { return types; }
  Category unlisted() const { return otherwise; }
  Outputs outputs() const { return returned; }
  /// Whether a contraction that runs low yields its f32 sums unrounded where
  /// the function returns them: Relax's `out_dtype`.
  bool keepsSums() const { return sums; }
  const std::optional<Storage> &storage() const { return stored; }
  /// Types for which the policy has lists of their own.
  std::vector<std::string> listedTypes() const;
  /// Lets the lists for a low type count; without it only those for all do.
  void chooseType(llvm::StringRef type) { chosenType = type.str(); }
  const std::string &type() const { return chosenType; }
  /// Checks the names that a user's policy lists against the ops there are;
  /// presets name ops that we have none of.
  llvm::Error checkNames(mlir::MLIRContext *context) const;

  /// Names in the lists that stand for single ops, as `placeNames` gives them.
  std::vector<std::string> listedPlaces() const;

  /// Moves ops to a category. Names are ours ("mp.exp", or of one op alone
  /// "mp.exp@mlp.mlir:12"), the system's, or "class:" and a numeric class.
  /// `known` are names beyond the policy's own that an op of ours has; a name
  /// that neither knows is an error with the nearest ones.
  llvm::Error move(llvm::ArrayRef<std::string> ops, Category category,
                   llvm::ArrayRef<std::string> known);
  /// Every name in the lists, for checks of spelling.
  std::vector<std::string> listed() const;

  /// What the op says of itself, or else what the lists say.
  Judgement judge(AutocastOpInterface op) const;
  /// What the op's own attribute says; nothing where it has none.
  static std::optional<Judgement> judgeByWord(mlir::Operation *op);
  /// The same of an op that there need not be one of: `names` gives its name in
  /// a system, `places` are those of the op alone.
  Judgement judge(llvm::StringRef op,
                  llvm::function_ref<llvm::StringRef(llvm::StringRef)> names,
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
  llvm::Error unknownName(llvm::StringRef name,
                          llvm::ArrayRef<std::string> known) const;

  std::string title, description, vocabulary, defaultMode = "eager";
  std::vector<std::string> types;
  Category otherwise = Category::Native;
  Outputs returned = Outputs::AsComputed;
  bool sums = false;
  std::optional<Storage> stored;
  std::string chosenType;
  /// Those of the policy that all extend, ..., its own, and what was moved.
  /// Whatever a later one says goes before the earlier ones.
  std::vector<Layer> layers;
  size_t ownLayers = 0; ///< the first of the policy's own
};

/// The names of one op alone, the most exact first: "mp.exp@mlp.mlir:12:8" by
/// file, line and column, "mp.exp@mlp.mlir:12", and "mp.exp@gate" where its
/// location has a name, as loc("gate") gives it. Folders are left out.
std::vector<std::string> placeNames(mlir::Operation *op);

/// The ops that policies judge, by name.
std::vector<mlir::RegisteredOperationName>
judgedOps(mlir::MLIRContext *context);

/// The names that ops of ours have in `system`, and our own.
std::vector<std::string> registeredNames(mlir::MLIRContext *context,
                                         llvm::StringRef system);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_POLICY_H
