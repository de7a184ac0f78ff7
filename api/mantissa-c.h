//===- mantissa-c.h - compile and train models from C -------------*- C -*-===//
//
// The C interface of the library, for C99 and for other languages. It reaches
// what mantissa.h reaches, but for the graph DSL. docs/c-api.md shows all of
// it.
//
//   mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
//   options.batch = 128;
//   status = mantissa_module_read("mlp.mlir", &module);
//   status = mantissa_module_compile_step(module, &options, &step);
//   status = mantissa_step_run(step, inputs, 2, &results);
//
// Errors. A function that can fail returns a status: null for success, else an
// object with a code and a message, which the caller destroys. A null argument
// is an error unless the comment says what it means. After an error, what the
// function would have made is null, numbers are as they were, and every handle
// can be used on.
//
// Ownership. A handle that a function makes (the last argument) is the caller's
// and has a function that destroys it and accepts null. What is `const *` or
// lies inside of another object belongs to that object. Arguments are read
// during the call alone; the library keeps none of them.
//
// Threads. One thread at a time may use a step and its results: a second one
// gets the code MANTISSA_BUSY. Destroying is not guarded. A module, a status
// and a list do not change, and any number of threads may read them. Different
// steps are independent.
//
// Stability. Functions, values of enumerations and fields keep their meaning
// and their place as long as MANTISSA_ABI_VERSION is the same. Structures that
// begin with `struct_size` get new fields at their end, whose zero is the
// behaviour from before; the others do not change. Strings end with a zero and
// are UTF-8.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_C_H
#define MANTISSA_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MANTISSA_API __attribute__((visibility("default")))
/// A status that is dropped is an error unseen, and memory that is lost.
#define MANTISSA_CALL __attribute__((visibility("default"), warn_unused_result))
#else
#define MANTISSA_API
#define MANTISSA_CALL
#endif

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Version
//===----------------------------------------------------------------------===//

/// The version that this header belongs to.
#define MANTISSA_VERSION "0.1.0"
#define MANTISSA_ABI_VERSION 1

/// The version of the library that is loaded, "0.1.0".
MANTISSA_API const char *mantissa_version(void);
/// The MANTISSA_ABI_VERSION of the library that is loaded. A program that was
/// compiled with another one must not call it.
MANTISSA_API uint32_t mantissa_abi_version(void);

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

/// How a call ended; null is success.
typedef struct mantissa_status mantissa_status;

typedef int32_t mantissa_code;
enum {
  MANTISSA_OK = 0,
  /// An argument breaks a rule of this header: null, a value of no enumeration,
  /// a structure of another size. Nothing was done.
  MANTISSA_INVALID_ARGUMENT = 1,
  /// The library refuses or fails; the message says what was expected.
  MANTISSA_FAILED = 2,
  /// Another thread is using the step. Nothing was done.
  MANTISSA_BUSY = 3
};

/// MANTISSA_OK for null.
MANTISSA_API mantissa_code mantissa_status_code(const mantissa_status *status);
/// What went wrong, which belongs to the status; "" for null.
MANTISSA_API const char *mantissa_status_message(const mantissa_status *status);
MANTISSA_API void mantissa_status_destroy(mantissa_status *status);

/// Frees a string that a function made.
MANTISSA_API void mantissa_string_destroy(char *string);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Element types, by their form in memory. I1 takes a byte, 0 or 1.
typedef int32_t mantissa_element;
enum {
  MANTISSA_I1 = 0,
  MANTISSA_I8 = 1,
  MANTISSA_U8 = 2,
  MANTISSA_I32 = 3,
  MANTISSA_I64 = 4,
  MANTISSA_F8E4M3FN = 5,
  MANTISSA_F8E5M2 = 6,
  MANTISSA_F16 = 7,
  MANTISSA_BF16 = 8,
  MANTISSA_F32 = 9,
  MANTISSA_F64 = 10,
  MANTISSA_I16 = 11,
  MANTISSA_U16 = 12,
  MANTISSA_U32 = 13
};
/// The name in a module, "ui8" or "bf16"; null if there is no such type.
MANTISSA_API const char *mantissa_element_name(mantissa_element element);
/// The bytes of an element; 0 if there is no such type.
MANTISSA_API size_t mantissa_element_size(mantissa_element element);

/// The most dimensions that a tensor of the caller can have.
#define MANTISSA_MAX_RANK 8

/// A view of a tensor with a name, in memory that somebody else owns: the
/// caller for what goes in, the step for results. Elements lie in row-major
/// order without gaps, aligned to their size.
typedef struct mantissa_tensor {
  const char *name;
  mantissa_element element;
  int32_t rank;
  int64_t shape[MANTISSA_MAX_RANK];
  const void *data;
  /// `rank` numbers of elements, or null: dense. Others than those of dense
  /// rows are an error.
  const int64_t *strides;
} mantissa_tensor;

/// The type of a tensor. Where `rank` is more than MANTISSA_MAX_RANK, `shape`
/// has the first ones.
typedef struct mantissa_type {
  mantissa_element element;
  int32_t rank;
  int64_t shape[MANTISSA_MAX_RANK];
  int64_t elements; ///< the product of the shape
  uint64_t bytes;
} mantissa_type;

/// What is known of an input or a variable.
typedef struct mantissa_info {
  const char *name;
  /// Of a variable: "parameter", "buffer", "slot", ...; of an input: "input".
  const char *kind;
  const char *type_text; ///< "3x4xf32"
  mantissa_type type;
} mantissa_info;

/// A list of such, which stays when its step is gone.
typedef struct mantissa_infos mantissa_infos;
/// 0 for null.
MANTISSA_API size_t mantissa_infos_count(const mantissa_infos *infos);
/// An element, which belongs to the list; null if there is none.
MANTISSA_API const mantissa_info *
mantissa_infos_get(const mantissa_infos *infos, size_t index);
MANTISSA_API void mantissa_infos_destroy(mantissa_infos *infos);

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The precisions, each with the policy and the loss scaler that its system
/// brings. RECIPE: that of the module.
typedef int32_t mantissa_precision;
enum {
  MANTISSA_PRECISION_RECIPE = 0,
  MANTISSA_PRECISION_FP32 = 1,
  MANTISSA_PRECISION_TF32 = 2,
  MANTISSA_PRECISION_FP16 = 3,
  MANTISSA_PRECISION_BF16 = 4,
  MANTISSA_PRECISION_FP8 = 5,
  MANTISSA_PRECISION_16_MIXED = 6,
  MANTISSA_PRECISION_BF16_MIXED = 7,
  MANTISSA_PRECISION_MIXED_FLOAT16 = 8,
  MANTISSA_PRECISION_MIXED_BFLOAT16 = 9,
  MANTISSA_PRECISION_O0 = 10,
  MANTISSA_PRECISION_O1 = 11,
  MANTISSA_PRECISION_O2 = 12,
  MANTISSA_PRECISION_O3 = 13
};

/// The loss scalers by the systems whose behaviour they have. RECIPE: that of
/// the module, or of the precision. STATIC: `static_scale`.
typedef int32_t mantissa_scaler;
enum {
  MANTISSA_SCALER_RECIPE = 0,
  MANTISSA_SCALER_NONE = 1,
  MANTISSA_SCALER_TORCH = 2,
  MANTISSA_SCALER_APEX = 3,
  MANTISSA_SCALER_APEX_HYSTERESIS = 4,
  MANTISSA_SCALER_KERAS = 5,
  MANTISSA_SCALER_KERAS2 = 6,
  MANTISSA_SCALER_DEEPSPEED = 7,
  MANTISSA_SCALER_DEEPSPEED_CONSECUTIVE = 8,
  MANTISSA_SCALER_MEGATRON = 9,
  MANTISSA_SCALER_FAIRSEQ = 10,
  MANTISSA_SCALER_JMP = 11,
  MANTISSA_SCALER_STATIC = 12
};

/// The value of a name, "bf16" or "torch"; an error lists the names.
MANTISSA_CALL mantissa_status *
mantissa_precision_parse(const char *name, mantissa_precision *precision);
MANTISSA_CALL mantissa_status *mantissa_scaler_parse(const char *name,
                                                     mantissa_scaler *scaler);
/// The name of a value, "" for RECIPE; null if there is no such value.
MANTISSA_API const char *mantissa_precision_name(mantissa_precision precision);
MANTISSA_API const char *mantissa_scaler_name(mantissa_scaler scaler);

/// Where a step runs. AUTO: a CUDA device if one is usable, else the CPU.
typedef int32_t mantissa_device;
enum {
  MANTISSA_DEVICE_AUTO = -1,
  MANTISSA_DEVICE_CPU = 0,
  MANTISSA_DEVICE_CUDA = 1
};

/// Gets a warning, a line without a line feed that stays during the call, from
/// any thread. It must return, and must not use the step.
typedef void (*mantissa_note_function)(void *user_data, const char *line);

/// How a step is compiled; begin with MANTISSA_STEP_OPTIONS_INIT. A field with
/// its first value leaves the choice to the recipe. A null string is "".
typedef struct mantissa_step_options {
  size_t struct_size; ///< sizeof(mantissa_step_options)
  int64_t batch;      ///< rows of a micro-batch, for the leading `?`
  mantissa_precision precision;
  mantissa_scaler scaler;
  double static_scale; ///< of MANTISSA_SCALER_STATIC
  /// A preset of autocast's policy, a JSON file, or "@name" of the module.
  const char *policy;
  /// Micro-batches of a step, which then takes `accumulate * batch` rows.
  int64_t accumulate;
  double clip_norm;  ///< the largest norm of all gradients
  double clip_value; ///< the largest element of a gradient
  /// What backward computes again: "marked", "all" or a size such as "64MiB".
  const char *recompute;
  const char *recipe;  ///< the mp.train, where there are several
  int64_t total_steps; ///< the length of schedules that end with the run
  /// What a step returns beside the function's results: "grad:fc1.weight", the
  /// gradient as the optimizer takes it, and "value:%h1", a value of the
  /// function by its name in the text.
  const char *const *outputs;
  size_t output_count;
  /// What predict returns: names of results, or "value:%logits". None: the
  /// results that are not single numbers.
  const char *const *predictions;
  size_t prediction_count;
  /// Plugins with passes and ops, and places for their passes
  /// (docs/own-passes.md).
  const char *const *plugins;
  size_t plugin_count;
  const char *const *insert_passes;
  size_t insert_pass_count;
  mantissa_device device;
  int32_t device_index; ///< the driver's number of a CUDA device
  uint64_t seed;        ///< of first values, dropout and stochastic rounding
  uint32_t threads;     ///< of the CPU; 0: one a core
  uint32_t reserved;    ///< 0
  mantissa_note_function on_note; ///< null: warnings are dropped
  void *note_data;                ///< given to on_note
  const char *loss_chunks; ///< parts of a loss's rows: a number, or "auto"
} mantissa_step_options;

// clang-format off
#define MANTISSA_STEP_OPTIONS_INIT                                             \
  {sizeof(mantissa_step_options), 0, MANTISSA_PRECISION_RECIPE,                \
   MANTISSA_SCALER_RECIPE, 1.0, NULL, 0, 0.0, 0.0, NULL, NULL, 0, NULL, 0,     \
   NULL, 0, NULL, 0, NULL, 0, MANTISSA_DEVICE_CPU, 0, 0, 0, 0, NULL, NULL,     \
   NULL}
// clang-format on

/// How a saved Program is run; the fields are those of mantissa_step_options.
typedef struct mantissa_run_options {
  size_t struct_size; ///< sizeof(mantissa_run_options)
  mantissa_device device;
  int32_t device_index;
  uint64_t seed;
  uint32_t threads;
  uint32_t reserved;
  mantissa_note_function on_note;
  void *note_data;
} mantissa_run_options;

#define MANTISSA_RUN_OPTIONS_INIT                                              \
  {sizeof(mantissa_run_options), MANTISSA_DEVICE_CPU, 0, 0, 0, 0, NULL, NULL}

/// What the macros do, for languages without them: fills the first
/// `struct_size` bytes, which are those that the caller knows of.
MANTISSA_CALL mantissa_status *
mantissa_step_options_init(mantissa_step_options *options, size_t struct_size);
MANTISSA_CALL mantissa_status *
mantissa_run_options_init(mantissa_run_options *options, size_t struct_size);

//===----------------------------------------------------------------------===//
// Modules: these functions are in libMantissa, the compiler
//===----------------------------------------------------------------------===//

/// A module: its text, which was parsed and verified.
typedef struct mantissa_module mantissa_module;
/// A compiled training step with its state.
typedef struct mantissa_step mantissa_step;
/// A language model with its weights, which continues texts.
typedef struct mantissa_generator mantissa_generator;

/// `name` stands for the file in messages; null: "<module>".
MANTISSA_CALL mantissa_status *mantissa_module_parse(const char *text,
                                                     const char *name,
                                                     mantissa_module **module);
MANTISSA_CALL mantissa_status *mantissa_module_read(const char *path,
                                                    mantissa_module **module);
MANTISSA_API void mantissa_module_destroy(mantissa_module *module);
/// The text and the name, which belong to the module; null for null.
MANTISSA_API const char *mantissa_module_text(const mantissa_module *module);
MANTISSA_API const char *mantissa_module_name(const mantissa_module *module);

/// Compiles the step of a recipe, and gives every variable its first value.
/// Here and below, null options are those of MANTISSA_STEP_OPTIONS_INIT.
MANTISSA_CALL mantissa_status *
mantissa_module_compile_step(const mantissa_module *module,
                             const mantissa_step_options *options,
                             mantissa_step **step);
/// Writes the Program of a recipe's step, or of its prediction, for
/// mantissa_step_load_programs; for the CPU of this machine, or the CUDA device
/// of the options.
MANTISSA_CALL mantissa_status *
mantissa_module_save_step(const mantissa_module *module, const char *path,
                          const mantissa_step_options *options);
MANTISSA_CALL mantissa_status *
mantissa_module_save_prediction(const mantissa_module *module, const char *path,
                                const mantissa_step_options *options);
/// Compiles the network of a recipe as a writer of texts, with the weights of a
/// checkpoint, a run's folder or a safetensors file; their moving averages if
/// `averaged` is 1. The batch is the number of texts that are written at once
/// (0: one), and a prediction names the logits, [batch, tokens, vocabulary], if
/// there are several results that are not single numbers. Precision and policy
/// are those of the checkpoint unless the options have some. Errors: the
/// network is no causal language model, it takes more than a text, or weights
/// are missing.
MANTISSA_CALL mantissa_status *mantissa_module_compile_generator(
    const mantissa_module *module, const char *weights, int32_t averaged,
    const mantissa_step_options *options, mantissa_generator **generator);
/// Autocast's decision for each op and its reason, as the JSON of
/// docs/policies.md, in a string that mantissa_string_destroy frees.
MANTISSA_CALL mantissa_status *
mantissa_module_explain(const mantissa_module *module,
                        const mantissa_step_options *options, char **json);

//===----------------------------------------------------------------------===//
// Steps: these functions are in libMantissaRuntime, and need no compiler
//===----------------------------------------------------------------------===//

/// Loads Programs that were saved: that of a step, and if predict is used one
/// for this. Null options are those of MANTISSA_RUN_OPTIONS_INIT. Errors: a
/// damaged file, a newer format, a feature that this machine lacks.
MANTISSA_CALL mantissa_status *
mantissa_step_load_programs(const char *const *paths, size_t count,
                            const mantissa_run_options *options,
                            mantissa_step **step);
/// No other call may be using the step; its results go with it.
MANTISSA_API void mantissa_step_destroy(mantissa_step *step);

/// The results of a run, which belong to the step. They stay until a call runs
/// the step or changes its state: run, find_non_finite, predict,
/// predict_inputs, write, initialize, load or load_weights, even one that
/// fails. They are empty then, and every use is an error; tensors that were
/// taken of them are dangling.
typedef struct mantissa_results mantissa_results;

/// Runs the step on a batch, and waits for it. The tensors have the names of
/// the function's arguments, in any order; that of an argument without a name
/// is its place, "0". `results` may be null. An error names the tensor, what it
/// is and what is expected; nothing has run then. Allocates nothing, but for
/// the first call.
MANTISSA_CALL mantissa_status *
mantissa_step_run(mantissa_step *step, const mantissa_tensor *inputs,
                  size_t count, const mantissa_results **results);
/// Runs the step on a batch in a form that changes no state, and says where
/// values stop being finite: the first op, its place in the module, and the
/// ranges of its operands; "" if all values are finite. After a step that was
/// skipped, it starts from what that step found: give it the same tensors. The
/// first call compiles. mantissa_string_destroy frees the string.
MANTISSA_CALL mantissa_status *
mantissa_step_find_non_finite(mantissa_step *step,
                              const mantissa_tensor *inputs, size_t count,
                              char **origin);
/// Computes the predictions in the mode of evaluation, from the inputs that
/// these need. Any number of rows: the first call with a new number compiles.
MANTISSA_CALL mantissa_status *
mantissa_step_predict(mantissa_step *step, const mantissa_tensor *inputs,
                      size_t count, const mantissa_results **results);
/// The inputs of run, and of predict for a number of rows (0: as run), in a
/// list of the caller's.
MANTISSA_CALL mantissa_status *mantissa_step_inputs(mantissa_step *step,
                                                    mantissa_infos **inputs);
MANTISSA_CALL mantissa_status *
mantissa_step_predict_inputs(mantissa_step *step, int64_t rows,
                             mantissa_infos **inputs);

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

MANTISSA_CALL mantissa_status *
mantissa_results_count(const mantissa_results *results, size_t *count);
/// Result number `index`, in the order of the function. Its name is "" if the
/// function gives it none; name and memory belong to the results.
MANTISSA_CALL mantissa_status *
mantissa_results_get(const mantissa_results *results, size_t index,
                     mantissa_tensor *tensor);
/// The result of a name. An error lists the names.
MANTISSA_CALL mantissa_status *
mantissa_results_find(const mantissa_results *results, const char *name,
                      mantissa_tensor *tensor);
/// The elements of a result, and their number. Fails if their type is not
/// `element`.
MANTISSA_CALL mantissa_status *
mantissa_results_read(const mantissa_results *results, const char *name,
                      mantissa_element element, const void **data,
                      size_t *count);
/// Copies the elements of a result, converted to float: exact for f8, f16 and
/// bf16. `count` has to be their number.
MANTISSA_CALL mantissa_status *
mantissa_results_floats(const mantissa_results *results, const char *name,
                        float *floats, size_t count);
/// A result of one element, of any type.
MANTISSA_CALL mantissa_status *
mantissa_results_number(const mantissa_results *results, const char *name,
                        double *number);

/// A training step's own numbers; begin with MANTISSA_STEP_FACTS_INIT.
typedef struct mantissa_step_facts {
  size_t struct_size;   ///< sizeof(mantissa_step_facts)
  int64_t step;         ///< the number of this attempt, from 1
  double loss;          ///< the result "loss"; NaN if there is none
  double loss_scale;    ///< by which this step multiplied the loss
  double learning_rate; ///< of the first parameter group
  double gradient_norm; ///< before clipping; NaN if the step has none
  int32_t skipped;      ///< 1: gradients overflowed, nothing was updated
  int32_t exhausted;    ///< 1: the loss scaler gives up
} mantissa_step_facts;
#define MANTISSA_STEP_FACTS_INIT                                               \
  {sizeof(mantissa_step_facts), 0, 0.0, 0.0, 0.0, 0.0, 0, 0}

/// The numbers of the run that made the results; an error for a prediction's.
MANTISSA_CALL mantissa_status *
mantissa_results_get_facts(const mantissa_results *results,
                           mantissa_step_facts *facts);

//===----------------------------------------------------------------------===//
// Learning rates
//===----------------------------------------------------------------------===//

/// Makes every learning rate this number, whatever the recipe's schedule. It is
/// a variable of the step: nothing is compiled again, and checkpoints hold it.
MANTISSA_CALL mantissa_status *
mantissa_step_set_learning_rate(mantissa_step *step, double rate);
/// Multiplies the learning rates from now on, on top of earlier factors.
MANTISSA_CALL mantissa_status *
mantissa_step_scale_learning_rate(mantissa_step *step, double factor);
/// Returns to the recipe's learning rates.
MANTISSA_CALL mantissa_status *
mantissa_step_reset_learning_rate(mantissa_step *step);

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// All variables, in a list of the caller's.
MANTISSA_CALL mantissa_status *mantissa_step_variables(mantissa_step *step,
                                                       mantissa_infos **infos);
/// An error has the nearest names.
MANTISSA_CALL mantissa_status *mantissa_step_type_of(mantissa_step *step,
                                                     const char *variable,
                                                     mantissa_type *type);
/// Copies a variable to memory of its type and size in bytes.
MANTISSA_CALL mantissa_status *mantissa_step_read(mantissa_step *step,
                                                  const char *variable,
                                                  mantissa_element element,
                                                  void *data, uint64_t bytes);
/// Copies a tensor to the variable of its name and to what is derived from it.
MANTISSA_CALL mantissa_status *
mantissa_step_write(mantissa_step *step, const mantissa_tensor *tensor);
/// Begins anew: every variable by its initialiser.
MANTISSA_CALL mantissa_status *mantissa_step_initialize(mantissa_step *step,
                                                        uint64_t seed);

/// Saves the whole state, atomically; load continues with the same bits. load
/// fails, and changes nothing, if the file was made with other settings or is
/// of another model.
MANTISSA_CALL mantissa_status *mantissa_step_save(mantissa_step *step,
                                                  const char *path);
MANTISSA_CALL mantissa_status *mantissa_step_load(mantissa_step *step,
                                                  const char *path);
/// Loads parameters and buffers alone, from a checkpoint or any safetensors
/// file, such as a state_dict of PyTorch. Files have the order of dimensions
/// that the variable's `dims_in_files` says; mantissa_step_read and
/// mantissa_step_write have that of its type.
MANTISSA_CALL mantissa_status *mantissa_step_load_weights(mantissa_step *step,
                                                          const char *path);

/// What a step has done and takes; begin with MANTISSA_STEP_COUNTERS_INIT.
typedef struct mantissa_step_counters {
  size_t struct_size; ///< sizeof(mantissa_step_counters)
  int64_t steps;      ///< attempts so far
  int64_t skipped;    ///< of these, the skipped ones
  /// Bytes of the state and of all temporary values together.
  uint64_t planned_bytes;
  const char *device; ///< "cpu", "cuda:0"; belongs to the step
} mantissa_step_counters;
#define MANTISSA_STEP_COUNTERS_INIT                                            \
  {sizeof(mantissa_step_counters), 0, 0, 0, NULL}

MANTISSA_CALL mantissa_status *
mantissa_step_get_counters(mantissa_step *step,
                           mantissa_step_counters *counters);

//===----------------------------------------------------------------------===//
// Texts: one thread at a time may use a generator, as it may use a step
//===----------------------------------------------------------------------===//

/// How texts are continued; begin with MANTISSA_SAMPLING_OPTIONS_INIT.
/// temperature, top_k and top_p have the meaning of Hugging Face's `generate`.
typedef struct mantissa_sampling_options {
  size_t struct_size;   ///< sizeof(mantissa_sampling_options)
  double temperature;   ///< divides the logits; 0: the most probable token
  double top_p;         ///< the most probable tokens with so much probability
  int64_t top_k;        ///< the K most probable tokens; 0: all
  uint64_t seed;        ///< text number i draws as one alone with this plus i
  int64_t samples;      ///< texts for each prompt
  int64_t length;       ///< tokens that a text gets, at most
  int64_t end_token;    ///< ends a text, as its last token; -1: none
  int64_t drawn_tokens; ///< the first so many tokens are drawn; 0: all
} mantissa_sampling_options;
#define MANTISSA_SAMPLING_OPTIONS_INIT                                         \
  {sizeof(mantissa_sampling_options), 1.0, 1.0, 0, 0, 1, 256, -1, 0}
/// As mantissa_step_options_init.
MANTISSA_CALL mantissa_status *
mantissa_sampling_options_init(mantissa_sampling_options *options,
                               size_t struct_size);

/// The numbers of a prompt's tokens.
typedef struct mantissa_prompt {
  const uint32_t *tokens;
  size_t count;
} mantissa_prompt;
/// A token that a text was continued by.
typedef struct mantissa_written_token {
  int64_t text; ///< prompt number p has the texts from p * samples on
  uint32_t token;
  int32_t is_last;     ///< 1: the text has its length, or its end token
  const float *logits; ///< it was drawn of: one for each of the vocabulary
} mantissa_written_token;

/// Begins texts, as many as `samples` from each prompt; those of before end.
/// Errors: more texts than are written at once, a prompt that is empty, longer
/// than the context or not of the vocabulary, an option out of its range.
MANTISSA_CALL mantissa_status *
mantissa_generator_begin(mantissa_generator *generator,
                         const mantissa_prompt *prompts, size_t count,
                         const mantissa_sampling_options *options);
/// Writes a token to each text whose prompt has been read. They belong to the
/// generator and stay until the next call; none once all texts have ended.
MANTISSA_CALL mantissa_status *
mantissa_generator_next(mantissa_generator *generator,
                        const mantissa_written_token **tokens, size_t *count);

/// What a generator takes; begin with MANTISSA_GENERATOR_FACTS_INIT.
typedef struct mantissa_generator_facts {
  size_t struct_size;     ///< sizeof(mantissa_generator_facts)
  int64_t texts;          ///< the most that are written at once
  int64_t context;        ///< tokens that the network looks at; INT32_MAX: all
  int64_t vocabulary;     ///< the number of tokens
  uint64_t planned_bytes; ///< as in mantissa_step_counters
  const char *device;     ///< "cpu", "cuda:0"; belongs to the generator
} mantissa_generator_facts;
#define MANTISSA_GENERATOR_FACTS_INIT                                          \
  {sizeof(mantissa_generator_facts), 0, 0, 0, 0, NULL}
MANTISSA_CALL mantissa_status *
mantissa_generator_get_facts(mantissa_generator *generator,
                             mantissa_generator_facts *facts);
/// No other call may be using the generator.
MANTISSA_API void mantissa_generator_destroy(mantissa_generator *generator);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // MANTISSA_C_H
