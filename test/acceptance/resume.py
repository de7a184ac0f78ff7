#!/usr/bin/env python3
"""200 steps equal 100 steps, a checkpoint, and 100 more, bit for bit, although the thread
count changes from 1 to 2 in between. In fp16 steps overflow every few steps, so that the
scaler's state counts too. Other seeds must differ, or the test proves nothing."""

from _acceptance import finish, metrics, options, overflowing_module, safetensors, train

EXACT = ("step", "loss", "scale", "skipped", "lr", "grad_norm")


def differing(one, other):
    """Names of tensors that are not equal in type, shape and every bit."""
    a, b = (safetensors(run / "checkpoint.safetensors") for run in (one, other))
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def main():
    arguments = options(__doc__)
    faults = []
    for precision in ("fp32", "fp16", "bf16"):
        module = overflowing_module(arguments) if precision == "fp16" else None

        def run(name, *flags, seed=7):
            return train(arguments, arguments.work / f"resume-{precision}-{name}", "--precision", precision,
                         "--seed", seed, *flags, module=module)

        whole = run("whole", "--max-steps", 200, "--threads", 1)
        half = run("half", "--max-steps", 100, "--threads", 1)
        resumed = run("resumed", "--max-steps", 200, "--threads", 2, "--resume", half)

        expected, found = metrics(whole), metrics(resumed)
        for key in EXACT:
            if found[key][-100:] != expected[key][-100:]:
                faults.append(f"{precision}: {key} differs after resuming")
        if precision == "fp16" and not any(expected["skipped"][-100:]):
            faults.append("fp16: no step was skipped after resuming, so the scaler was not tested")
        if differing(whole, resumed):
            faults.append(f"{precision}: checkpoints differ in {', '.join(differing(whole, resumed))}")
        if not differing(whole, half) or not differing(half, run("other", "--max-steps", 100, seed=8)):
            faults.append(f"{precision}: checkpoints of other steps or seeds are equal")
        print(f"{precision}: {len(safetensors(whole / 'checkpoint.safetensors'))} tensors and the last 100 steps compared")
    finish(faults)


if __name__ == "__main__":
    main()
