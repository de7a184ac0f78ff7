#!/usr/bin/env python3
"""Writes zoo.json: losses and gradients of torchvision's and Hugging Face's networks with the sizes and weights of zoo_cases.py and
text_cases.py.

    VENV/bin/pip install torch torchvision transformers numpy
    VENV/bin/python test/goldens/zoo.py --tools build/release/bin [NETWORK...]

The modules are torchvision's own, whose leaves are replaced by those of fewer channels, and those of transformers, which take sizes.
For each network: the losses of ten steps of SGD with momentum in double, in f32 and under autocast to bf16, and of the first step in
double, the sizes and the fingerprints of all gradients that f32 is exact enough for."""

import argparse
import copy
import json
import types
from pathlib import Path

import torch
import torch.nn.functional as F
import torchvision
import transformers

import text_cases
import zoo_cases

HERE = Path(__file__).resolve().parent
#: A gradient that PyTorch's own f32 has further from double, as a part of its largest element, says nothing about other arithmetic;
#: from these weights, or from some that differ by PART, which moves an activation across a kink here and there.
OWN, DISTURBED, PART = 2e-4, 4, 2.0 ** -23


def resnet50_cifar(num_classes):
    """A 3x3 stem without pooling, as everybody takes for images of 32 pixels."""
    model = torchvision.models.resnet50(num_classes=num_classes)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = torch.nn.Identity()
    return model


NETWORKS = {
    "alexnet": torchvision.models.alexnet,
    "vgg16": torchvision.models.vgg16,
    "googlenet": lambda num_classes: torchvision.models.googlenet(num_classes=num_classes, init_weights=False),
    "inception-v3": lambda num_classes: torchvision.models.inception_v3(num_classes=num_classes, init_weights=False),
    "resnet50": torchvision.models.resnet50,
    "resnet50-cifar": resnet50_cifar,
    "mobilenet-v2": torchvision.models.mobilenet_v2,
    "vit-tiny": lambda num_classes: torchvision.models.VisionTransformer(64, 16, 12, 3, 96, 384, num_classes=num_classes),
}

class RecurrentLm(torch.nn.Module):
    """The RNNModel of PyTorch's example word_language_model, without dropout."""

    def __init__(self, vocabulary, channels, tied):
        super().__init__()
        self.encoder = torch.nn.Embedding(vocabulary, channels)
        self.rnn = torch.nn.LSTM(channels, channels, 2, batch_first=True)
        self.decoder = torch.nn.Linear(channels, vocabulary)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, input_ids):
        # oneDNN has no LSTM of bf16 for every CPU; PyTorch's own is made of products that autocast sees.
        with torch.backends.mkldnn.flags(enabled=False):
            hidden, _ = self.rnn(self.encoder(input_ids))
        return types.SimpleNamespace(logits=self.decoder(hidden))


def packed(rnn, x, lengths):
    """The output and the last states of samples that end after their lengths."""
    inputs = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    with torch.backends.mkldnn.flags(enabled=False):
        out, last = rnn(inputs)
    return torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last


class Stack(torch.nn.Module):
    """The encoder or the decoder of Seq2Seq."""

    def __init__(self, channels):
        super().__init__()
        self.embedding = torch.nn.Embedding(text_cases.VOCABULARY, channels)
        self.rnn = torch.nn.LSTM(channels, channels, 2, batch_first=True)


class Seq2Seq(torch.nn.Module):
    """Luong et al. (2015): global attention with the score "dot", and no input feeding."""

    def __init__(self, channels):
        super().__init__()
        self.encoder, self.decoder = Stack(channels), Stack(channels)
        self.concat = torch.nn.Linear(2 * channels, channels, bias=False)
        self.out = torch.nn.Linear(channels, text_cases.VOCABULARY)

    def forward(self, input_ids, attention_mask, labels):
        keys, state = packed(self.encoder.rnn, self.encoder.embedding(input_ids), attention_mask.sum(1))
        before = F.pad(labels.clamp(min=0)[:, :-1], (1, 0))
        with torch.backends.mkldnn.flags(enabled=False):
            queries, _ = self.decoder.rnn(self.decoder.embedding(before), state)
        scores = (queries @ keys.transpose(1, 2)).masked_fill(attention_mask[:, None] == 0, -torch.inf)
        context = scores.softmax(-1).to(keys.dtype) @ keys
        return types.SimpleNamespace(logits=self.out(torch.tanh(self.concat(torch.cat([context, queries], 2)))))


class SpeechCtc(torch.nn.Module):
    """Graves et al. (2013), CTC-2l-250h."""

    def __init__(self, channels):
        super().__init__()
        self.rnn = torch.nn.LSTM(123, channels, 2, batch_first=True, bidirectional=True)
        self.out = torch.nn.Linear(2 * channels, text_cases.VOCABULARY)

    def forward(self, frames, lengths):
        return self.out(packed(self.rnn, frames.to(self.out.weight.dtype), lengths)[0])


HEADS = {"num_hidden_layers": 2, "hidden_size": 128, "vocab_size": text_cases.VOCABULARY}
BERT = transformers.BertConfig(**HEADS, num_attention_heads=2, intermediate_size=512, hidden_dropout_prob=0,
                               attention_probs_dropout_prob=0)
TEXTS = {
    "char-gpt": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_layer=2, n_embd=128, n_head=4, vocab_size=text_cases.VOCABULARY, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)),
    "llama-tiny": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
        **HEADS, num_attention_heads=4, num_key_value_heads=2, intermediate_size=352, rms_norm_eps=1e-5)),
    "char-rnn": lambda: RecurrentLm(text_cases.VOCABULARY, 128, tied=False),
    "lstm-lm": lambda: RecurrentLm(10000, 650, tied=True),
    "bert-tiny": lambda: transformers.BertForSequenceClassification(BERT),
    "bert-mlm-tiny": lambda: transformers.BertForMaskedLM(BERT),
    "t5-small": lambda: transformers.T5ForConditionalGeneration(transformers.T5Config(
        num_layers=2, d_model=128, d_kv=16, d_ff=512, num_heads=8, vocab_size=text_cases.VOCABULARY, dropout_rate=0,
        decoder_start_token_id=0)),
    "seq2seq": lambda: Seq2Seq(64),
    "speech-ctc": lambda: SpeechCtc(64),
}
CASES = {name: module for module in (zoo_cases, text_cases) for name in module.CASES}


def narrowed(module, shapes, name):
    """The leaf with as many channels as the weights have."""
    shape = shapes.get(f"{name}.weight")
    if isinstance(module, torch.nn.Conv2d):
        groups = shape[0] if module.groups == module.in_channels > 1 else module.groups
        return torch.nn.Conv2d(shape[1] * groups, shape[0], module.kernel_size, module.stride, module.padding, module.dilation, groups,
                               module.bias is not None)
    if isinstance(module, torch.nn.BatchNorm2d):
        return torch.nn.BatchNorm2d(shape[0], module.eps, module.momentum)
    if isinstance(module, torch.nn.Linear) and not isinstance(module, torch.nn.modules.linear.NonDynamicallyQuantizableLinear):
        return torch.nn.Linear(shape[1], shape[0], module.bias is not None)
    if isinstance(module, torch.nn.Dropout):
        return torch.nn.Identity()
    return None


def loaded(model, state, may_miss):
    missing, unexpected = model.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()}, strict=False)
    assert not unexpected and all(name.endswith(may_miss) for name in missing), (missing, unexpected)
    return model.train()


def network(name_of_case, text):
    state = CASES[name_of_case].weights(text, CASES[name_of_case].CASES[name_of_case])
    if name_of_case in TEXTS:
        # What shares its values with another parameter is in no file.
        return loaded(TEXTS[name_of_case](), state, ("lm_head.weight", "embed_tokens.weight", "decoder.weight", "decoder.bias"))
    model = NETWORKS[name_of_case](num_classes=zoo_cases.CLASSES)
    shapes = zoo_cases.shapes(text)
    for name, module in list(model.named_modules()):
        leaf = narrowed(module, shapes, name) if name else None
        if leaf is not None:
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, leaf)
    return loaded(model, state, "num_batches_tracked")


def loss_of_texts(model, inputs, autocast):
    """Of windows with the tokens after them, or of texts with their lengths and labels."""
    labels = next(inputs[name] for name in ("y", "label", "labels") if name in inputs)
    words = {"input_ids": inputs["x"]} if "x" in inputs else {"input_ids": inputs["tokens"]}
    if "lengths" in inputs:
        words["attention_mask"] = (torch.arange(text_cases.TOKENS) < inputs["lengths"][:, None]).long()
    if isinstance(model, (transformers.T5ForConditionalGeneration, Seq2Seq)):
        labels = words["labels"] = labels.masked_fill(labels == 0, -100)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = model(**words).logits
    return F.cross_entropy((logits.float() if autocast else logits).flatten(0, -2), labels.flatten())


def loss_of_speech(model, inputs, autocast):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = model(inputs["frames"], inputs["lengths"])
    classes = (logits.float() if autocast else logits).log_softmax(2).transpose(0, 1)
    return F.ctc_loss(classes, inputs["labels"], inputs["lengths"], (inputs["labels"] > 0).sum(1))


def loss_of(model, inputs, autocast):
    if "frames" in inputs:
        return loss_of_speech(model, inputs, autocast)
    if "images" not in inputs:
        return loss_of_texts(model, inputs, autocast)
    images, labels = inputs["images"].to(next(model.parameters()).dtype), inputs["labels"]
    scaled = (images / 255 - zoo_cases.MEAN) / zoo_cases.DEVIATION
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = model(scaled.permute(0, 3, 1, 2))
    parts = logits if isinstance(logits, tuple) else (logits,)
    losses = [F.cross_entropy(part.float() if autocast else part, labels) for part in parts]
    return losses[0] + sum(0.3 * loss for loss in losses[1:])


def disturbed(model, seed):
    """The model with weights that are larger or smaller by PART, or as they were."""
    model = copy.deepcopy(model)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in model.parameters():
            value *= 1 + PART * torch.randint(-1, 2, value.shape, generator=random)
    return model


def train(model, case, autocast=False, steps=zoo_cases.STEPS):
    """The losses of the steps, and the gradients of the first."""
    arrays = {name: torch.from_numpy(array if array.dtype == "float32" else array.astype("int64"))
              for name, array in CASES[case["name"]].arrays(case).items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=case["rate"], momentum=0.9)
    losses, gradients = [], {}
    for step in range(steps):
        rows = slice(step * case["batch"], (step + 1) * case["batch"])
        optimizer.zero_grad()
        loss = loss_of(model, {name: array[rows] for name, array in arrays.items()}, autocast)
        loss.backward()
        gradients = gradients or {name: value.grad.numpy().copy() for name, value in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return losses, gradients


def golden(tools, name):
    cases, case = CASES[name], CASES[name].CASES[name]
    model = network(name, cases.module(tools, case))
    exact, gradients = train(copy.deepcopy(model).double(), case)
    single, rounded = train(copy.deepcopy(model), case)
    others = [rounded, *(train(disturbed(model, seed), case, steps=1)[1] for seed in range(DISTURBED))]
    mixed, _ = train(model, case, autocast=True)
    apart = max(abs(a - b) / b for a, b in zip(single, exact))
    print(f"{name:15} loss {exact[0]:.4f} to {exact[-1]:.4f}; from double: f32 {apart:.1e}, "
          f"bf16 {max(abs(a - b) / b for a, b in zip(mixed, exact)):.1e}", flush=True)
    largest = {key: float(abs(value).max()) for key, value in gradients.items()}
    kept = [key for key, value in gradients.items()
            if max(abs(other[key] - value).max() for other in others) <= OWN * cases.size_of(key, largest)]
    print(f"{'':15} {len(gradients) - len(kept)} of {len(gradients)} gradients are further than {OWN} in f32, and left out", flush=True)
    return {"case": case, "left_out": len(gradients) - len(kept), "losses": exact, "losses_f32": single, "losses_bf16": mixed,
            "gradients": {key: [float(f"{cases.size_of(key, largest):.6e}"), *cases.fingerprint(key, gradients[key])] for key in kept}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of mp-zoo")
    parser.add_argument("networks", nargs="*", choices=[[], *CASES], default=[], help="those to write again (all)")
    options = parser.parse_args()
    torch.set_num_threads(2)
    path = HERE / "zoo.json"
    all_goldens = json.loads(path.read_text())["networks"] if path.exists() else {}
    all_goldens |= {name: golden(options.tools, name) for name in options.networks or CASES}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in all_goldens.items()]
    versions = ", ".join(f'"{module.__name__}": "{module.__version__}"' for module in (torch, torchvision, transformers))
    path.write_text(f'{{{versions}, "networks": {{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
