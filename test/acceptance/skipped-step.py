#!/usr/bin/env python3
"""A skipped step writes nothing: parameters and slots keep every bit while a loss scale that is far too large comes
down; the scale, its tracker and the count of attempts change all the same. So does a step whose new master would be
infinite in its f16 copy, although every gradient is finite."""

import json
import math
import re
import struct

from _acceptance import example, finish, metrics, options, ran, safetensors, train

STEPS = 3


def module(arguments):
    path = arguments.work / "never-applied.mlir"
    path.parent.mkdir(parents=True, exist_ok=True)
    text, count = re.subn(r"(mp\.scaler @\w+ *)\{[^}]*\}", r'\1{preset = "torch", init_scale = 1.0e+30}',
                          example(arguments).read_text())
    assert count == 1
    path.write_text(text)
    return path


def f32(tensor):
    """Values of an F16 or F32 tensor."""
    dtype, _, data = tensor
    code, width = {"F16": ("e", 2), "F32": ("f", 4)}[dtype]
    return struct.unpack(f"<{len(data) // width}{code}", data)


# One step of 1e6 takes a weight of 65000 beyond f16, whose largest number is 65504.
OVERFLOWING_MASTER = """
mp.variable @w : tensor<2x4xf32> = #mp.init<constant, value = 65000>
func.func @loss(%x: tensor<?x4xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<2x4xf32>
  %y = mp.linear %x, %w : tensor<?x4xf32>, tensor<2x4xf32>
  %sum = mp.sum %y dims[0, 1] : tensor<?x2xf32>
  return %sum : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = f16>) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e6>}
}
mp.data @train {x = #mp.column<"x.safetensors" as safetensors, f32, key = "x">}
"""


def overflowing_master(arguments):
    """Metrics and tensors of three steps that would each overflow the copy."""
    folder = arguments.work / "overflowing-master"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.mlir").write_text(OVERFLOWING_MASTER)
    header = b'{"x":{"dtype":"F32","shape":[8,4],"data_offsets":[0,128]}}'
    (folder / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<32f", *[-0.001] * 32))
    ran([arguments.tools / "mp-run", "train", folder / "net.mlir", "--data", folder, "--batch", "8",
         "--scaler", "none", "--epochs", str(STEPS), "--out", folder / "run"], skips=True)
    return metrics(folder / "run"), safetensors(folder / "run" / "checkpoint.safetensors")


def batch_norm(arguments):
    """Metrics and tensors of the test model with batch norms after so many skipped steps, and from the start."""
    folder = arguments.work / "batch-norm"
    folder.mkdir(parents=True, exist_ok=True)
    text, count = re.subn(r'(mp\.scaler @\w+ *)\{[^}]*\}', r'\1{preset = "torch", init_scale = 1.0e+30}',
                          (arguments.source / "test" / "models" / "batchnorm.mlir").read_text())
    assert count == 1
    (folder / "net.mlir").write_text(text.replace('"x.npy" as npy, f32', '"x.safetensors" as safetensors, f32, key = "x"')
                                     .replace('"label.npy" as npy, ui8', '"x.safetensors" as safetensors, ui8, key = "label"'))
    values, labels = [math.sin(i) + 3 for i in range(8 * 105)], bytes(range(5)) + bytes(range(3))
    header = json.dumps({"x": {"dtype": "F32", "shape": [8, 3, 7, 5], "data_offsets": [0, 3360]},
                         "label": {"dtype": "U8", "shape": [8], "data_offsets": [3360, 3368]}}).encode()
    (folder / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<840f", *values) + labels)

    def run(name, *flags):
        ran([arguments.tools / "mp-run", "train", folder / "net.mlir", "--data", folder, "--batch", "8",
             "--epochs", str(STEPS), "--out", folder / name, *flags], skips=name == "skipped")
        return metrics(folder / name), safetensors(folder / name / "checkpoint.safetensors")

    return run("skipped"), run("applied", "--precision", "fp32")


def check_batch_norm(arguments):
    (recorded, after), (others, applied) = batch_norm(arguments)
    names = [name for name in after if name.endswith(("running_mean", "running_var"))]
    faults = [] if len(names) == 4 else [f"the batch norms have the state {names}"]
    if not all(recorded["skipped"]) or any(others["skipped"]):
        faults.append(f"skipped with a large scale {recorded['skipped']}, without {others['skipped']}")
    for name in names:
        start = {0.0} if name.endswith("mean") else {1.0}
        if set(f32(after[name])) != start:
            faults.append(f"{name} was written by a skipped step")
        if set(f32(applied[name])) & start:
            faults.append(f"{name} was not written by a step, so nothing is shown")
    return faults


def main():
    arguments = options(__doc__)
    init = arguments.source / "test" / "goldens" / "mlp-init.safetensors"
    run = train(arguments, arguments.work / "skipped", "--precision", "fp16", "--init", init, "--max-steps", STEPS,
                module=module(arguments))
    faults = []
    recorded = metrics(run)
    if not all(recorded["skipped"]) or len(recorded["skipped"]) != STEPS:
        faults.append(f"steps were applied: {recorded['skipped']}, so nothing is shown")
    after = safetensors(run / "checkpoint.safetensors")
    for name, before in safetensors(init).items():
        if f32(after.pop(name)) != f32(before):
            faults.append(f"{name} has changed")
    for name, tensor in after.items():
        if name.endswith((".exp_avg", ".exp_avg_sq", ".applied")) and any(tensor[2]):
            faults.append(f"{name} is no longer zero")
    if struct.unpack("<q", after["step.attempted"][2]) != (STEPS,):
        faults.append("attempts were not counted")
    # Nine digits tell f32 values apart, and are the value itself only when read as one.
    scales = [struct.unpack("<f", struct.pack("<f", scale))[0] for scale in recorded["scale"]]
    if scales != [scales[0] * 0.5**i for i in range(STEPS)]:
        faults.append(f"the scale did not halve: {recorded['scale']}")
    overflowed, tensors = overflowing_master(arguments)
    if not all(overflowed["skipped"]) or set(f32(tensors["w"])) != {65000.0}:
        faults.append(f"a master beyond f16 was written: {f32(tensors['w'])}, skipped {overflowed['skipped']}")
    if not all(0 < norm < 1 for norm in overflowed["grad_norm"]):
        faults.append(f"the gradients were not finite, so nothing is shown: {overflowed['grad_norm']}")
    faults += check_batch_norm(arguments)
    print(f"{len(after)} variables beside the parameters looked at, after {STEPS} skipped steps")
    finish(faults)


if __name__ == "__main__":
    main()
