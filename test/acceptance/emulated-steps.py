#!/usr/bin/env python3
"""Whole training steps on CUDA, in the emulator, are those of the CPU.

Twenty steps of the example and of every model of test/models, in every precision, through the whole runtime: kernels
of the step launched as one graph. fp16 with a scaler that overflows every few steps: the same steps are skipped, and
the scale is the same at every step.
"""

import os

from _acceptance import example, finish, metrics, options, overflowing_module, train

STEPS = 20
# Sums are taken in another order, and a 16-bit rounding may fall to the other side; relative.
LIMITS = {"fp32": 1e-5, "tf32": 5e-3, "bf16": 2e-2, "fp16": 5e-3}


def steps(arguments, module, precision, device):
    run = train(arguments, arguments.work / f"emulated-{module.stem}-{precision}-{device}", "--precision", precision,
                "--no-shuffle", "--max-steps", STEPS, module=module, device=device, batch=33)
    return metrics(run)


def compare(name, precision, ours, cpu):
    worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(ours["loss"], cpu["loss"], strict=True))
    print(f"{name} {precision}: losses differ by {worst:.1e} relative at most (limit {LIMITS[precision]:.0e}); "
          f"{sum(ours['skipped'])} of {len(ours['skipped'])} steps skipped")
    if not worst <= LIMITS[precision]:
        yield f"{name} {precision}: loss: {ours['loss']}\nCPU: {cpu['loss']}"
    for key in ("skipped", "scale", "lr"):
        if key in cpu and ours[key] != cpu[key]:
            yield f"{name} {precision}: {key}: {ours[key]}\nCPU: {cpu[key]}"


def main():
    arguments = options(__doc__)
    emulator = arguments.tools.parent / "test" / "emulator" / "lib"
    os.environ.update(MP_CUDA_PATH=str(emulator), MP_CACHE_DIR=str(arguments.work / "emulated-cache"))
    faults = []
    overflowing = overflowing_module(arguments)
    models = [example(arguments), *sorted((arguments.source / "test" / "models").glob("*.mlir"))]
    cases = [(model, precision) for model in models for precision in ("fp32", "tf32", "bf16")]
    cases += [(model, "fp16") for model in [overflowing, *models[1:]]]
    for module, precision in cases:
        cpu = steps(arguments, module, precision, "cpu")
        ours = steps(arguments, module, precision, "cuda")
        faults += compare(module.stem, precision, ours, cpu)
        if module == overflowing and not any(ours["skipped"]):
            faults.append("no step overflowed: nothing was shown")
    finish(faults)


if __name__ == "__main__":
    main()
