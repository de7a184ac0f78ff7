"""The same network in PyTorch, eager and compiled, side by side: rounds of each in turn, and the medians of the rounds."""

from importlib.util import find_spec
from pathlib import Path
from statistics import median

from _stage import EXAMPLE, Failed, Skipped, main
from _torch import Rival
from steps import step_microseconds

WIDE = Path(__file__).resolve().parent / "wide.mlir"
# (name, module, sizes of the same network, batch, precision)
NETWORKS = (("mlp", EXAMPLE, "784,512,256,10", 128, "fp16"), ("wide", WIDE, "784,4096,4096,10", 1024, "bf16"))


def side_by_side(stage, module, sizes, batch, precision):
    """{kind: microseconds of each round}; a kind that fails is left out after that."""
    kinds = ["eager"] if stage.quick else ["eager", "compile", "graphs"]
    steps, (few, many) = (400, (200, 1200)) if stage.on_gpu and not stage.quick else (20, (5, 25))
    rival, found = Rival(stage, "torch", "--sizes", sizes, "--batch", batch, "--precision", precision), {"mantissa": []}
    try:
        for round_ in range(1 if stage.quick else 3):
            found["mantissa"].append(step_microseconds(stage, module, precision, batch, few, many, 1))
            for kind in list(kinds):
                if round_ == 0 and found.get("eager") and stage.left() < 30:
                    kinds.remove(kind)  # there is no time to compile it
                    continue
                answer = rival.ask(f"{kind} {steps}")
                if "error" not in answer:
                    found.setdefault(kind, []).append(answer["microseconds"])
                elif kind == "eager":
                    raise Failed(f"torch_step.py: {answer['error']}")
                else:
                    found[f"{kind} failed"] = answer["error"]
                    kinds.remove(kind)
    finally:
        rival.close()
    return found


def measure(stage):
    stage.needs_data()
    if not find_spec("torch"):
        raise Skipped("no PyTorch here")
    for name, module, sizes, batch, precision in NETWORKS[:1] if stage.quick or not stage.on_gpu else NETWORKS:
        if name != "mlp" and stage.left() < 25:
            return
        found = side_by_side(stage, module, sizes, batch, precision)
        medians = {kind: median(times) for kind, times in found.items() if isinstance(times, list)}
        rows = [[f"{name}, batch {batch}, {precision}: {kind}", f"{micro:.1f} us a step" +
                  ("" if kind == "mantissa" else f", {micro / medians['mantissa']:.2f} times ours")] for kind, micro in medians.items()]
        rows += [[f"{name}: {kind}", why] for kind, why in found.items() if isinstance(why, str)]
        stage.add({"network": name, "batch": batch, "precision": precision, "rounds": found, "microseconds": medians}, rows)


if __name__ == "__main__":
    main(measure, __doc__)
