"""Networks of text in PyTorch, as the transformers library builds them, with the optimizers of examples/models: matrices alone decay."""

import torch

#: The largest norm of all gradients, and the optimizer's numbers, of the recipes in examples/models.
CLIP_NORM = 1.0


def optimizer_of(model, **numbers):
    decay = numbers.pop("weight_decay")
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": decay},
              {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, fused=True, **numbers)


class Logits(torch.nn.Module):
    """The logits alone of a module of transformers, from its inputs by place."""

    def __init__(self, module, *names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *inputs):
        return self.module(**dict(zip(self.names, inputs))).logits


def windows(tokens, vocabulary):
    """Samples of a language model: tokens, and those that follow."""
    def make(samples, generator):
        made = torch.randint(0, vocabulary, (samples, tokens + 1), generator=generator)
        return made[:, :-1], made[:, 1:]
    return make


def gpt(tokens, vocabulary, layers, width, heads):
    import transformers  # what else is compared does without
    off = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, "bos_token_id": None, "eos_token_id": None}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=vocabulary, n_positions=max(1024, tokens), n_embd=width, n_layer=layers, n_head=heads, use_cache=False, **off)).train()
    optimizer = optimizer_of(model, lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1)
    return Logits(model, "input_ids"), optimizer, windows(tokens, vocabulary)


def llama(tokens, vocabulary, layers, width, heads, hidden, key_heads):
    import transformers
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=key_heads, max_position_embeddings=tokens, rms_norm_eps=1e-5, use_cache=False)).train()
    optimizer = optimizer_of(model, lr=4e-4, betas=(0.9, 0.95), weight_decay=0.1)
    return Logits(model, "input_ids"), optimizer, windows(tokens, vocabulary)


def bert(tokens, vocabulary, layers, width, heads):
    import transformers
    model = transformers.BertForSequenceClassification(transformers.BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * width)).train()

    def texts(samples, generator):
        lengths = torch.randint(1, tokens + 1, (samples, 1), generator=generator)
        made = torch.randint(0, vocabulary, (samples, tokens), generator=generator)
        return made, torch.arange(tokens) < lengths, torch.randint(0, 2, (samples,), generator=generator)

    optimizer = optimizer_of(model, lr=5e-5, betas=(0.9, 0.999), weight_decay=0.01)
    return Logits(model, "input_ids", "attention_mask"), optimizer, texts


class Lstm(torch.nn.Module):
    """The RNNModel of PyTorch's example word_language_model: char-rnn of examples/models, or lstm-lm, which is tied and has dropout."""

    def __init__(self, vocabulary, layers, width, tied):
        super().__init__()
        dropout = 0.5 if tied else 0.0
        self.dropout = torch.nn.Dropout(dropout)
        self.encoder = torch.nn.Embedding(vocabulary, width)
        self.rnn = torch.nn.LSTM(width, width, layers, batch_first=True, dropout=dropout)
        self.decoder = torch.nn.Linear(width, vocabulary)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, tokens):
        hidden, _ = self.rnn(self.dropout(self.encoder(tokens)))
        return self.decoder(self.dropout(hidden))


def lstm(tokens, vocabulary, layers, width, tied):
    model = Lstm(vocabulary, layers, width, tied).train()
    return model, torch.optim.Adam(model.parameters(), lr=2e-3, fused=True), windows(tokens, vocabulary)


NETWORKS = {"gpt": gpt, "llama": llama, "bert": bert, "lstm": lstm}
