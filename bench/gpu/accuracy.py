"""A thousand steps of Fashion-MNIST in every precision end at the CPU's test accuracy.

The CPU's three seeds of five epochs lie within 0.3 points of one another (docs/results.md); a thousand steps are fewer
and scatter more. tf32 is compared with fp32 on the CPU."""

from _stage import EXAMPLE, PRECISIONS, main

POINTS = 1.0  # of 100, that a precision may end below or above


def measure(stage):
    stage.needs_data()
    steps = 100 if stage.quick else 1000
    flags = ("--batch", 128, "--epochs", 5, "--max-steps", steps, "--seed", 1)
    precisions = [name for name in PRECISIONS if stage.on_gpu or name != "tf32"]
    cpu = {}
    for precision in precisions:
        same = "fp32" if precision == "tf32" else precision
        if same not in cpu:
            cpu[same] = stage.train(f"cpu-{same}", EXAMPLE, *flags, "--precision", same, device="cpu")
        ours = stage.train(f"device-{precision}", EXAMPLE, *flags, "--precision", precision)
        device, theirs = (100 * run["test_accuracy"] for run in (ours, cpu[same]))
        wrong = not abs(device - theirs) <= POINTS
        stage.add({"precision": precision, "steps": steps, "accuracy": device, "cpu": theirs, "seconds": ours["train_seconds"],
                   "skipped": ours["skipped_steps"]},
                  [[f"{precision}: accuracy after {steps} steps", f"{device:.2f} %, CPU {theirs:.2f} %"]],
                  [f"{precision}: accuracy {device:.2f} %, the CPU's is {theirs:.2f} %"] if wrong else [])


if __name__ == "__main__":
    main(measure, __doc__)
