#!/usr/bin/env python3
"""The same weights and batches as PyTorch give the same training steps.

fp32: ten steps, loss within 1e-5 relative. bf16 autocast: ten steps within 1e-2. fp16 with overflows: forty steps
with the same skipped steps and scales as GradScaler. test/goldens/README.md says what the goldens are.
"""

from _acceptance import finish, goldens, metrics, options, overflowing_module, train


def worst(ours, theirs):
    """The greatest relative difference."""
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))


def steps(arguments, precision, count, module=None):
    init = arguments.source / "test" / "goldens" / "mlp-init.safetensors"
    run = train(arguments, arguments.work / f"goldens-{precision}", "--precision", precision, "--no-shuffle",
                "--init", init, "--max-steps", count, module=module)
    return metrics(run)


def compare(precision, ours, golden, tolerances):
    """Faults, and a line on the screen for each quantity."""
    for key, tolerance in tolerances.items():
        kept = [i for i, skipped in enumerate(golden["skipped"]) if key == "loss" or not skipped]
        off = worst([ours[key][i] for i in kept], [golden[key][i] for i in kept])
        print(f"{precision}: {key} differs by {off:.1e} relative at most (limit {tolerance:.0e})")
        if not off <= tolerance:
            yield f"{precision}: {key}: {ours[key]}\nPyTorch: {golden[key]}"


def main():
    arguments = options(__doc__)
    pytorch = goldens(arguments)
    faults = []
    faults += compare("fp32", steps(arguments, "fp32", 10), pytorch["fp32"], {"loss": 1e-5, "grad_norm": 1e-4, "lr": 1e-6})
    faults += compare("bf16", steps(arguments, "bf16", 10), pytorch["bf16"], {"loss": 1e-2, "lr": 1e-6})

    golden = pytorch["fp16"]
    ours = steps(arguments, "fp16", len(golden["loss"]), overflowing_module(arguments))
    for key in ("skipped", "scale"):
        if ours[key] != golden[key]:
            faults.append(f"fp16: {key}: {ours[key]}\nGradScaler: {golden[key]}")
    print(f"fp16: {sum(ours['skipped'])} skipped steps of {len(ours['skipped'])}")
    faults += compare("fp16", ours, golden, {"loss": 2e-2, "lr": 1e-6})
    finish(faults)


if __name__ == "__main__":
    main()
