#!/usr/bin/env python3
"""A skipped step writes nothing: parameters and slots keep every bit while a loss scale that is far too large comes
down; the scale, its tracker and the count of tries change all the same."""

import re
import struct

from _acceptance import example, finish, metrics, options, safetensors, train

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
        faults.append("tries were not counted")
    # Nine digits tell f32 values apart, and are the value itself only when read as one.
    scales = [struct.unpack("<f", struct.pack("<f", scale))[0] for scale in recorded["scale"]]
    if scales != [scales[0] * 0.5**i for i in range(STEPS)]:
        faults.append(f"the scale did not halve: {recorded['scale']}")
    print(f"{len(after)} variables beside the parameters looked at, after {STEPS} skipped steps")
    finish(faults)


if __name__ == "__main__":
    main()
