//===- Predict.h - classes of pictures ------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_PREDICT_H
#define MP_RUNTIME_TRAIN_PREDICT_H

#include "runtime/train/Evaluate.h"

namespace mp {

/// What a network says of a picture.
struct PicturePrediction {
  struct Class {
    std::string name;
    double probability;
  };
  std::string path;
  std::vector<Class> classes; ///< the most probable first
};

/// Gives each picture to the network of a checkpoint, scaled and cropped as
/// the pictures of a data source are, and returns the softmax of its logits:
/// the `most` most probable classes. `EvalOptions::predictions` names the
/// logits; unless it does, they are the only result of the recipe's function
/// that has dimensions. `names` are those of the classes; if there are none,
/// those of the folders that the network was trained on, else their numbers.
///
/// Errors: a picture that cannot be decoded; a network without one input of
/// bytes of [batch, height, width] or [batch, height, width, 1 or 3]; logits
/// other than [batch, classes]; another number of names.
llvm::Expected<std::vector<PicturePrediction>>
predictPictures(const EvalOptions &options, llvm::ArrayRef<std::string> paths,
                std::vector<std::string> names, size_t most, Compiler compiler,
                SessionFactory createSession = Session::create);

} // namespace mp

#endif // MP_RUNTIME_TRAIN_PREDICT_H
