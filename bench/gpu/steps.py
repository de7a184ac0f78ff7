"""What a step costs: its time in every precision, its launches, the graph's nodes, and the host's part.

The time is that of many steps in a row, first step and compiling left out: two runs that differ in their number of
steps, subtracted. The rest is from a profile."""

from pathlib import Path
from statistics import median

from _profile import profile
from _stage import EXAMPLE, PRECISIONS, Failed, Skipped, main

WIDE = Path(__file__).resolve().parent / "wide.mlir"


def step_microseconds(stage, module, precision, batch, few, many, rounds):
    """Median time of a step. No checkpoint is written in between."""
    found = []
    for _ in range(rounds):
        short, long = (stage.train("steps", module, "--batch", batch, "--epochs", 1000, "--max-steps", steps, "--precision",
                                   precision, "--checkpoint-every", 1_000_000)["train_seconds"] for steps in (few, many))
        found.append(1e6 * (long - short) / (many - few))
    return median(found)


def profiled(stage, precision):
    """Counts of the example's step, or why there are none."""
    try:
        found = profile(stage, EXAMPLE, precision, 128)
    except (Failed, Skipped) as error:
        return {"reason": str(error)}, []
    counts = {"launches": len(found["launches"]), "graph_nodes": found["graph_nodes"],
              "host_microseconds": found["host_microseconds"],
              "kernel_microseconds": sum(launch["microseconds"] for launch in found["launches"])}
    return counts, [[f"{precision}: launches, graph nodes", f"{counts['launches']}, {counts['graph_nodes']}"],
                    [f"{precision}: host and kernel time a step",
                     f"{counts['host_microseconds']:.1f} us, {counts['kernel_microseconds']:.1f} us"]]


def measure(stage):
    stage.needs_data()
    precisions = [name for name in PRECISIONS if stage.on_gpu or name != "tf32"]
    few, many, rounds = (10, 30, 1) if stage.quick else (500, 3500, 3) if stage.on_gpu else (50, 250, 1)
    for precision in precisions:
        micro = step_microseconds(stage, EXAMPLE, precision, 128, few, many, rounds)
        counts, counted = profiled(stage, precision)
        stage.add({"model": "mlp", "batch": 128, "precision": precision, "step_microseconds": micro, **counts},
                  [[f"{precision}: step of the example, batch 128", f"{micro:.1f} us"], *counted],
                  [f"{precision}: no profile: {counts['reason']}"] if stage.on_gpu and "reason" in counts else [])
    if stage.on_gpu and not stage.quick:
        micro = step_microseconds(stage, WIDE, "bf16", 1024, 50, 350, 1)
        stage.add({"model": "wide", "batch": 1024, "precision": "bf16", "step_microseconds": micro},
                  [["bf16: step of wide.mlir, batch 1024", f"{micro:.1f} us"]])


if __name__ == "__main__":
    main(measure, __doc__)
