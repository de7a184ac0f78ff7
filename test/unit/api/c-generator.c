//===- c-generator.c - texts that a language model writes, from C ---------===//
#include "api/CChecks.h"
#include "api/TextModule.h"

static mantissa_module *module;
static mantissa_step *step;
static mantissa_generator *generator;
static const char *const kWeights = "c-generator.safetensors";
static const char *const kLogitsOfTexts = "logits";
static const uint32_t first[] = {3, 1, 4}, second[] = {2, 7, 1, 8, 2},
                      outside[] = {16};

static mantissa_step_options textOptions(void) {
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  options.batch = 2;
  options.threads = 1;
  options.predictions = &kLogitsOfTexts;
  options.prediction_count = 1;
  return options;
}

/// Writes both texts to their ends, and checks that those of `text` are these.
static void write(const mantissa_prompt *prompts, size_t count,
                  uint32_t (*texts)[8]) {
  mantissa_sampling_options sampling = MANTISSA_SAMPLING_OPTIONS_INIT;
  const mantissa_written_token *tokens;
  size_t written[2] = {0, 0}, drawn, i;
  int lasts = 0;
  sampling.temperature = 0;
  sampling.length = 8;
  OK(mantissa_generator_begin(generator, prompts, count, &sampling));
  do {
    OK(mantissa_generator_next(generator, &tokens, &drawn));
    for (i = 0; i < drawn; ++i) {
      const mantissa_written_token *token = &tokens[i];
      int k;
      for (k = 0; k < 16; ++k) // the most probable one
        IS(token->logits[k] <= token->logits[token->token]);
      texts[token->text][written[token->text]++] = token->token;
      IS(token->is_last == (written[token->text] == 8));
      lasts += token->is_last;
    }
  } while (drawn);
  IS(lasts == (int)count);
}

static void textsTogetherAreThoseAlone(void) {
  uint32_t together[2][8], alone[2][8];
  mantissa_prompt prompts[2];
  prompts[0].tokens = first, prompts[0].count = 3;
  prompts[1].tokens = second, prompts[1].count = 5;
  write(prompts, 2, together);
  write(prompts, 1, alone);
  IS(memcmp(together[0], alone[0], sizeof alone[0]) == 0);
  write(prompts + 1, 1, alone);
  IS(memcmp(together[1], alone[0], sizeof alone[0]) == 0);
}

static void facts(void) {
  mantissa_generator_facts facts = MANTISSA_GENERATOR_FACTS_INIT;
  OK(mantissa_generator_get_facts(generator, &facts));
  IS(facts.texts == 2 && facts.context == 40 && facts.vocabulary == 16);
  IS(facts.planned_bytes > 0 && strcmp(facts.device, "cpu") == 0);
  facts.struct_size = 1;
  INVALID(mantissa_generator_get_facts(generator, &facts),
          "facts->struct_size is 1, expected 48");
}

static void mistakes(void) {
  mantissa_sampling_options sampling = MANTISSA_SAMPLING_OPTIONS_INIT;
  const mantissa_written_token *tokens;
  mantissa_prompt prompt = {NULL, 0}, several[3];
  size_t count = 7;
  several[0].tokens = several[1].tokens = several[2].tokens = first;
  several[0].count = several[1].count = several[2].count = 3;
  FAILS(mantissa_generator_begin(generator, NULL, 0, NULL),
        "there is no prompt");
  INVALID(mantissa_generator_begin(generator, NULL, 1, NULL),
          "prompts is null, and 1 are to be there");
  INVALID(mantissa_generator_begin(generator, &prompt, (size_t)-1, NULL),
          "prompts: 18446744073709551615 prompts are more than 65536");
  FAILS(mantissa_generator_begin(generator, &prompt, 1, NULL),
        "prompt 0 has no token");
  prompt.count = 1;
  INVALID(mantissa_generator_begin(generator, &prompt, 1, NULL),
          "prompts[0].tokens is null, and 1 are to be there");
  prompt.tokens = outside;
  FAILS(mantissa_generator_begin(generator, &prompt, 1, NULL),
        "prompt 0 has token 16 at 0, which is not in the vocabulary of 16");
  prompt.count = (size_t)-1;
  INVALID(mantissa_generator_begin(generator, &prompt, 1, NULL),
          "prompts[0].count is 18446744073709551615");
  FAILS(mantissa_generator_begin(generator, several, 3, NULL),
        "3 prompts with 1 samples of each are more texts than the 2");
  sampling.end_token = -2;
  INVALID(mantissa_generator_begin(generator, several, 1, &sampling),
          "options->end_token is -2, expected a token or -1");
  sampling.end_token = -1, sampling.top_p = -1;
  FAILS(mantissa_generator_begin(generator, several, 1, &sampling),
        "SamplingOptions::topP is -1");
  sampling.struct_size = 8;
  INVALID(mantissa_generator_begin(generator, several, 1, &sampling),
          "options->struct_size is 8, expected 72");
  // Nothing was begun.
  OK(mantissa_generator_next(generator, &tokens, &count));
  IS(count == 0);
}

static void nulls(void) {
  mantissa_step_options options = textOptions();
  const mantissa_written_token *tokens;
  mantissa_generator_facts facts = MANTISSA_GENERATOR_FACTS_INIT;
  mantissa_generator *made = generator;
  size_t count;
  mantissa_generator_destroy(NULL);
  INVALID(mantissa_module_compile_generator(NULL, kWeights, 0, NULL, &made),
          "module is null");
  IS(!made);
  INVALID(mantissa_module_compile_generator(module, NULL, 0, NULL, &made),
          "weights is null");
  INVALID(mantissa_module_compile_generator(module, kWeights, 0, NULL, NULL),
          "generator is null");
  INVALID(
      mantissa_module_compile_generator(module, kWeights, 2, &options, &made),
      "averaged is 2, expected 0 or 1");
  FAILS(mantissa_module_compile_generator(module, kWeights, 1, &options, &made),
        "holds no averages of weights");
  FAILS(mantissa_module_compile_generator(module, "none", 0, &options, &made),
        "none: No such file or directory");
  INVALID(mantissa_generator_begin(NULL, NULL, 0, NULL), "generator is null");
  INVALID(mantissa_generator_next(NULL, &tokens, &count), "generator is null");
  INVALID(mantissa_generator_next(generator, NULL, &count), "tokens is null");
  INVALID(mantissa_generator_next(generator, &tokens, NULL), "count is null");
  INVALID(mantissa_generator_get_facts(NULL, &facts), "generator is null");
  INVALID(mantissa_generator_get_facts(generator, NULL), "facts is null");
  INVALID(mantissa_sampling_options_init(NULL, 72), "options is null");
}

int main(void) {
  mantissa_step_options options = textOptions();
  OK(mantissa_module_parse(kTextModule, "text", &module));
  OK(mantissa_module_compile_step(module, &options, &step));
  OK(mantissa_step_save(step, kWeights));
  OK(mantissa_module_compile_generator(module, kWeights, 0, &options,
                                       &generator));
  textsTogetherAreThoseAlone();
  facts();
  mistakes();
  nulls();
  textsTogetherAreThoseAlone();
  mantissa_generator_destroy(generator);
  mantissa_step_destroy(step);
  mantissa_module_destroy(module);
  remove(kWeights);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}
