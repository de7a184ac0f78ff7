"""The same network in PyTorch, eager and compiled, side by side: rounds of each in turn, and the medians of the rounds."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from _stage import EXAMPLE, ROOT, Failed, Skipped, main, reason
from steps import step_microseconds

WIDE = Path(__file__).resolve().parent / "wide.mlir"
# (name, module, sizes of the same network, batch, precision)
NETWORKS = (("mlp", EXAMPLE, "784,512,256,10", 128, "fp16"), ("wide", WIDE, "784,4096,4096,10", 1024, "bf16"))


class Rival:
    """torch_step.py at work; ask it for a step's time."""

    def __init__(self, stage, sizes, batch, precision):
        self.log = open(stage.work / "torch.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-B", ROOT / "bench" / "rivals" / "torch_step.py", "--device", stage.device, "--sizes", sizes, "--batch",
             str(batch), "--precision", precision], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def ask(self, kind, steps):
        """Microseconds per step, or None if PyTorch failed."""
        try:
            self.process.stdin.write(f"{kind} {steps}\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())["microseconds"]
        except (BrokenPipeError, ValueError):
            return None

    def why(self):
        self.log.seek(0)
        return reason(self.log.read())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def side_by_side(stage, module, sizes, batch, precision):
    """{kind: microseconds of each round}; a kind that fails ends the rival's part."""
    kinds = ["eager"] if stage.quick else ["eager", "compile", "graphs"]
    steps, (few, many) = (400, (200, 1200)) if stage.on_gpu and not stage.quick else (20, (5, 25))
    rival, found = Rival(stage, sizes, batch, precision), {"mantissa": []}
    try:
        for round_ in range(1 if stage.quick else 3):
            found["mantissa"].append(step_microseconds(stage, module, precision, batch, few, many, 1))
            for kind in list(kinds):
                if round_ == 0 and found.get("eager") and stage.left() < 30:
                    kinds.remove(kind)  # there is no time to compile it
                    continue
                time = rival.ask(kind, steps)
                if time is None:
                    if kind == "eager":
                        raise Failed(f"torch_step.py: {rival.why()}")
                    found[f"{kind} failed"] = rival.why()
                    rival.close()
                    rival, kinds = Rival(stage, sizes, batch, precision), kinds[:kinds.index(kind)]
                    break
                found.setdefault(kind, []).append(time)
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
