#!/usr/bin/env python3
"""What training draws at random: with dropout, 60 steps equal 30 steps, a checkpoint and 30 more, bit for bit, on
another number of threads; a step after a skipped one draws other numbers; and a bf16 parameter without a master,
rounded stochastically, learns what an f32 one does."""

import random
import re
import struct

from _acceptance import example, finish, metrics, options, safetensors, train

EXACT = ("loss", "scale", "skipped", "grad_norm")


def with_dropout(arguments):
    """The example with dropout after its activations."""
    text, count = re.subn(r"%(a\d) = mp\.relu (%h\d) : (.*)",
                          r"%r\1 = mp.relu \2 : \3\n    %\1 = mp.dropout %r\1 {p = 0.2} : \3",
                          example(arguments).read_text())
    assert count == 2
    path = arguments.work / "dropout.mlir"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def resuming(arguments):
    module = with_dropout(arguments)

    def run(name, *flags, seed=7):
        return train(arguments, arguments.work / f"dropout-{name}", "--precision", "fp16", "--seed", seed, *flags,
                     module=module)

    whole = run("whole", "--max-steps", 60, "--threads", 1)
    half = run("half", "--max-steps", 30, "--threads", 1)
    resumed = run("resumed", "--max-steps", 60, "--threads", 2, "--resume", half)
    expected, found = metrics(whole), metrics(resumed)
    for key in EXACT:
        if found[key][-30:] != expected[key][-30:]:
            yield f"dropout: {key} differs after resuming"
    one, other = (safetensors(path / "checkpoint.safetensors") for path in (whole, resumed))
    if one != other:
        yield "dropout: checkpoints differ"
    if struct.unpack("<q", one["random.seed"][2]) != (7,):
        yield f"the checkpoint's seed is {one['random.seed']}, not 7"


def write_tensors(path, tensors):
    """{name: (shape, numbers)} as f32."""
    header, body = [], b""
    for name, (shape, numbers) in tensors.items():
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        header.append(f'"{name}":{{"dtype":"F32","shape":{list(shape)},"data_offsets":[{len(body)},{len(body) + len(data)}]}}')
        body += data
    text = ("{" + ",".join(header) + "}").encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


# A gradient of 1e36 times a scale of 2^13 or more is infinite: no step is applied, and each has the same batch.
SKIPPED = """
mp.variable @w : tensor<64xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x64xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<64xf32>
  %h = mp.mul %x, %w : tensor<?x64xf32>, tensor<64xf32>
  %d = mp.dropout %h : tensor<?x64xf32>
  %sum = mp.sum %d dims[0, 1] : tensor<?x64xf32>
  return %sum : tensor<f32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
}
mp.data @train {x = #mp.column<"x.safetensors" as safetensors, f32, key = "x">}
"""


def skipping(arguments):
    folder = arguments.work / "random-skipped"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.mlir").write_text(SKIPPED)
    write_tensors(folder / "x.safetensors", {"x": ((1, 64), [(-1) ** i * 1e36 * (1 + i / 7) for i in range(64)])})

    def losses(name, seed):
        run = train(arguments, folder / name, "--data", folder, "--seed", seed, "--max-steps", 4, module=folder / "net.mlir",
                    batch=1)
        recorded = metrics(run)
        if not all(recorded["skipped"]):
            yield f"steps were applied: {recorded['skipped']}, so nothing is shown"
        yield from recorded["loss"]

    one, again, other = list(losses("one", 1)), list(losses("again", 1)), list(losses("other", 2))
    if len(set(one)) != 4:
        yield f"a step after a skipped one draws the same numbers: losses {one}"
    if one != again or set(one) & set(other):
        yield f"losses of seed 1 are {one} and {again}, of seed 2 {other}"


# Updates soon are far below half a step of bf16, 2^-9 of the parameter.
REGRESSION = """
mp.variable @w : tensor<1x32x{type}> = #mp.init<uniform, a = -1, b = 1>
func.func @loss(%x: tensor<?x32xf32> {{mp.name = "x"}}, %y: tensor<?x1xf32> {{mp.name = "y"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
  %low = mp.read @w : tensor<1x32x{type}>
  %w = mp.cast %low : tensor<1x32x{type}> to tensor<1x32xf32>
  %h = mp.linear %x, %w : tensor<?x32xf32>, tensor<1x32xf32>
  %e = mp.sub %h, %y : tensor<?x1xf32>, tensor<?x1xf32>
  %s = mp.mul %e, %e : tensor<?x1xf32>, tensor<?x1xf32>
  %mean = mp.mean %s dims[0, 1] : tensor<?x1xf32>
  return %mean : tensor<f32>
}}
mp.train @step of @loss {{
  mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1.0e-3>{option}}}
}}
mp.data @train {{x = #mp.column<"xy.safetensors" as safetensors, f32, key = "x">, y = #mp.column<"xy.safetensors" as safetensors, f32, key = "y">}}
"""


def regressing(arguments):
    folder = arguments.work / "random-regression"
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    weights = [draw.uniform(-1, 1) for _ in range(32)]
    rows = [[draw.gauss(0, 1) for _ in weights] for _ in range(2048)]
    write_tensors(folder / "xy.safetensors", {"x": ((2048, 32), sum(rows, [])), "y": (
        (2048, 1), [sum(a * b for a, b in zip(row, weights)) for row in rows])})

    def losses(name, element, option):
        module = folder / f"{name}.mlir"
        module.write_text(REGRESSION.format(type=element, option=option))
        run = train(arguments, folder / name, "--data", folder, "--seed", 1, "--epochs", 100, module=module, batch=64)
        recorded = metrics(run)["loss"]
        state = safetensors(run / "checkpoint.safetensors")
        return recorded[0], sum(recorded[-32:]) / 32, state["w"][0]

    first, exact, _ = losses("f32", "f32", "")
    start, rounded, dtype = losses("bf16", "bf16", ", stochastic_rounding")
    print(f"loss from {first:.3g} to {exact:.3g} in f32, from {start:.3g} to {rounded:.3g} in bf16, rounded stochastically")
    if dtype != "BF16":
        yield f"the parameter is kept as {dtype}"
    # Neighbours of a weight of 1/2 are 2^-9 apart; 32 random errors of about that.
    if not (start > 10 and exact < 1e-3 and rounded < 1e-3):
        yield "stochastic rounding does not learn what f32 does"


def main():
    arguments = options(__doc__)
    finish([*resuming(arguments), *skipping(arguments), *regressing(arguments)])


if __name__ == "__main__":
    main()
