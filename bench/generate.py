#!/usr/bin/env python3
"""Lets Mantissa and Hugging Face's transformers write a text from the same weights, taking the most probable token each time, in
turns on one thread; compares the texts and the time of a token. PyTorch runs eagerly, with its cache of keys and values. T5 reads
the prompt, and writes a text from it.

    python3 -m venv VENV && VENV/bin/pip install torch transformers safetensors numpy
    VENV/bin/python bench/generate.py --json generate.json
    VENV/bin/python bench/generate.py --models char-gpt --weights weights.safetensors    # as mp-run export writes them

Weights are random unless they are given: large enough for the text to depend on what came before."""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: pip install torch transformers safetensors numpy")

from _machine import ROOT, circumstances

PROMPT = b"It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
ENDS = {"bos_token_id": None, "eos_token_id": None}


def gpt2(**sizes):
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **sizes, **ENDS))


def llama(**sizes):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(rms_norm_eps=1e-5, **sizes, **ENDS))


def t5(**sizes):
    return transformers.T5ForConditionalGeneration(transformers.T5Config(dropout_rate=0, decoder_start_token_id=0, **sizes))


# A network of the zoo: transformers' module, the tokens that are written, and how widely random weights are spread.
MODELS = {"char-gpt": (lambda: gpt2(n_layer=4, n_embd=128, n_head=4, vocab_size=256), 300, 0.15),
          "llama-tiny": (lambda: llama(vocab_size=256, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4,
                                       num_key_value_heads=2), 300, 0.15),
          "gpt2": (gpt2, 24, 0.1),
          "t5-small": (lambda: t5(d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8), 60, 0.08)}
# Copies of a table of tokens that others are tied to, which files leave out.
TIED = {"char-gpt": {"lm_head.weight"}, "llama-tiny": set(), "gpt2": {"lm_head.weight"},
        "t5-small": {"lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}}
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


def rival(name, weights):
    """transformers' module with random or given weights, and its weights as a file has them."""
    make, _, spread = MODELS[name]
    torch.manual_seed(0)
    model = make().eval()
    if weights:
        missing = model.load_state_dict(load_file(weights), strict=False)
        if missing.unexpected_keys or set(missing.missing_keys) - TIED[name]:
            sys.exit(f"{weights}: {missing}")
    else:
        for parameter in model.parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, 0, spread)
    return model


@torch.no_grad()
def write(model, count):
    """The tokens that PyTorch writes, and the seconds of each but the first, which takes the prompt."""
    tokens, kept, written, given = torch.tensor([list(PROMPT)]), None, [], "input_ids"
    read = {}
    if model.config.is_encoder_decoder:
        read["encoder_outputs"] = model.encoder(tokens)
        tokens, given = torch.zeros(1, 1, dtype=torch.long), "decoder_input_ids"
    for number in range(count):
        if number == 1:
            begin = time.perf_counter()
        said = model(**{given: tokens}, **read, past_key_values=kept, use_cache=True)
        kept, tokens = said.past_key_values, said.logits[:, -1:].argmax(-1)
        written.append(int(tokens))
    return written, (time.perf_counter() - begin) / (count - 1)


def generated(tools, name, weights, precision, count):
    """The same of mp-run."""
    context = "" if name == "gpt2" else f",tokens={max(len(PROMPT) + count, 128)}"
    command = [tools / "mp-run", "generate", weights, "--module", f"zoo:{name}{context}", "--tokenizer", "bytes", "--prompt",
               PROMPT.decode(), "--temperature", "0", "--length", str(count), "--precision", precision, "--threads", "1", "--numbers"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(ended.stderr)
    return [int(word) for word in ended.stdout.split()], float(re.search(r"([0-9.]+) ms for each", ended.stderr).group(1)) / 1000


def measure(tools, folder, name, precision, options):
    count = options.length or MODELS[name][1]
    model, file = rival(name, options.weights), folder / "weights.safetensors"
    save_file({key: value.contiguous() for key, value in model.state_dict().items() if key not in TIED[name]}, file)
    model = model.to(PRECISIONS[precision])
    write(model, 3)
    ours, theirs = [], []
    for _ in range(options.rounds):
        tokens, seconds = write(model, count)
        theirs.append(seconds)
        found, seconds = generated(tools, name, file, precision, count)
        ours.append(seconds)
    same = next((place for place, pair in enumerate(zip(found, tokens)) if pair[0] != pair[1]), count)
    result = {"model": name, "precision": precision, "tokens": count, "same_tokens": same, "mantissa_ms": 1000 * statistics.median(ours),
              "pytorch_ms": 1000 * statistics.median(theirs)}
    result["times_as_fast"] = result["pytorch_ms"] / result["mantissa_ms"]
    print(f"{name:10} {precision}  {result['mantissa_ms']:8.2f} ms a token, PyTorch {result['pytorch_ms']:8.2f} ms: "
          f"{result['times_as_fast']:.2f} times as fast, the first {same} of {count} tokens are the same", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--weights", type=Path, help="safetensors file of the weights (random)")
    parser.add_argument("--length", type=int, help="how many tokens are written")
    parser.add_argument("--rounds", type=int, default=3, help="of which the medians are taken (3)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not (options.tools / "mp-run").exists():
        sys.exit(f"{options.tools} has no mp-run: build with scripts/build.sh")
    torch.set_num_threads(1)
    found = circumstances(options.tools)
    found["versions"].update(torch=torch.__version__, transformers=transformers.__version__)
    with tempfile.TemporaryDirectory() as folder:
        found["results"] = [measure(options.tools, Path(folder), name, precision, options)
                            for name in options.models for precision in options.precisions]
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
