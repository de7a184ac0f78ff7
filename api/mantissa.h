//===- mantissa.h - compile and train models from C++ -----------*- C++ -*-===//
//
// The library's public interface. No header of MLIR is included.
//
//   auto module = mantissa::Module::read("mlp.mlir");
//   auto step = module->compileStep({.batch = 128});
//   auto results = step->run({{"image", images}, {"label", labels}});
//
// Every failure is an llvm::Error, which has to be looked at;
// mantissa-exceptions.h makes exceptions of them. docs/embedding.md shows all
// of it.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_H
#define MANTISSA_H

#include "runtime/Session.h"
#include "runtime/ranks/OpenRanks.h"
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Mantissa's public interface.
namespace mantissa {

using mp::Device;
using mp::ElementType;
using mp::TensorType;

class Graph; // dsl/Graph.h

//===----------------------------------------------------------------------===//
// Tensors in the caller's memory
//===----------------------------------------------------------------------===//

/// The most dimensions that a tensor of the caller can have.
inline constexpr size_t kMostDimensions = 8;

/// A view of a tensor in somebody else's memory: its type, its shape and where
/// its elements are, in row-major order without gaps. Nothing is copied, and
/// nothing is checked before the view is used: that names the tensor.
class TensorRef {
public:
  using Sizes = llvm::ArrayRef<int64_t>;

  TensorRef() = default;
  /// `strides` counts elements. A view whose strides are not those of dense
  /// elements is refused where it is used; empty means dense.
  TensorRef(ElementType element, const void *data, Sizes shape,
            Sizes strides = {});
  /// A tensor of numbers of the host: `TensorRef(pixels, {128, 28, 28})`. A
  /// shape may also be a vector of int64_t.
  template <mp::HostNumber T>
  TensorRef(const T *data, std::initializer_list<int64_t> shape)
      : TensorRef(*mp::elementOf<T>, data, Sizes(shape)) {}
  template <mp::HostNumber T>
  TensorRef(const T *data, const std::vector<int64_t> &shape)
      : TensorRef(*mp::elementOf<T>, data, Sizes(shape)) {}
  /// A vector, as one of one dimension.
  template <mp::HostNumbers R>
  TensorRef(const R &numbers)
      : TensorRef(std::data(numbers), {int64_t(std::size(numbers))}) {}
  /// A range of numbers in a shape, which has to have as many elements.
  template <mp::HostNumbers R>
  TensorRef(const R &numbers, std::initializer_list<int64_t> shape)
      : TensorRef(std::data(numbers), shape) {
    available = std::size(numbers);
  }
  template <mp::HostNumbers R>
  TensorRef(const R &numbers, const std::vector<int64_t> &shape)
      : TensorRef(std::data(numbers), shape) {
    available = std::size(numbers);
  }

  ElementType element() const { return kind; }
  const void *data() const { return address; }
  Sizes shape() const {
    return Sizes(sizes).take_front(std::min<size_t>(rank, kMostDimensions));
  }
  /// The number of elements: the product of the shape.
  int64_t size() const;
  uint64_t bytes() const { return size() * mp::byteWidth(kind); }
  /// "128x784xf32"
  std::string type() const;

  /// The elements. Fails if their type is not T.
  template <mp::HostNumber T> llvm::Expected<llvm::ArrayRef<T>> as() const {
    return view().as<T>();
  }
  /// The elements converted to f32: exact for f8, f16 and bf16.
  std::vector<float> floats() const { return view().floats(); }

  /// Fails unless the view has the given type, is dense, and its memory is
  /// there and aligned to its elements. The message begins with `name`.
  llvm::Error check(llvm::StringRef name, const TensorType &type) const;
  /// What check leaves of a view.
  mp::TensorView view() const { return {kind, address, bytes()}; }

private:
  llvm::Error checkMemory(llvm::StringRef name) const;

  ElementType kind = ElementType::F32;
  const void *address = nullptr;
  size_t rank = 0;
  bool isDense = true;
  std::array<int64_t, kMostDimensions> sizes = {}, steps = {};
  std::optional<size_t> available; ///< elements, if that is known
};

/// A tensor with the name of the input that it is for.
struct NamedTensor {
  llvm::StringRef name;
  TensorRef tensor;
};
using NamedTensors = llvm::ArrayRef<NamedTensor>;

/// The results of a run, by name. They lie in memory of the Step, and stay
/// until it is used again.
class Results {
public:
  Results() = default;
  explicit Results(const mp::Results &results, const mp::Entry &entry)
      : results(results), entry(&entry) {}

  size_t size() const { return results.size(); }
  /// The name of a result; "" if the function gives it none.
  llvm::StringRef name(size_t index) const;
  TensorRef operator[](size_t index) const;
  /// An error lists the names.
  llvm::Expected<TensorRef> find(llvm::StringRef name) const;
  /// The elements of a result. Fails if its type is not T.
  template <mp::HostNumber T>
  llvm::Expected<llvm::ArrayRef<T>> read(llvm::StringRef name) const {
    auto found = find(name);
    if (!found)
      return found.takeError();
    return found->as<T>();
  }
  /// A result of one element, of any type, as a double.
  llvm::Expected<double> number(llvm::StringRef name) const;

private:
  mp::Results results;
  const mp::Entry *entry = nullptr;
};

/// The results of a training step, and its own numbers among them.
struct StepResults : Results {
  using Results::Results;
  int64_t step = 0;        ///< the number of this attempt, from 1
  double loss = 0;         ///< the result "loss"; NaN if there is none
  double lossScale = 1;    ///< by which this step multiplied the loss
  bool skipped = false;    ///< gradients overflowed: nothing was updated
  bool exhausted = false;  ///< the loss scaler gives up
  double learningRate = 0; ///< of the first parameter group
  double gradientNorm = 0; ///< before clipping
};

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The precisions, each with the policy and the loss scaler that its system
/// brings. Recipe: that of the module.
enum class Precision {
  Recipe,
  FP32,
  TF32,
  FP16,
  BF16,
  FP8,
  Mixed16,       ///< PyTorch Lightning's 16-mixed
  MixedBF16,     ///< PyTorch Lightning's bf16-mixed
  MixedFloat16,  ///< Keras' mixed_float16
  MixedBFloat16, ///< Keras' mixed_bfloat16
  O0,            ///< Apex' optimization levels
  O1,
  O2,
  O3
};

/// The loss scalers by the systems whose behaviour they have. Recipe: that of
/// the module, or of the precision.
enum class Scaler {
  Recipe,
  None,
  Torch,
  Apex,
  ApexHysteresis,
  Keras,
  Keras2,
  DeepSpeed,
  DeepSpeedConsecutive,
  Megatron,
  Fairseq,
  Jmp,
  Static ///< StepOptions::staticScale
};

/// The one place where names of these become values, and back. An error lists
/// the names that there are. `Recipe` has the name "".
llvm::Expected<Precision> parsePrecision(llvm::StringRef name);
llvm::Expected<Scaler> parseScaler(llvm::StringRef name);
llvm::StringRef toString(Precision precision);
llvm::StringRef toString(Scaler scaler);

/// How a step is compiled. A field with its default leaves the choice to the
/// recipe.
struct StepOptions {
  /// Rows of a micro-batch, for the leading `?`; 0: no argument has one.
  int64_t batch = 0;
  Precision precision = Precision::Recipe;
  /// A preset of autocast's policy, a JSON file, or "@name" of the module.
  std::string policy = {};
  Scaler scaler = Scaler::Recipe;
  double staticScale = 1; ///< of Scaler::Static
  /// Micro-batches of a step, which then takes `accumulate * batch` rows; ranks
  /// share them, and each has one unless this says more.
  int64_t accumulate = 0;
  /// The processes that train one model, each on its rows (docs/scaling.md):
  /// mp::openRanks joins those that mpirun or torchrun has started. Null: this
  /// one alone. Ranks run, save and load together, and have the same state;
  /// with `shardOptimizer` they read and write variables together, too.
  std::shared_ptr<mp::Communicator> ranks = nullptr;
  /// Whether each rank keeps a part of the optimizer's state (ZeRO, stage 1).
  bool shardOptimizer = false;
  double clipNorm = 0;  ///< the largest norm of all gradients
  double clipValue = 0; ///< the largest element of a gradient
  /// What backward computes again: "marked", "all" or a size such as "64MiB".
  std::string recompute = {};
  /// The parts in which a classifier and its cross-entropy take the rows of a
  /// batch: a number, or "auto" (docs/text.md).
  std::string lossChunks = {};
  std::string recipe = {}; ///< the mp.train, where there are several
  int64_t totalSteps = 0;  ///< the length of schedules that end with the run
  /// What a step returns beside the function's results: "grad:fc1.weight", the
  /// gradient as the optimizer takes it, and "value:%h1", a value of the
  /// function by its name in the text.
  std::vector<std::string> outputs = {};
  /// What `predict` returns: names of results, or "value:%logits". Empty: the
  /// results that are not single numbers.
  std::vector<std::string> predictions = {};
  /// Plugins with passes and ops, and places for their passes
  /// (docs/own-passes.md).
  std::vector<std::string> plugins = {}, insertPasses = {};
  /// Nothing: a CUDA device if one is usable, else the CPU.
  std::optional<Device> device = Device{};
  unsigned threads = 0; ///< of the CPU; 0: one a core
  uint64_t seed = 0;    ///< of first values, dropout and stochastic rounding
  /// Gets warnings, as lines without a line feed, from any thread.
  std::function<void(llvm::StringRef)> onNote = {};
};

/// How a saved Program is run; the fields are those of StepOptions.
struct RunOptions {
  std::optional<Device> device = Device{};
  unsigned threads = 0;
  uint64_t seed = 0;
  std::function<void(llvm::StringRef)> onNote = {};
};

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// What is known of an input or a variable.
struct TensorInfo {
  std::string name;
  TensorType type;
  /// Of a variable: "parameter", "buffer", "slot", ...; of an input: "input".
  std::string kind;
};

/// A compiled training step with its state. One thread may use it at a time;
/// a second one gets an error. Different Steps are independent.
class Step {
public:
  Step(Step &&) noexcept;
  Step &operator=(Step &&) noexcept;
  ~Step();

  /// Loads Programs that were saved, which takes no compiler: that of a step,
  /// and if `predict` is used one for this. Errors: a damaged file, a newer
  /// format, a feature that this machine lacks.
  static llvm::Expected<Step> fromPrograms(llvm::ArrayRef<std::string> paths,
                                           const RunOptions &options = {});

  /// Runs the step on a batch, and waits for it. The tensors have the names of
  /// the function's arguments, in any order; that of an argument without a name
  /// is its place, "0". An error names the tensor, what it is and what is
  /// expected; nothing has run then. Allocates nothing.
  llvm::Expected<StepResults> run(NamedTensors inputs);

  /// Runs the step on a batch in a form that changes no state, and returns
  /// where values stop being finite: the first op, its place in the module, and
  /// the ranges of its operands; "" if all values are finite. After a step that
  /// was skipped, it starts from what that step found: give it the same
  /// tensors. The first call compiles.
  llvm::Expected<std::string> findNonFinite(NamedTensors inputs);

  /// Computes StepOptions::predictions in the mode of evaluation, from the
  /// inputs that these need. Any number of rows: the first call with a new
  /// number compiles.
  llvm::Expected<Results> predict(NamedTensors inputs);

  /// The inputs of `run` and of `predict` for a number of rows (0: as `run`).
  std::vector<TensorInfo> inputs() const;
  llvm::Expected<std::vector<TensorInfo>> predictInputs(int64_t rows = 0);

  /// Makes every learning rate this number, whatever the recipe's schedule. It
  /// is a variable of the step: nothing is compiled again, and checkpoints
  /// hold it.
  llvm::Error setLearningRate(double rate);
  /// Multiplies the learning rates from now on, on top of earlier factors.
  llvm::Error scaleLearningRate(double factor);
  /// Returns to the recipe's learning rates.
  llvm::Error resetLearningRate();

  std::vector<TensorInfo> variables() const;
  /// Copies a variable from the device. Errors: no such variable (with the
  /// nearest names), another element type.
  template <mp::HostNumber T>
  llvm::Expected<std::vector<T>> read(llvm::StringRef variable) {
    auto type = typeOf(variable);
    if (!type)
      return type.takeError();
    std::vector<T> numbers(type->elements());
    if (auto error = readInto(variable, *mp::elementOf<T>, numbers.data(),
                              numbers.size() * sizeof(T)))
      return std::move(error);
    return numbers;
  }
  /// Copies a variable to memory of its size and type.
  llvm::Error readInto(llvm::StringRef variable, ElementType element,
                       void *data, uint64_t bytes);
  llvm::Expected<TensorType> typeOf(llvm::StringRef variable) const;
  /// Copies a tensor to a variable and to what is derived from it.
  llvm::Error write(llvm::StringRef variable, const TensorRef &tensor);
  /// Begins anew: every variable by its initialiser.
  llvm::Error initialize(uint64_t seed);

  /// Saves the whole state, atomically; `load` continues with the same bits.
  /// `load` fails, and changes nothing, if the file was made with other
  /// settings or by another graph; hyperparameters of an optimizer and the
  /// schedule may differ.
  llvm::Error save(llvm::StringRef path);
  llvm::Error load(llvm::StringRef path);
  /// Loads parameters and buffers alone, from a checkpoint or any safetensors
  /// file, such as a state_dict of PyTorch. Files have the order of dimensions
  /// that the variable's `dims_in_files` says; `read` and `write` have that of
  /// its type.
  llvm::Error loadWeights(llvm::StringRef path);

  int64_t steps() const;      ///< attempts so far
  int64_t skipped() const;    ///< of these, the skipped ones
  std::string device() const; ///< "cpu", "cuda:0"
  /// Bytes of the state and of all temporary values together.
  uint64_t plannedBytes() const;

  struct Impl; ///< for the library alone
  explicit Step(std::unique_ptr<Impl> impl);

private:
  std::unique_ptr<Impl> impl;
};

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// The number of a token in a vocabulary.
using Token = uint32_t;
using Tokens = std::vector<Token>;

/// How texts are continued. temperature, topK and topP have the meaning of
/// Hugging Face's `generate`.
struct SamplingOptions {
  double temperature = 1; ///< divides the logits; 0: the most probable token
  int64_t topK = 0;       ///< draw from the K most probable tokens; 0: all
  /// Draw from the most probable tokens whose probabilities add up to this.
  double topP = 1;
  /// Text number i draws as one alone with this seed plus i.
  uint64_t seed = 0;
  int64_t samples = 1;  ///< texts for each prompt
  int64_t length = 256; ///< tokens that a text gets after its prompt, at most
  std::optional<Token> endToken = {}; ///< ends a text, as its last token
  /// Only the first so many tokens are drawn, where a vocabulary is filled up
  /// with tokens that stand for nothing; 0: all.
  int64_t drawnTokens = 0;
};

/// A token that a text was continued by.
struct WrittenToken {
  int64_t text; ///< prompt number p has the texts from p * samples on
  Token token;
  bool isLast; ///< the text has its length, or its end token
  /// What the network says of this place: a number for each token of the
  /// vocabulary, of which this one was drawn. It lies in memory of the
  /// Generator, and stays until that is used again.
  llvm::ArrayRef<float> logits;
};

/// A language model with its weights, which continues texts token by token. It
/// keeps the keys and values of earlier tokens, so that a token costs the same
/// wherever in its text it is. One thread may use it at a time.
///
/// Texts that are written together may have prompts of different lengths, and
/// are those that they are alone. Once a text is as long as the context, the
/// network forgets its older half. A network of two texts, such as T5, reads
/// the prompt and writes the other text, which ends with the context.
class Generator {
public:
  Generator(Generator &&) noexcept;
  Generator &operator=(Generator &&) noexcept;
  ~Generator();

  /// Begins a text, or `samples` texts, from each prompt; the texts of before
  /// end. Errors: no prompt, more texts than texts(), a prompt without tokens,
  /// longer than context(), or with a token that is not in the vocabulary, an
  /// option out of its range.
  llvm::Error begin(llvm::ArrayRef<Tokens> prompts,
                    const SamplingOptions &options = {});
  /// Writes a token to each text whose prompt has been read, and returns these
  /// in the order of the texts; none once all texts have ended. Error: the
  /// logits are NaN or infinite, which ends all texts.
  llvm::Expected<llvm::ArrayRef<WrittenToken>> next();
  /// Begins texts and writes them to their ends. Returns the tokens of each
  /// after its prompt. `onToken` gets each token once it is drawn, and must not
  /// use the Generator.
  llvm::Expected<std::vector<Tokens>>
  write(llvm::ArrayRef<Tokens> prompts, const SamplingOptions &options = {},
        llvm::function_ref<void(const WrittenToken &)> onToken = {});

  int64_t texts() const; ///< the most that are written at once
  /// The most tokens that the network looks at; INT32_MAX of a recurrent one.
  int64_t context() const;
  int64_t vocabulary() const; ///< the number of tokens
  std::string device() const; ///< "cpu", "cuda:0"
  /// Bytes of the state and of all temporary values together.
  uint64_t plannedBytes() const;

  struct Impl; ///< for the library alone
  explicit Generator(std::unique_ptr<Impl> impl);

private:
  std::unique_ptr<Impl> impl;
};

/// Which weights of a checkpoint are read: those that were trained, or their
/// moving averages, if the recipe has `ema`.
enum class Weights { Trained, Averaged };

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A module: its text, which was parsed and verified. Plain data; any thread
/// may compile it. Its functions are in libMantissa, the compiler.
class Module {
public:
  /// `name` stands for the file in messages. `plugins` are shared libraries
  /// with the dialects of ops in the text; the process keeps them.
  static llvm::Expected<Module> parse(llvm::StringRef text,
                                      llvm::StringRef name = "<module>",
                                      llvm::ArrayRef<std::string> plugins = {});
  static llvm::Expected<Module> read(llvm::StringRef path,
                                     llvm::ArrayRef<std::string> plugins = {});
  /// The module that a graph of the DSL describes.
  static llvm::Expected<Module> fromGraph(const Graph &graph);

  /// Compiles the step of a recipe, and gives every variable its first value.
  llvm::Expected<Step> compileStep(const StepOptions &options = {}) const;
  /// Writes the Program of a recipe's step, or of its prediction, for
  /// Step::fromPrograms; for the CPU of this machine, or the CUDA device of the
  /// options.
  llvm::Error saveStep(llvm::StringRef path, const StepOptions &options) const;
  llvm::Error savePrediction(llvm::StringRef path,
                             const StepOptions &options) const;
  /// Compiles the network of a recipe as a writer of texts, with the weights of
  /// a checkpoint, a run's folder or a safetensors file, such as those of
  /// Hugging Face. StepOptions::batch is the number of texts that are written
  /// at once (0: one), and `predictions` names the logits, [batch, tokens,
  /// vocabulary], if there are several results that are not single numbers.
  /// Precision and policy are those of the checkpoint unless the options have
  /// some. What only training has, such as `scaler` and `seed`, is not used.
  ///
  /// Errors: the network is no causal language model, with the op that looks at
  /// later tokens; it takes more than a text; weights are missing.
  llvm::Expected<Generator>
  compileGenerator(llvm::StringRef weights, const StepOptions &options = {},
                   Weights which = Weights::Trained) const;
  /// Autocast's decision for each op and its reason, as the JSON of
  /// docs/policies.md.
  llvm::Expected<std::string> explain(const StepOptions &options = {}) const;

  const std::string &text() const { return source; }
  const std::string &name() const { return file; }

private:
  Module(std::string source, std::string file)
      : source(std::move(source)), file(std::move(file)) {}

  std::string source, file;
};

} // namespace mantissa

#endif // MANTISSA_H
