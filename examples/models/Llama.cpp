//===- Llama.cpp - Touvron et al. (2023) ----------------------------------===//
//
// Hugging Face's LlamaForCausalLM: rotary positions, root-mean-square norms,
// SwiGLU, no biases, and groups of heads that share keys and values. The base
// and the scaling of the positions are those of the model (Llama 3.1, 2024).
//
//===----------------------------------------------------------------------===//
#include "examples/models/Text.h"

namespace models {
namespace {

Tensor normalizeLast(const Tensor &x, const std::string &name) {
  return rmsNorm(x, {.name = name, .eps = 1e-5});
}

Tensor attention(Graph &net, const Tensor &x, const RotaryAngles &angles,
                 const TextSizes &sizes) {
  auto scope = net.scope("self_attn");
  int64_t depth = sizes.channels / sizes.heads;
  auto heads = [&](const std::string &name, int64_t count) {
    return reshape(project(net, x, count * depth, name),
                   {Batch, sizes.tokens, count, depth});
  };
  auto turned = [&](const std::string &name, int64_t count) {
    return rotaryEmbedding(heads(name, count), angles.cos, angles.sin, 1);
  };
  Tensor mixed = scaledDotProductAttention(
      turned("q_proj", sizes.heads), turned("k_proj", sizes.keyHeads),
      heads("v_proj", sizes.keyHeads), {.causal = true});
  return project(net, reshape(mixed, x.shape()), sizes.channels, "o_proj");
}

Tensor feedForward(Graph &net, const Tensor &x, const TextSizes &sizes) {
  auto scope = net.scope("mlp");
  Tensor gate = silu(project(net, x, sizes.hidden, "gate_proj")),
         up = project(net, x, sizes.hidden, "up_proj");
  return project(net, gate * up, sizes.channels, "down_proj");
}

} // namespace

void llama(Graph &net, const TextSizes &sizes) {
  Tensor x = tokensInput(net, "x", sizes), y = tokensInput(net, "y", sizes);
  Tensor table = tokenTable(net, "model.embed_tokens.weight", sizes);
  Tensor hidden = gather(table, x, 0);
  {
    auto scope = net.scope("model");
    RotaryAngles angles =
        rotaryAngles(net, {.tokens = sizes.tokens,
                           .channels = sizes.channels / sizes.heads,
                           .base = sizes.base,
                           .scaling = sizes.scaling});
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
      auto scope = net.scope(dotted("layers", layer));
      Tensor normal = normalizeLast(hidden, "input_layernorm");
      hidden = hidden + attention(net, normal, angles, sizes);
      normal = normalizeLast(hidden, "post_attention_layernorm");
      hidden = hidden + feedForward(net, normal, sizes);
    }
    hidden = normalizeLast(hidden, "norm");
  }
  Tensor head = sizes.isTied ? table : tokenTable(net, "lm_head.weight", sizes);
  predictTokens(net, linear(hidden, head), y);
  trainWithAdamw(
      net,
      {.params = {"*.weight", "!*norm.weight"}, .others = {"*norm.weight"}},
      {.lr = 4e-4, .beta2 = 0.95, .weightDecay = 0.1},
      cosine({.to = 0.1, .warmup = 100}));
  readWindows(net, sizes);
}

} // namespace models
