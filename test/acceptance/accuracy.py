#!/usr/bin/env python3
"""Five epochs from seeds 1 to 3: the mean test accuracy in fp32 is at least 88.0 %,
and the means in fp16, bf16 and fp8 lie within 0.4 points of it."""

from statistics import mean

from _acceptance import finish, options, summary, train

LEAST = 0.880
NEAR = 0.004


def main():
    arguments = options(__doc__)
    means = {}
    print("precision  seed 1  seed 2  seed 3    mean  skipped  seconds")
    for precision in ("fp32", "fp16", "bf16", "fp8"):
        runs = [summary(train(arguments, arguments.work / f"accuracy-{precision}-{seed}", "--precision", precision,
                              "--seed", seed)) for seed in (1, 2, 3)]
        accuracies = [run["test_accuracy"] for run in runs]
        means[precision] = mean(accuracies)
        print(f"{precision:9}", *(f"{100 * accuracy:7.2f}" for accuracy in accuracies), f"{100 * means[precision]:7.2f}",
              f"{sum(run['skipped_steps'] for run in runs):8}", f"{sum(run['train_seconds'] for run in runs):8.1f}", flush=True)
    faults = []
    if not LEAST <= means["fp32"] <= 1:
        faults.append(f"fp32: mean accuracy {means['fp32']}, expected at least {LEAST} (as a fraction of 1)")
    for precision in ("fp16", "bf16", "fp8"):
        if not abs(means[precision] - means["fp32"]) <= NEAR:
            faults.append(f"{precision}: mean accuracy {means[precision]} is not within {NEAR} of fp32's {means['fp32']}")
    finish(faults)


if __name__ == "__main__":
    main()
