#!/usr/bin/env python3
"""Where gradients underflow, training in fp16 fails without a loss scale; static:auto mends it where one scale does,
and scales of their own where none does. Both are what a run's ledger advises, word for word. Scales are powers of two and change no bit of what stays within f16. A
calibration leaves no trace in the state of a run."""

import json
import math
import os
import random
import shlex
import struct
import subprocess
import sys

from _acceptance import finish, metrics, options, safetensors, summary

BATCH = 128


def run_tool(arguments, *words, fails=False):
    result = subprocess.run([str(word) for word in (arguments.tools / "mp-run", *words)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if bool(result.returncode) != fails:
        sys.exit(f"{' '.join(result.args)}\nexits with {result.returncode}:\n{result.stdout}")
    return result.stdout


#
# The examples
#


def accuracy(arguments, module, name, *flags):
    """{result: its value} on the test data after an epoch."""
    out = arguments.work / name
    run_tool(arguments, "train", module, "--data", arguments.data, "--batch", BATCH, "--device", "cpu", "--out", out, *flags)
    return {key.removeprefix("test_"): value for key, value in summary(out).items() if key.startswith("test_")}


def advised(arguments, name):
    """The options that the first ledger of a run suggests, after running the command that it suggests first."""
    with open(arguments.work / name / "ledger.jsonl", encoding="utf-8") as lines:
        advice = json.loads(next(lines))["advice"]
    print(f"{name}: {advice['text']}")
    if "command" in advice:
        path = f"{arguments.tools}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(advice["command"], shell=True, check=True, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)
    return shlex.split(advice["options"])


def check_one_loss(arguments, folder):
    module = folder / "one-loss.mlir"
    wide = accuracy(arguments, module, "one-fp32", "--precision", "fp32")
    bare = accuracy(arguments, module, "one-none", "--scaler", "none", "--ledger", 100)
    mended = accuracy(arguments, module, "one-mended", *advised(arguments, "one-none"))
    auto = accuracy(arguments, module, "one-auto")
    print("one loss: fp32", wide, "fp16 without a scale", bare, "as the ledger says", mended, "static:auto", auto)
    if wide["accuracy"] < 0.8 or bare["accuracy"] > 0.2 or bare["error"] < 2.2:
        yield f"fp32 should train and fp16 without a scale not: {wide}, {bare}"
    for name, one in (("static:auto", auto), ("what the ledger advises", mended)):
        if abs(one["accuracy"] - wide["accuracy"]) > 0.02:
            yield f"{name} should train as fp32 does: {one}, {wide}"


def check_two_losses(arguments, folder):
    module, file = folder / "two-losses.mlir", arguments.work / "two.json"
    wide = accuracy(arguments, module, "two-fp32", "--precision", "fp32")
    auto = accuracy(arguments, module, "two-auto", "--scaler", "static:auto")
    torch = accuracy(arguments, module, "two-torch", "--scaler", "torch")
    run_tool(arguments, "calibrate", module, "--data", arguments.data, "--batch", BATCH, "--device", "cpu", "--json", file)
    own = accuracy(arguments, module, "two-own", "--scales", file)
    bare = accuracy(arguments, module, "two-none", "--scaler", "none", "--ledger", 100)
    mended = accuracy(arguments, module, "two-mended", *advised(arguments, "two-none"))
    print("two losses: fp32", wide, "static:auto", auto, "torch", torch, "none", bare, "scales of their own", own,
          "as the ledger says", mended)
    for name, one in (("static:auto", auto), ("torch", torch), ("no scaler", bare)):
        if one["large_accuracy"] < 0.8 or one["small_accuracy"] > 0.2:
            yield f"under {name} one network should train and the other not: {one}"
    for key in ("large_accuracy", "small_accuracy"):
        if wide[key] < 0.8 or any(abs(one[key] - wide[key]) > 0.02 for one in (own, mended)):
            yield f"scales of their own should train as fp32 does: {own}, {mended}, {wide}"
    if any(metrics(arguments.work / "two-own")["skipped"]):
        yield "steps were skipped: the headroom is too small"
    large = run_tool(arguments, "train", module, "--data", arguments.data, "--batch", BATCH, "--device", "cpu",
                     "--scaler", "static:1048576", fails=True)
    if "steps in a row were skipped" not in large:
        yield f"a scale that suits the small gradients should overflow the large ones: {large}"


#
# Exactness
#

# All numbers are whole, so no gradient underflows. Values are read by several ops, twice by one, broadcast, cast
# back and forth.
NETWORK = """
mp.variable @a : tensor<8x6xf32> = #mp.init<ones>
mp.variable @b : tensor<8xf32> = #mp.init<ones>
mp.variable @c : tensor<8x8xf32> = #mp.init<ones>
mp.variable @d : tensor<4x8xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x6xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %a = mp.read @a : tensor<8x6xf32>
  %b = mp.read @b : tensor<8xf32>
  %c = mp.read @c : tensor<8x8xf32>
  %d = mp.read @d : tensor<4x8xf32>
  %h = mp.linear %x, %a, %b : tensor<?x6xf32>, tensor<8x6xf32>, tensor<8xf32>
  %r = mp.relu %h : tensor<?x8xf32>
  %g = mp.linear %r, %c : tensor<?x8xf32>, tensor<8x8xf32>
  %half = mp.cast %g : tensor<?x8xf32> to tensor<?x8xf16>
  %p = mp.mul %half, %half : tensor<?x8xf16>, tensor<?x8xf16>
  %wide = mp.cast %p : tensor<?x8xf16> to tensor<?x8xf32>
  %m = mp.maximum %wide, %h : tensor<?x8xf32>, tensor<?x8xf32>
  %s = mp.add %m, %r : tensor<?x8xf32>, tensor<?x8xf32>
  %t = mp.add %s, %b : tensor<?x8xf32>, tensor<8xf32>
  %y = mp.linear %t, %d : tensor<?x8xf32>, tensor<4x8xf32>
  %z = mp.linear %r, %d : tensor<?x8xf32>, tensor<4x8xf32>
  %u = mp.sub %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
  %l = mp.sum %u dims[0, 1] : tensor<?x4xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "static:1"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0>}
}
mp.data @train {x = #mp.column<"x.safetensors" as safetensors, f32, key = "x">}
"""


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + 4 * len(values)]}
        body += struct.pack(f"<{len(values)}f", *values)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def check_exactness(arguments):
    folder = arguments.work / "exact"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.mlir").write_text(NETWORK)
    draw = random.Random(5)

    def numbers(*shape, most=1):
        return list(shape), [float(draw.randint(-most, most)) for _ in range(math.prod(shape))]

    write_tensors(folder / "x.safetensors", {"x": numbers(4, 6, most=2)})
    write_tensors(folder / "init.safetensors", {"a": numbers(8, 6), "b": numbers(8), "c": numbers(8, 8), "d": numbers(4, 8)})
    common = ("--data", folder, "--batch", 4, "--device", "cpu", "--init", folder / "init.safetensors")
    run_tool(arguments, "calibrate", folder / "net.mlir", *common, "--json", folder / "true.json")
    calibration = json.loads((folder / "true.json").read_text())

    def step(name, *flags):
        out = folder / name
        run_tool(arguments, "train", folder / "net.mlir", *common, "--max-steps", 1, "--out", out, *flags)
        return metrics(out)["skipped"], safetensors(out / "checkpoint.safetensors")

    plain = step("plain")
    if plain[0] != [False] or safetensors(folder / "init.safetensors")["a"] == plain[1]["a"]:
        yield f"nothing was trained, so nothing is shown: {plain[0]}"
    for trial in range(12):
        for gradient in calibration["gradients"]:
            gradient["largest"] = max(gradient["largest"], 1) * 2.0 ** draw.randint(-4, 5)
        (folder / "drawn.json").write_text(json.dumps(calibration))
        if step("drawn", "--scales", folder / "drawn.json") != plain:
            yield f"scales drawn in trial {trial} change gradients that are far from underflow and overflow"
        calibration = json.loads((folder / "true.json").read_text())


# Test models, with a loss scale that prevents underflow. In attention one gradient of 666 in a tensor is subnormal at
# the scale that static:auto chooses, which leaves room above.
MODELS = {"batchnorm": (5, {"x": (3, 7, 5)}, "static:auto"), "mlp-odd": (7, {"x": (53,)}, "static:auto"),
          "normalised": (0, {"x": (45,), "y": (3,)}, "static:auto"), "attention": (11, {"x": (33,)}, "static:262144")}
SAMPLES = 64


def write_npy(path, code, shape, data):
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def check_models(arguments):
    """Scales of their own give the bits of the one scale that suits."""
    for name, (classes, columns, scaler) in MODELS.items():
        folder, draw = arguments.work / name, random.Random(1)
        folder.mkdir(parents=True, exist_ok=True)
        module = arguments.source / "test" / "models" / f"{name}.mlir"
        if classes:
            write_npy(folder / "label.npy", "|u1", (SAMPLES,), bytes(draw.randrange(classes) for _ in range(SAMPLES)))
        for column, shape in columns.items():
            values = [draw.gauss(0, 1) for _ in range(SAMPLES * math.prod(shape))]
            write_npy(folder / f"{column}.npy", "<f4", (SAMPLES, *shape), struct.pack(f"<{len(values)}f", *values))
        common = (module, "--data", folder, "--batch", 8, "--device", "cpu", "--precision", "fp16")
        run_tool(arguments, "calibrate", *common, "--json", folder / "scales.json")
        runs = {"one": ("--scaler", scaler), "bare": ("--scaler", "static:1"),
                "own": ("--scaler", "static:1", "--scales", folder / "scales.json")}
        tensors = {}
        for run, flags in runs.items():
            run_tool(arguments, "train", *common, "--max-steps", 3, "--out", folder / run, *flags)
            tensors[run] = safetensors(folder / run / "checkpoint.safetensors")
        for key in tensors["one"]:
            if tensors["one"][key] != tensors["own"][key]:
                yield f"{name}: {key} has other bits with scales of its own than with one scale"
        if tensors["bare"] == tensors["one"]:
            yield f"{name}: nothing underflows without a scale, so nothing is shown"


#
# State
#

NORMS = """
mp.variable @w : tensor<8x6xf32> = #mp.init<kaiming_uniform>
mp.variable @g : tensor<8xf32> = #mp.init<ones>
mp.variable @b : tensor<8xf32> = #mp.init<zeros>
mp.variable buffer @mean : tensor<8xf32> = #mp.init<zeros>
mp.variable buffer @var : tensor<8xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x6xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<8x6xf32>
  %g = mp.read @g : tensor<8xf32>
  %b = mp.read @b : tensor<8xf32>
  %m = mp.read @mean : tensor<8xf32>
  %v = mp.read @var : tensor<8xf32>
  %h = mp.linear %x, %w : tensor<?x6xf32>, tensor<8x6xf32>
  %n, %mean, %rstd, %m1, %v1 = mp.batch_norm %h, %m, %v weight(%g : tensor<8xf32>) bias(%b : tensor<8xf32>)
      : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  mp.write @mean, %m1 : tensor<8xf32>
  mp.write @var, %v1 : tensor<8xf32>
  %d = mp.dropout %n {p = 0.5} : tensor<?x8xf32>
  %s = mp.mul %d, %d : tensor<?x8xf32>, tensor<?x8xf32>
  %l = mp.sum %s dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "static:auto"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.001>}
}
mp.data @train {x = #mp.column<"x.safetensors" as safetensors, f32, key = "x">}
"""


def check_state(arguments):
    """Statistics of batch norms and the random bits of dropout are the same as without a calibration."""
    folder = arguments.work / "state"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.mlir").write_text(NORMS)
    draw = random.Random(7)
    write_tensors(folder / "x.safetensors", {"x": ([20, 6], [draw.uniform(-1, 1) for _ in range(120)])})

    def steps(name, *flags):
        out = folder / name
        said = run_tool(arguments, "train", folder / "net.mlir", "--data", folder, "--batch", 8, "--device", "cpu",
                        "--max-steps", 4, "--out", out, *flags)
        return said, metrics(out), safetensors(out / "checkpoint.safetensors")

    said, recorded, tensors = steps("auto")
    if "chosen from 2 batches" not in said:
        yield f"the two whole batches of an epoch should be looked at: {said}"
    _, others, same = steps("static", "--scaler", f"static:{recorded['scale'][0]:.17g}")
    if tensors != same or recorded["loss"] != others["loss"]:
        yield "a run whose scale was chosen differs from one that was told the scale"


def main():
    arguments = options(__doc__)
    arguments.work.mkdir(parents=True, exist_ok=True)
    folder = arguments.source / "examples" / "underflow"
    finish([*check_exactness(arguments), *check_models(arguments), *check_state(arguments), *check_one_loss(arguments, folder),
            *check_two_losses(arguments, folder)])


if __name__ == "__main__":
    main()
