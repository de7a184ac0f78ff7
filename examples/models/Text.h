//===- Text.h - networks of text, by name -----------------------*- C++ -*-===//
//
// Names of parameters are those of Hugging Face's transformers, so that its
// safetensors load and save.
//
//===----------------------------------------------------------------------===//
#ifndef EXAMPLES_MODELS_TEXT_H
#define EXAMPLES_MODELS_TEXT_H

#include "examples/models/Blocks.h"
#include <span>

namespace models {

/// The sizes of a network of text.
struct TextSizes {
  int64_t tokens;     ///< of a sample
  int64_t vocabulary; ///< different tokens
  int64_t layers, channels, heads;
  int64_t classes = 0; ///< of a classifier
  int64_t texts = 1;   ///< of a sample that a classifier takes
  std::vector<double> classWeights = {}; ///< of its loss; empty: all the same
};

/// A network with its inputs, outputs and recipe.
using TextNetwork = void (*)(Graph &net, const TextSizes &sizes);

/// Predicts the next token: GPT2LMHeadModel (Radford et al., 2019). Inputs "x"
/// and "y" [batch, tokens], ui16; outputs "loss", "bits" (the loss in bits a
/// token), "accuracy" and "logits". Without dropout, as nanoGPT.
void gpt2(Graph &net, const TextSizes &sizes);

/// The inputs of a classifier of texts. Texts are filled at their ends, so that
/// `lengths` is what BERT's attention mask is.
struct TextInputs {
  Tensor tokens;     ///< "tokens" [batch, tokens], ui16
  Tensor lengths;    ///< "lengths" [batch], i32: those that are not filled in
  Tensor label;      ///< "label" [batch], i32
  Tensor types = {}; ///< "types" [batch, tokens], ui8: 1 in a second text
};
/// Adds them; `types` are there if a sample is two texts.
TextInputs textInputs(Graph &net, const TextSizes &sizes);

/// The logits [batch, classes] of BertForSequenceClassification (Devlin et al.,
/// 2018). Dropout is 0.1, but not of attention.
Tensor bertLogits(Graph &net, const TextInputs &inputs, const TextSizes &sizes);

/// Classifies texts, or pairs of them, by bertLogits of textInputs; outputs
/// "loss", "accuracy" and "logits".
void bert(Graph &net, const TextSizes &sizes);

struct TextModel {
  std::string name, about;
  TextNetwork network;
  TextSizes sizes;
};
std::span<const TextModel> allTextModels();

/// What differs from the model's own sizes; 0: nothing.
struct TextOptions {
  int64_t tokens = 0, vocabulary = 0, layers = 0, classes = 0, texts = 0;
  double width = 1; ///< factor of the channels; heads stay as many
  std::vector<double> classWeights = {}; ///< of the classes that there are then
};

/// Adds a model with its data and a recipe in bf16 to a graph. Returns what is
/// wrong in the options, or "".
std::string build(Graph &net, const TextModel &model,
                  const TextOptions &options);

} // namespace models

#endif // EXAMPLES_MODELS_TEXT_H
