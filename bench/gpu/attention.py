"""Attention in bf16, forward and backward, against PyTorch's flash kernels; first whether a few results are right.

Rates count two products of scores forward and five backward, of the pairs that are looked at, for ours and PyTorch's.
The ratio is PyTorch's time over ours: above 1 ours is faster."""

import json
import subprocess
import sys
from importlib.util import find_spec

from _stage import ROOT, Failed, Skipped, main, reason

HEADS = 16  # times depth 64; half as many of depth 128
ELEMENTS = 8192  # tokens in all, so that each shape has as many
SHAPES = [(tokens, depth, causal) for tokens in (128, 1024, 4096) for depth in (64, 128) for causal in (False, True)]
NAMES = {"forward": "scaled_dot_product_attention", "backward": "scaled_dot_product_attention_backward"}
PRODUCTS = {"forward": 2, "backward": 5}
RESULTS = ("y", "dq", "dk", "dv")
OFF = 0.01  # of the norm; bf16 has 8 bits

STEP = """
{variables}
func.func @loss(%x: tensor<?x{one}> {{mp.name = "x"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
{operands}
  %y, %s = mp.scaled_dot_product_attention %hq, %hk, %hv {causal}
    : tensor<?x{one}>, tensor<?x{one}>, tensor<?x{one}>
  %p = mp.mul %y, %x : tensor<?x{one}>, tensor<?x{one}>
  %f = mp.cast %p : tensor<?x{one}> to tensor<?x{wide}>
  %l = mp.mean %f dims[0, 1, 2, 3] : tensor<?x{wide}>
  return %l : tensor<f32>
}}
mp.train @step of @loss {{
  mp.minimize result(0) {{params = ["q", "k", "v"], optimizer = #mp.sgd<lr = 0.5>}}
}}
"""
OPERAND = """  %w{n} = mp.read @{n} : tensor<1x{wide}>
  %c{n} = mp.cast %w{n} : tensor<1x{wide}> to tensor<1x{one}>
  %h{n} = mp.mul %x, %c{n} : tensor<?x{one}>, tensor<1x{one}>"""
ONCE = """
func.func @f(%q: tensor<{wide}>, %k: tensor<{wide}>, %v: tensor<{wide}>, %g: tensor<{wide}>)
    -> (tensor<{wide}>, tensor<{wide}>, tensor<{wide}>, tensor<{wide}>) {{
{narrow}
  %y, %s = mp.scaled_dot_product_attention %qn, %kn, %vn {causal}
    : tensor<{one}>, tensor<{one}>, tensor<{one}>
  %p = mp.mul %y, %gn : tensor<{one}>, tensor<{one}>
  %t = mp.sum %p dims[0, 1, 2, 3] : tensor<{one}>
  %dq, %dk, %dv = mp.gradient %t of %qn, %kn, %vn : tensor<bf16>, tensor<{one}>, tensor<{one}>, tensor<{one}>
{widen}
  return %yw, %dqw, %dkw, %dvw : tensor<{wide}>, tensor<{wide}>, tensor<{wide}>, tensor<{wide}>
}}
"""


class Rival:
    """torch_attention.py at work."""

    def __init__(self, stage):
        self.log = open(stage.work / "torch.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, "-B", ROOT / "bench" / "rivals" / "torch_attention.py"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def ask(self, **question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, ValueError) as error:
            self.log.seek(0)
            raise Failed(f"torch_attention.py: {reason(self.log.read())}") from error

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def types(tokens, heads, depth):
    return {"one": f"{tokens}x{heads}x{depth}xbf16", "wide": f"{tokens}x{heads}x{depth}xf32"}


def step_of(tokens, heads, depth, causal):
    kinds = types(tokens, heads, depth)
    variables = "\n".join(f"mp.variable @{n} : tensor<1x{kinds['wide']}> = #mp.init<ones>" for n in "qkv")
    operands = "\n".join(OPERAND.format(n=n, **kinds) for n in "qkv")
    return STEP.format(variables=variables, operands=operands, causal="causal" if causal else "", **kinds)


def our_times(stage, tokens, heads, depth, causal, batch):
    """Microseconds of the launches forward and backward."""
    module, path = stage.work / "step.mlir", stage.work / "step.json"
    module.write_text(step_of(tokens, heads, depth, causal))
    stage.ask("bench", module, "--batch", batch, "--device", stage.device, "--precision", "bf16", "--steps", 3,
              "--warmup", 1, "--json", path)
    times = {}
    for launch in json.loads(path.read_text())["launches"]:
        for kind, name in NAMES.items():
            if name in launch["summary"].split():
                times[kind] = times.get(kind, 0) + launch["microseconds"]
    if times.keys() != NAMES.keys():
        raise Failed("a launch of attention is missing")
    return times


def check(stage, rival, tokens, depth, causal):
    """The distances of a result and gradients from PyTorch's in f32, as a result of the stage."""
    shape = (2, tokens, 3, depth)
    kinds = {key: f"2x{kind}" for key, kind in types(*shape[1:]).items()}
    one, wide = (f"tensor<{kinds[kind]}>" for kind in ("one", "wide"))
    narrow = "\n".join(f"  %{n}n = mp.cast %{n} : {wide} to {one}" for n in "qkvg")
    widen = "\n".join(f"  %{n}w = mp.cast %{n} : {one} to {wide}" for n in RESULTS)
    module = stage.work / "once.mlir"
    module.write_text(ONCE.format(narrow=narrow, widen=widen, causal="causal" if causal else "", **kinds))
    folder = str(stage.work)
    rival.ask(ask="draw", folder=folder, shape=shape)
    stage.ask("run", module, "--device", stage.device, *(f"--input=@{stage.work / n}.npy" for n in "qkvg"),
              *(f"--output=@{stage.work / n}.npy" for n in RESULTS))
    off = rival.ask(ask="right", folder=folder, causal=causal)
    worst = max(off["forward"], *off["backward"])
    name = f"{tokens} tokens, depth {depth}{', causal' if causal else ''}"
    faults = [] if worst <= OFF else [f"{name}: {off} off, at most {OFF} is right"]
    stage.add({"check": name, **off}, [], faults)


def compare(stage, rival, tokens, depth, causal):
    heads, batch = HEADS * 64 // depth, ELEMENTS // tokens
    ours = our_times(stage, tokens, heads, depth, causal, batch)
    theirs = rival.ask(ask="time", batch=batch, tokens=tokens, heads=heads, depth=depth, causal=causal)
    pairs = tokens * (tokens + 1) // 2 if causal else tokens ** 2
    result = {"tokens": tokens, "depth": depth, "causal": causal, "heads": heads, "batch": batch}
    name, rows = f"{tokens}x{depth}{' causal' if causal else ''}", []
    for kind, products in PRODUCTS.items():
        work = products * 2 * batch * heads * pairs * depth
        rate, their_rate, ratio = work / ours[kind] / 1e6, work / theirs[kind] / 1e6, theirs[kind] / ours[kind]
        result[kind] = {"microseconds": ours[kind], "torch_microseconds": theirs[kind], "tflops": rate,
                        "torch_tflops": their_rate, "ratio": ratio}
        rows.append([f"{name} {kind}",
                     f"{ours[kind]:.0f} us, {rate:.0f} TFLOP/s, PyTorch {their_rate:.0f}: {ratio:.2f}"])
    stage.add(result, rows)


def measure(stage):
    if not stage.on_gpu or not find_spec("torch"):
        raise Skipped("no PyTorch here" if stage.on_gpu else "not on the CPU")
    rival = Rival(stage)
    try:
        if find_spec("numpy"):
            for tokens, depth, causal in ((500, 64, True), (333, 128, False)):
                check(stage, rival, tokens, depth, causal)
        for tokens, depth, causal in SHAPES[:1] if stage.quick else SHAPES:
            if stage.left() > 4:
                compare(stage, rival, tokens, depth, causal)
    finally:
        rival.close()


if __name__ == "__main__":
    main(measure, __doc__)
