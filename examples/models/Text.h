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
  int64_t tokens;     ///< of a sample; frames of speechCtc
  int64_t vocabulary; ///< different tokens; symbols of speechCtc, with blank
  int64_t layers, channels, heads;
  int64_t classes = 0; ///< of a classifier
  int64_t texts = 1;   ///< of a sample that a classifier takes
  std::vector<double> classWeights = {}; ///< of its loss; empty: all the same
  /// Features of feed-forward layers, of llama and t5; cells of bigLstm.
  int64_t hidden = 0;
  int64_t keyHeads = 0; ///< heads of keys and values, of llama
  double base = 10000;  ///< of rotary positions
  std::optional<RotaryScaling> scaling = {};
  /// Whether the classifier of llama and of lstmLm is the table of tokens.
  bool isTied = false;
  /// Texts that go on from batch to batch, which is how many a batch has, of
  /// lstmLm; 0: samples are independent, and as many as one likes.
  int64_t streams = 0;
  double dropout = 0; ///< in training, of attention's weights too
  /// Whether a sample is several texts that do not see one another, of gpt2.
  bool isPacked = false;
};

/// A network with its inputs, outputs and recipe.
using TextNetwork = void (*)(Graph &net, const TextSizes &sizes);

/// Predicts the next token: GPT2LMHeadModel (Radford et al., 2019). Inputs "x"
/// and "y" [batch, tokens], of the type of tokens; outputs "loss", "bits" (the
/// loss in bits a token), "accuracy" and "logits". Packed texts have other
/// inputs: packedTexts.
void gpt2(Graph &net, const TextSizes &sizes);

/// Predicts the next token: LlamaForCausalLM (Touvron et al., 2023). Inputs and
/// outputs are those of gpt2.
void llama(Graph &net, const TextSizes &sizes);

/// Predicts the next token from a state: layers of LSTMs (Zaremba et al.,
/// 2014). A sample begins with zeros, or in training with the states that the
/// sample before ended with, if there are streams. Inputs and outputs are those
/// of gpt2.
void lstmLm(Graph &net, const TextSizes &sizes);

/// The same with many cells, whose states are projected, and a sampled softmax
/// of a large vocabulary (Jozefowicz et al., 2016). Evaluation has the softmax
/// over all tokens. Inputs are those of gpt2; outputs "loss", "bits" and
/// "logits".
void bigLstm(Graph &net, const TextSizes &sizes);

/// The inputs of a classifier of texts. Texts are filled at their ends, so that
/// `lengths` is what BERT's attention mask is.
struct TextInputs {
  Tensor tokens;     ///< "tokens" [batch, tokens], of the type of tokens
  Tensor lengths;    ///< "lengths" [batch], i32: those that are not filled in
  Tensor label = {}; ///< "label" [batch], i32
  Tensor types = {}; ///< "types" [batch, tokens], ui8: 1 in a second text
};
/// Adds them; `types` are there if a sample is two texts.
TextInputs textInputs(Graph &net, const TextSizes &sizes);

/// The logits [batch, classes] of BertForSequenceClassification (Devlin et al.,
/// 2018).
Tensor bertLogits(Graph &net, const TextInputs &inputs, const TextSizes &sizes);

/// Classifies texts, or pairs of them, by bertLogits of textInputs; outputs
/// "loss", "accuracy" and "logits".
void bert(Graph &net, const TextSizes &sizes);

/// Finds the tokens that were masked: BertForMaskedLM. Inputs "tokens", with
/// masks, "lengths", and "labels" [batch, tokens], which are -100 where a token
/// is not asked for.
void bertMaskedLm(Graph &net, const TextSizes &sizes);

/// Writes a text from another one: T5ForConditionalGeneration (Raffel et al.,
/// 2020). Inputs "tokens" [batch, tokens], "lengths" [batch], and "labels"
/// [batch, tokens], the text to write; labels of 0 (padding) and -100 are not
/// asked for.
void t5(Graph &net, const TextSizes &sizes);

/// The same by LSTMs with attention (Luong et al., 2015). Inputs and outputs
/// are those of t5.
void seq2seq(Graph &net, const TextSizes &sizes);

/// Recognizes symbols in a sequence of frames: LSTMs in both directions and CTC
/// (Graves et al., 2013). Inputs "frames" [batch, tokens, 123], f32, "lengths"
/// [batch], i32, and "labels" [batch, tokens / 8], i32: symbols from 1 to
/// vocabulary - 1, and 0 after the last one. Outputs "loss", "error_rate" (of
/// symbols) and "logits" [batch, tokens, vocabulary], in which 0 is the blank.
void speechCtc(Graph &net, const TextSizes &sizes);

struct TextModel {
  std::string name, about;
  TextNetwork network;
  TextSizes sizes;
};
std::span<const TextModel> allTextModels();

/// What differs from the model's own sizes; 0: nothing.
struct TextOptions {
  int64_t tokens = 0, vocabulary = 0, layers = 0, classes = 0, texts = 0,
          streams = 0;
  double width = 1; ///< factor of the channels; heads stay as many
  std::optional<double> dropout = std::nullopt; ///< nothing: the model's
  bool isPacked = false;
  std::vector<double> classWeights = {}; ///< of the classes that there are then
};

/// Adds a model with its data and a recipe in bf16 to a graph. Returns what is
/// wrong in the options, or "".
std::string build(Graph &net, const TextModel &model,
                  const TextOptions &options);

//===----------------------------------------------------------------------===//
// What the networks are made of
//===----------------------------------------------------------------------===//

/// An input [batch, tokens] of tokens: of ui16, or of ui32 if the vocabulary is
/// larger.
Tensor tokensInput(Graph &net, const std::string &name, const TextSizes &sizes);

/// A text, and the text that is to be written from it.
struct TextPair {
  Tensor tokens;  ///< "tokens" [batch, tokens], of the type of tokens
  Tensor lengths; ///< "lengths" [batch], i32: those that are not filled in
  Tensor labels;  ///< "labels" [batch, tokens], i32
};
TextPair textPair(Graph &net, const TextSizes &sizes);

/// Samples of several texts, one after the other, as mp-data tokenize
/// --segments packs them.
struct PackedTexts {
  Tensor tokens;   ///< "tokens" [batch, tokens], of the type of tokens
  Tensor segments; ///< "segments" [batch, tokens], ui16: the number of the text
                   ///< that a token is of, from 1 on; 0 at the end
  Tensor positions = {}; ///< "positions" [batch, tokens], ui16: the place in it
  /// The next token of the same text, [batch, tokens], i32; -100 at its end.
  Tensor labels = {};
  /// Whether two tokens are of one text, [batch, 1, tokens, tokens].
  Tensor isSeen = {};
};
PackedTexts packedTexts(Graph &net, const TextSizes &sizes);

/// Dropout of the network's, if it has any.
Tensor drop(const Tensor &x, const TextSizes &sizes);
/// The same of the weights of an attention.
void dropWeights(Graph &net, ScaledDotProductAttentionOptions &attention,
                 const TextSizes &sizes);

/// What a decoder is given to write the labels [batch, tokens]: padding, 0,
/// and the labels before.
Tensor shifted(const Tensor &labels);

/// A table with a row of channels for each token, drawn with this deviation.
Tensor tokenTable(Graph &net, const std::string &name, const TextSizes &sizes,
                  double deviation = 0.02);

/// y = x W^T, where name.weight [out, in] is drawn with this deviation.
Tensor project(Graph &net, const Tensor &x, int64_t out,
               const std::string &name, double deviation = 0.02);

/// Outputs "loss", "bits", "accuracy" and "logits" [batch, tokens, vocabulary]
/// of the labels [batch, tokens].
void predictTokens(Graph &net, const Tensor &logits, const Tensor &labels);
/// The same without bits, of i32 labels that may be -100, or anything below
/// `first`: these are not asked for.
void predictLabelled(Graph &net, const Tensor &logits, const Tensor &labels,
                     int64_t first = 0);

/// Trains in bf16 with AdamW: the parameters of these names decay, the others
/// do not.
struct Decay {
  std::vector<std::string> params, others;
};
void trainWithAdamw(Graph &net, const Decay &decay, const AdamwOptions &adamw,
                    const Schedule &schedule);

/// Inputs "x" and "y" are windows of train.bin and val.bin.
void readWindows(Graph &net, const TextSizes &sizes);
/// The inputs of packedTexts are train.npy, train-segments.npy and
/// train-positions.npy, and the same with test.
void readPacked(Graph &net);
/// Inputs "tokens", or those of another name, "lengths" and the labels of that
/// name are the arrays train.npy, train-lengths.npy and train-labels.npy, and
/// the same with test, as mp-data tokenize --field writes them; "types" are
/// train-types.npy.
void readTexts(Graph &net, const std::string &labels, bool hasTypes = false,
               const std::string &samples = "tokens");

} // namespace models

#endif // EXAMPLES_MODELS_TEXT_H
