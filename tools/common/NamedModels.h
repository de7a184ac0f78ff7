//===- NamedModels.h - zoo:NAME in place of a module's file -----*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_NAMEDMODELS_H
#define MP_TOOLS_COMMON_NAMEDMODELS_H

#include "examples/models/Models.h"
#include "examples/models/Text.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mp::tool {

/// The largest factor of the numbers of channels, so that sizes do not
/// overflow.
inline constexpr int kLargestWidth = 64;

/// The options of networks of images and of text; each takes its own.
struct ZooOptions : models::ModelOptions {
  int64_t tokens = 0, vocabulary = 0, layers = 0, texts = 0, streams = 0;
  std::optional<double> dropout = std::nullopt;
  bool isPacked = false;
  std::string classWeights = {}; ///< path of an array of NumPy's format
};

/// Returns the text of a model's module. Errors: a name that no model has; what
/// is wrong in the options, or in the network that they make.
llvm::Expected<std::string> moduleOfModel(llvm::StringRef name,
                                          const ZooOptions &options);

/// The same by a text: "resnet50,width=0.25,classes=10,image=32,data=cifar10,
/// augment=pad-crop+flip", "gpt2,layers=4,tokens=128".
llvm::Expected<std::string> moduleOfModel(llvm::StringRef text);

/// Lets zoo:NAME take the place of a module's file in this process.
void nameModels();

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_NAMEDMODELS_H
