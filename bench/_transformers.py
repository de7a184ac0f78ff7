"""The networks of mp-zoo that Hugging Face's transformers have, as these build them, with made-up samples in the files that each reads."""

import re

import numpy as np
import torch
import transformers

TOKENS = 96


def cross_entropy(logits, labels):
    """In f32 at least, with the classes last. Labels of -100 do not count."""
    wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2).to(wide), labels.flatten())


class Network:
    """`zoo` and `options` are mp-zoo's; parameters that `plain` finds do not decay; those of `without_gradient` change no loss."""
    options, weight_decay, betas, plain, without_gradient = (), 0.01, (0.9, 0.999), r"LayerNorm", r"$^"

    def __init__(self, layers, batch, steps):
        self.layers, self.batch, self.steps = layers, batch, steps

    def arguments(self):
        """Of mp-zoo."""
        return self.zoo, *self.options, "--layers", str(self.layers), "--tokens", str(TOKENS)

    def text(self, module):
        """The module without dropout."""
        return re.sub(r" dropout\(%\w+, [^)]*\)", "", module.replace("{p = 1.000000e-01 : f64}", "{p = 0.0 : f64}"))

    def in_file(self, name):
        """The name in files of a parameter of the model."""
        return name

    def of(self, array, step):
        """The samples of a step."""
        return torch.from_numpy(array[step * self.batch:(step + 1) * self.batch].astype(np.int64))


class Windows(Network):
    """Predicts the next token in windows of a file of tokens."""
    weight_decay, betas, vocabulary = 0.1, (0.9, 0.95), 50257

    def data(self, folder, numbers):
        # One window after the other: no token is in two samples.
        self.tokens = numbers.integers(0, self.vocabulary, (self.steps * self.batch, TOKENS + 1)).astype(np.uint16)
        self.tokens.tofile(folder / "train.bin")

    def text(self, module):
        return super().text(module).replace("stride = 1>", f"stride = {TOKENS + 1}>").replace("stride = 1,", f"stride = {TOKENS + 1},")

    def loss(self, model, step):
        windows = self.of(self.tokens, step)
        return cross_entropy(model(windows[:, :-1]).logits, windows[:, 1:])


class Gpt2(Windows):
    zoo, plain = "gpt2", r"ln_"

    def model(self, **sizes):
        off = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=self.layers, tie_word_embeddings=True, **off, **sizes))


class CharGpt(Gpt2):
    zoo, vocabulary = "char-gpt", 256

    def model(self):
        return super().model(vocab_size=256, n_embd=128, n_head=4)


class TinyLlama(Windows):
    """With a quarter of the vocabulary: the tables would take most of the two layers' time."""
    zoo, plain, vocabulary = "tinyllama-1.1b", r"norm", 8000
    options = ("--vocabulary", "8000")

    def model(self, **sizes):
        sizes = {"hidden_size": 2048, "intermediate_size": 5632, "num_key_value_heads": 4, **sizes}
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            num_hidden_layers=self.layers, num_attention_heads=32, vocab_size=self.vocabulary, rms_norm_eps=1e-5, **sizes))


class Llama32(TinyLlama):
    """A quarter of the width."""
    zoo = "llama-3.2-1b"
    options = ("--vocabulary", "8000", "--width", "0.25")

    def model(self):
        rope = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192}
        return super().model(hidden_size=512, intermediate_size=2048, num_key_value_heads=8, tie_word_embeddings=True,
                             max_position_embeddings=131072, rope_parameters=rope)


class Texts(Network):
    """Texts of all lengths, as arrays."""
    vocabulary = 30522

    def labels_of(self, numbers):
        """Labels of tokens, -100 where none is asked for."""
        raise NotImplementedError

    def data(self, folder, numbers):
        samples = self.steps * self.batch
        self.tokens = numbers.integers(0, self.vocabulary, (samples, TOKENS)).astype(np.uint16)
        self.lengths = numbers.integers(1, TOKENS + 1, samples).astype(np.int32)
        self.labels = self.labels_of(numbers).astype(np.int32)
        for name, array in (("train", self.tokens), ("train-lengths", self.lengths), ("train-labels", self.labels)):
            np.save(folder / f"{name}.npy", array)

    def inputs(self, step):
        mask = torch.arange(TOKENS) < self.of(self.lengths, step)[:, None]
        return {"input_ids": self.of(self.tokens, step), "attention_mask": mask.long()}

    def loss(self, model, step):
        return cross_entropy(model(**self.inputs(step)).logits, self.of(self.labels, step))


class Bert(Texts):
    #: A softmax does not change where all its scores get the same: the gradient of this bias is zero but for rounding.
    zoo, without_gradient = "bert-base", r"self\.key\.bias$"

    def model(self):
        return self.of_class(transformers.BertForSequenceClassification)

    def of_class(self, kind):
        return kind(transformers.BertConfig(num_hidden_layers=self.layers, hidden_dropout_prob=0, attention_probs_dropout_prob=0))

    def labels_of(self, numbers):
        return numbers.integers(0, 2, len(self.tokens))


class BertMaskedLm(Bert):
    zoo = "bert-mlm-base"

    def model(self):
        return self.of_class(transformers.BertForMaskedLM)

    def labels_of(self, numbers):
        # 15 % of the tokens that there are, and the first in any case.
        asked = (numbers.random(self.tokens.shape) < 0.15) & (np.arange(TOKENS) < self.lengths[:, None])
        asked[:, 0] = True
        labels = np.where(asked, self.tokens.astype(np.int32), -100)
        self.tokens[asked] = 103  # [MASK]
        return labels


class T5(Texts):
    zoo, plain, vocabulary = "t5-small", r"layer_norm", 32128

    def model(self):
        return transformers.T5ForConditionalGeneration(transformers.T5Config(num_layers=self.layers, dropout_rate=0, decoder_start_token_id=0))

    def labels_of(self, numbers):
        # Every second text ends with padding, and the others with -100.
        labels = numbers.integers(1, self.vocabulary, self.tokens.shape)
        after = np.arange(TOKENS) >= numbers.integers(1, TOKENS + 1, len(labels))[:, None]
        fill = np.where(np.arange(len(labels)) % 2, 0, -100)[:, None]
        return np.where(after, fill, labels)

    def loss(self, model, step):
        labels = self.of(self.labels, step)
        labels = labels.masked_fill(labels == 0, -100)
        return cross_entropy(model(**self.inputs(step), labels=labels).logits, labels)


class Vit(Network):
    """All layers, at a quarter of the width, with the optimizer of the others."""
    zoo, weight_decay, without_gradient, side, classes = "vit-base", 0, r"k_proj\.bias$", 64, 10
    options = ("--width", "0.25", "--image", "64", "--classes", "10", "--data", "arrays")
    mean, deviation = 0.4490, 0.2260
    #: Since version 5, parameters have other names in the model than in its file.
    renamed = {"vit.layers.": "vit.encoder.layer.", "attention.q_proj": "attention.attention.query",
               "attention.k_proj": "attention.attention.key", "attention.v_proj": "attention.attention.value",
               "attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense", "mlp.fc2": "output.dense"}

    def arguments(self):
        return self.zoo, *self.options

    def model(self):
        return transformers.ViTForImageClassification(transformers.ViTConfig(
            hidden_size=192, intermediate_size=768, image_size=self.side, num_labels=self.classes))

    def in_file(self, name):
        for ours, theirs in self.renamed.items():
            name = name.replace(ours, theirs)
        return name

    def data(self, folder, numbers):
        samples = self.steps * self.batch
        self.images = numbers.integers(0, 256, (samples, self.side, self.side, 3)).astype(np.uint8)
        self.labels = numbers.integers(0, self.classes, samples).astype(np.uint8)
        np.save(folder / "train-images.npy", self.images)
        np.save(folder / "train-labels.npy", self.labels)

    def text(self, module):
        module = re.sub(r"optimizer = #mp\.sgd<[^>]*>", "optimizer = #mp.adamw<lr = 1.0e-4, weight_decay = 0.0>", module)
        return module.replace("(<dtype = bf16>)", "(<dtype = bf16>) attributes {clip_norm = 1.0}")

    def loss(self, model, step):
        pixels = ((self.of(self.images, step) / 255 - self.mean) / self.deviation).permute(0, 3, 1, 2)
        return cross_entropy(model(pixels.to(model.classifier.weight.dtype)).logits, self.of(self.labels, step))
