//===- c-abi-test.cpp - the ABI of mantissa-c.h stays as it is ------------===//
//
// The numbers that compiled programs contain. If a test fails, old programs
// break: new fields go to the end of a structure with a size, and new values of
// an enumeration get new numbers. Else MANTISSA_ABI_VERSION has to change, and
// then these numbers.
//
//===----------------------------------------------------------------------===//
#include "mantissa-c.h"
#include <gtest/gtest.h>
#include <type_traits>
#include <vector>

namespace {

using Numbers = std::vector<size_t>;

#define AT(field) offsetof(Struct, field)

TEST(CAbi, IsTheFirst) { EXPECT_EQ(MANTISSA_ABI_VERSION, 1); }

TEST(CAbi, StepOptions) {
  using Struct = mantissa_step_options;
  EXPECT_EQ((Numbers{AT(struct_size),   AT(batch),
                     AT(precision),     AT(scaler),
                     AT(static_scale),  AT(policy),
                     AT(accumulate),    AT(clip_norm),
                     AT(clip_value),    AT(recompute),
                     AT(recipe),        AT(total_steps),
                     AT(outputs),       AT(output_count),
                     AT(predictions),   AT(prediction_count),
                     AT(plugins),       AT(plugin_count),
                     AT(insert_passes), AT(insert_pass_count),
                     AT(device),        AT(device_index),
                     AT(seed),          AT(threads),
                     AT(reserved),      AT(on_note),
                     AT(note_data),     AT(loss_chunks)}),
            (Numbers{0,   8,   16,  20,  24,  32,  40,  48,  56,  64,
                     72,  80,  88,  96,  104, 112, 120, 128, 136, 144,
                     152, 156, 160, 168, 172, 176, 184, 192}));
}

TEST(CAbi, RunOptions) {
  using Struct = mantissa_run_options;
  EXPECT_EQ((Numbers{AT(struct_size), AT(device), AT(device_index), AT(seed),
                     AT(threads), AT(reserved), AT(on_note), AT(note_data)}),
            (Numbers{0, 8, 12, 16, 24, 28, 32, 40}));
}

TEST(CAbi, Tensor) {
  using Struct = mantissa_tensor;
  EXPECT_EQ((Numbers{AT(name), AT(element), AT(rank), AT(shape), AT(data),
                     AT(strides), sizeof(Struct)}),
            (Numbers{0, 8, 12, 16, 80, 88, 96}));
}

TEST(CAbi, Type) {
  using Struct = mantissa_type;
  EXPECT_EQ((Numbers{AT(element), AT(rank), AT(shape), AT(elements), AT(bytes),
                     sizeof(Struct)}),
            (Numbers{0, 4, 8, 72, 80, 88}));
}

TEST(CAbi, Info) {
  using Struct = mantissa_info;
  EXPECT_EQ((Numbers{AT(name), AT(kind), AT(type_text), AT(type)}),
            (Numbers{0, 8, 16, 24}));
}

TEST(CAbi, StepFacts) {
  using Struct = mantissa_step_facts;
  EXPECT_EQ((Numbers{AT(struct_size), AT(step), AT(loss), AT(loss_scale),
                     AT(learning_rate), AT(gradient_norm), AT(skipped),
                     AT(exhausted)}),
            (Numbers{0, 8, 16, 24, 32, 40, 48, 52}));
}

TEST(CAbi, StepCounters) {
  using Struct = mantissa_step_counters;
  EXPECT_EQ((Numbers{AT(struct_size), AT(steps), AT(skipped), AT(planned_bytes),
                     AT(device)}),
            (Numbers{0, 8, 16, 24, 32}));
}

TEST(CAbi, SamplingOptions) {
  using Struct = mantissa_sampling_options;
  EXPECT_EQ(
      (Numbers{AT(struct_size), AT(temperature), AT(top_p), AT(top_k), AT(seed),
               AT(samples), AT(length), AT(end_token), AT(drawn_tokens)}),
      (Numbers{0, 8, 16, 24, 32, 40, 48, 56, 64}));
}

TEST(CAbi, Prompt) {
  using Struct = mantissa_prompt;
  EXPECT_EQ((Numbers{AT(tokens), AT(count), sizeof(Struct)}),
            (Numbers{0, 8, 16}));
}

TEST(CAbi, WrittenToken) {
  using Struct = mantissa_written_token;
  EXPECT_EQ(
      (Numbers{AT(text), AT(token), AT(is_last), AT(logits), sizeof(Struct)}),
      (Numbers{0, 8, 12, 16, 24}));
}

TEST(CAbi, GeneratorFacts) {
  using Struct = mantissa_generator_facts;
  EXPECT_EQ((Numbers{AT(struct_size), AT(texts), AT(context), AT(vocabulary),
                     AT(planned_bytes), AT(device)}),
            (Numbers{0, 8, 16, 24, 32, 40}));
}

TEST(CAbi, EnumerationsAreInt32) {
  for (bool is : {std::is_same_v<mantissa_code, int32_t>,
                  std::is_same_v<mantissa_element, int32_t>,
                  std::is_same_v<mantissa_precision, int32_t>,
                  std::is_same_v<mantissa_scaler, int32_t>,
                  std::is_same_v<mantissa_device, int32_t>})
    EXPECT_TRUE(is);
}

/// Checks the names of the values 0, 1, 2, ...
void expectNames(const char *(*nameOf)(int32_t),
                 std::vector<const char *> names) {
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_STREQ(nameOf(i), names[i]);
  EXPECT_EQ(nameOf(names.size()), nullptr);
}

TEST(CAbi, Values) {
  EXPECT_EQ((std::vector<int>{MANTISSA_OK, MANTISSA_INVALID_ARGUMENT,
                              MANTISSA_FAILED, MANTISSA_BUSY}),
            (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ((std::vector<int>{MANTISSA_DEVICE_AUTO, MANTISSA_DEVICE_CPU,
                              MANTISSA_DEVICE_CUDA}),
            (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(MANTISSA_MAX_RANK, 8);
  expectNames(mantissa_element_name,
              {"i1", "i8", "ui8", "i32", "i64", "f8E4M3FN", "f8E5M2", "f16",
               "bf16", "f32", "f64", "i16", "ui16", "ui32"});
  expectNames(mantissa_precision_name,
              {"", "fp32", "tf32", "fp16", "bf16", "fp8", "16-mixed",
               "bf16-mixed", "mixed_float16", "mixed_bfloat16", "O0", "O1",
               "O2", "O3"});
  expectNames(mantissa_scaler_name,
              {"", "none", "torch", "apex", "apex-hysteresis", "keras",
               "keras2", "deepspeed", "deepspeed-consecutive", "megatron",
               "fairseq", "jmp", "static"});
}

TEST(CAbi, NamesParseToTheirValues) {
  for (int32_t i = 1; mantissa_precision_name(i); ++i) {
    mantissa_precision precision = -1;
    EXPECT_EQ(mantissa_precision_parse(mantissa_precision_name(i), &precision),
              nullptr);
    EXPECT_EQ(precision, i);
  }
  for (int32_t i = 1; mantissa_scaler_name(i); ++i) {
    mantissa_scaler scaler = -1;
    EXPECT_EQ(mantissa_scaler_parse(mantissa_scaler_name(i), &scaler), nullptr);
    EXPECT_EQ(scaler, i);
  }
}

TEST(CAbi, SizesOfElements) {
  Numbers sizes;
  for (int32_t i = 0; mantissa_element_name(i); ++i)
    sizes.push_back(mantissa_element_size(i));
  EXPECT_EQ(sizes, (Numbers{1, 1, 1, 4, 8, 1, 1, 2, 2, 4, 8, 2, 2, 4}));
}

} // namespace
