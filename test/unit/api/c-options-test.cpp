//===- c-options-test.cpp - each option of C sets its option of C++ -------===//
//
// The table below has every field of the structures of C, in their order; it
// has no gap, and so a field that it lacks is noticed.
//
//===----------------------------------------------------------------------===//
#include "api/c/Options.h"
#include "api/c/Sized.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace mantissa;

namespace {

//===----------------------------------------------------------------------===//
// The options of C++ as texts by their names
//===----------------------------------------------------------------------===//

using Texts = std::map<std::string, std::string>;

std::string text(const std::string &value) { return value; }
std::string text(double value) { return std::to_string(value); }
template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
std::string text(T value) {
  return std::to_string(static_cast<int64_t>(value));
}
std::string text(const std::vector<std::string> &values) {
  return llvm::join(values, "+");
}
std::string text(const std::optional<Device> &device) {
  return device ? device->str() : "auto";
}
std::string text(std::optional<Token> token) {
  return token ? std::to_string(*token) : "none";
}
std::string text(const std::function<void(llvm::StringRef)> &note) {
  return note ? "a function" : "none";
}

Texts textsOf(const StepOptions &options) {
  // With another field, this does not compile. C has no ranks.
  const auto &[batch, precision, policy, scaler, staticScale, accumulate, ranks,
               shardOptimizer, clipNorm, clipValue, recompute, lossChunks,
               recipe, totalSteps, outputs, predictions, plugins, insertPasses,
               device, threads, seed, onNote] = options;
  return {{"batch", text(batch)},
          {"precision", text(precision)},
          {"policy", text(policy)},
          {"scaler", text(scaler)},
          {"staticScale", text(staticScale)},
          {"accumulate", text(accumulate)},
          {"clipNorm", text(clipNorm)},
          {"clipValue", text(clipValue)},
          {"recompute", text(recompute)},
          {"lossChunks", text(lossChunks)},
          {"recipe", text(recipe)},
          {"totalSteps", text(totalSteps)},
          {"outputs", text(outputs)},
          {"predictions", text(predictions)},
          {"plugins", text(plugins)},
          {"insertPasses", text(insertPasses)},
          {"device", text(device)},
          {"threads", text(threads)},
          {"seed", text(seed)},
          {"onNote", text(onNote)}};
}

Texts textsOf(const RunOptions &options) {
  const auto &[device, threads, seed, onNote] = options;
  return {{"device", text(device)},
          {"threads", text(threads)},
          {"seed", text(seed)},
          {"onNote", text(onNote)}};
}

Texts textsOf(const SamplingOptions &options) {
  const auto &[temperature, topK, topP, seed, samples, length, endToken,
               drawnTokens] = options;
  return {{"temperature", text(temperature)},
          {"topK", text(topK)},
          {"topP", text(topP)},
          {"seed", text(seed)},
          {"samples", text(samples)},
          {"length", text(length)},
          {"endToken", text(endToken)},
          {"drawnTokens", text(drawnTokens)}};
}

template <typename Options, typename InC> Texts taken(const InC *given) {
  Options options;
  llvm::cantFail(c::takeOptions(given, options));
  return textsOf(options);
}

//===----------------------------------------------------------------------===//
// The fields of C
//===----------------------------------------------------------------------===//

/// A field, another value for it, and what this sets in C++.
template <typename InC> struct Field {
  size_t offset, size;
  std::function<void(InC &)> set;
  std::string name, value;
};
#define FIELD(structure, field, code, name, value)                             \
  {offsetof(structure, field), sizeof(structure::field),                       \
   [](structure &o) { code; }, name, value}
#define STEP(field, value, name, text)                                         \
  FIELD(mantissa_step_options, field, o.field = value, name, text)
#define RUN(field, value, name, text)                                          \
  FIELD(mantissa_run_options, field, o.field = value, name, text)
#define SAMPLING(field, value, name, text)                                     \
  FIELD(mantissa_sampling_options, field, o.field = value, name, text)
/// A list and its length are two fields, which are set together.
#define LIST(field, count, name)                                               \
  FIELD(mantissa_step_options, field, (o.field = two, o.count = 2), name,      \
        "a+b"),                                                                \
      FIELD(mantissa_step_options, count, (o.field = two, o.count = 1), name,  \
            "a")

const char *const two[] = {"a", "b"};
void note(void *, const char *) {}
int noted = 0;

const Field<mantissa_step_options> stepFields[] = {
    STEP(struct_size, sizeof o, "", ""),
    STEP(batch, 7, "batch", "7"),
    STEP(precision, MANTISSA_PRECISION_O2, "precision", "12"),
    STEP(scaler, MANTISSA_SCALER_JMP, "scaler", "11"),
    STEP(static_scale, 8, "staticScale", "8.000000"),
    STEP(policy, "apex", "policy", "apex"),
    STEP(accumulate, 3, "accumulate", "3"),
    STEP(clip_norm, 0.5, "clipNorm", "0.500000"),
    STEP(clip_value, 0.25, "clipValue", "0.250000"),
    STEP(recompute, "all", "recompute", "all"),
    STEP(recipe, "slow", "recipe", "slow"),
    STEP(total_steps, 100, "totalSteps", "100"),
    LIST(outputs, output_count, "outputs"),
    LIST(predictions, prediction_count, "predictions"),
    LIST(plugins, plugin_count, "plugins"),
    LIST(insert_passes, insert_pass_count, "insertPasses"),
    STEP(device, MANTISSA_DEVICE_AUTO, "device", "auto"),
    FIELD(mantissa_step_options, device_index,
          (o.device = MANTISSA_DEVICE_CUDA, o.device_index = 2), "device",
          "cuda:2"),
    STEP(seed, 5, "seed", "5"),
    STEP(threads, 6, "threads", "6"),
    STEP(reserved, 0, "", ""),
    STEP(on_note, note, "onNote", "a function"),
    STEP(note_data, &noted, "", ""),
    STEP(loss_chunks, "4", "lossChunks", "4")};

const Field<mantissa_run_options> runFields[] = {
    RUN(struct_size, sizeof o, "", ""),
    RUN(device, MANTISSA_DEVICE_AUTO, "device", "auto"),
    FIELD(mantissa_run_options, device_index,
          (o.device = MANTISSA_DEVICE_CUDA, o.device_index = 2), "device",
          "cuda:2"),
    RUN(seed, 5, "seed", "5"),
    RUN(threads, 6, "threads", "6"),
    RUN(reserved, 0, "", ""),
    RUN(on_note, note, "onNote", "a function"),
    RUN(note_data, &noted, "", "")};

const Field<mantissa_sampling_options> samplingFields[] = {
    SAMPLING(struct_size, sizeof o, "", ""),
    SAMPLING(temperature, 0.5, "temperature", "0.500000"),
    SAMPLING(top_p, 0.25, "topP", "0.250000"),
    SAMPLING(top_k, 7, "topK", "7"),
    SAMPLING(seed, 5, "seed", "5"),
    SAMPLING(samples, 3, "samples", "3"),
    SAMPLING(length, 9, "length", "9"),
    SAMPLING(end_token, 0, "endToken", "0"),
    SAMPLING(drawn_tokens, 11, "drawnTokens", "11")};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// Checks that each field sets what the table says and nothing else, and that
/// every option of C++ is set by a field.
template <typename Options, typename InC, size_t N>
void checkFields(const InC &first, const Field<InC> (&fields)[N]) {
  Texts before = textsOf(Options());
  EXPECT_EQ(taken<Options>(&first), before);
  EXPECT_EQ(taken<Options>(static_cast<const InC *>(nullptr)), before);
  size_t end = 0;
  std::set<std::string> set;
  for (const Field<InC> &field : fields) {
    EXPECT_EQ(field.offset, end) << "before " << field.name;
    end += field.size;
    InC options = first;
    field.set(options);
    Texts expected = before;
    if (!field.name.empty())
      expected.at(field.name) = field.value;
    EXPECT_EQ(expected == before, field.name.empty()) << field.name;
    EXPECT_EQ(taken<Options>(&options), expected) << field.name;
    set.insert(field.name);
  }
  EXPECT_EQ(end, sizeof(InC));
  for (auto &[name, value] : before)
    EXPECT_TRUE(set.count(name)) << name << " cannot be set from C";
}

TEST(COptions, OfAStep) {
  mantissa_step_options first = MANTISSA_STEP_OPTIONS_INIT;
  checkFields<StepOptions>(first, stepFields);
}

TEST(COptions, OfARun) {
  mantissa_run_options first = MANTISSA_RUN_OPTIONS_INIT;
  checkFields<RunOptions>(first, runFields);
}

TEST(COptions, OfSampling) {
  mantissa_sampling_options first = MANTISSA_SAMPLING_OPTIONS_INIT;
  checkFields<SamplingOptions>(first, samplingFields);
}

TEST(COptions, TheFunctionDoesWhatTheMacroDoes) {
  mantissa_step_options macro = MANTISSA_STEP_OPTIONS_INIT, function;
  std::memset(static_cast<void *>(&function), 0x55, sizeof function);
  EXPECT_EQ(mantissa_step_options_init(&function, sizeof function), nullptr);
  EXPECT_EQ(std::memcmp(&macro, &function, sizeof macro), 0);
  mantissa_run_options runMacro = MANTISSA_RUN_OPTIONS_INIT, runFunction;
  std::memset(static_cast<void *>(&runFunction), 0x55, sizeof runFunction);
  EXPECT_EQ(mantissa_run_options_init(&runFunction, sizeof runFunction),
            nullptr);
  EXPECT_EQ(std::memcmp(&runMacro, &runFunction, sizeof runMacro), 0);
  mantissa_sampling_options sampling = MANTISSA_SAMPLING_OPTIONS_INIT, made;
  std::memset(static_cast<void *>(&made), 0x55, sizeof made);
  EXPECT_EQ(mantissa_sampling_options_init(&made, sizeof made), nullptr);
  EXPECT_EQ(std::memcmp(&sampling, &made, sizeof sampling), 0);
}

TEST(COptions, NotesComeWithTheirData) {
  mantissa_run_options given = MANTISSA_RUN_OPTIONS_INIT;
  std::string heard;
  given.note_data = &heard;
  given.on_note = [](void *data, const char *line) {
    *static_cast<std::string *>(data) += line;
  };
  RunOptions options;
  llvm::cantFail(c::takeOptions(&given, options));
  options.onNote(llvm::StringRef("a line and more").take_front(6));
  EXPECT_EQ(heard, "a line");
}

//===----------------------------------------------------------------------===//
// Callers of other versions
//===----------------------------------------------------------------------===//

/// A structure as it would be with a field more.
struct Grown {
  size_t struct_size;
  int64_t first, second;
};

} // namespace

template <> inline constexpr size_t mantissa::c::kFirstSize<Grown> = 16;

namespace {

TEST(CStructures, AnOlderCallerKeepsTheDefaultOfANewField) {
  struct {
    size_t struct_size;
    int64_t first, guard;
  } older = {16, 5, 77};
  Grown taken = {sizeof taken, 1, 2};
  llvm::cantFail(
      c::takeSized("x", reinterpret_cast<const Grown &>(older), taken));
  EXPECT_EQ(taken.first, 5);
  EXPECT_EQ(taken.second, 2);
  Grown value = {sizeof value, 8, 9};
  llvm::cantFail(c::giveSized("x", value, reinterpret_cast<Grown *>(&older)));
  EXPECT_EQ(older.struct_size, 16u);
  EXPECT_EQ(older.first, 8);
  EXPECT_EQ(older.guard, 77) << "is not the library's to write";
}

} // namespace
