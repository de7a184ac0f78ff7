"""Recurrent networks whose loops are kernels, beside the same as launches: the time of a step, and the losses of some steps.

Both multiply in 16 bits or f32 and add in f32, in other orders. MP_CUDA_LOOPS chooses; on the CPU there is nothing to choose."""

import json
import os
import sys
from statistics import median

from _stage import ROOT, main
from models import TOLERANCES, metrics, worst_loss

sys.path.append(str(ROOT / "bench"))
from _networks import MODELS, printed, write_data  # noqa: E402

WAYS, STEPS = ("kernels", "launches"), 5


def step(stage, module, model, precision, way):
    """The median microseconds of a step."""
    steps, warmup = (2, 1) if stage.quick or not stage.on_gpu else (50, 20)
    path = stage.work / "step.json"
    stage.run("bench", module, "--batch", model["batch"], "--precision", precision, "--steps", steps, "--warmup", warmup, "--json",
              path, *stage.device_flags(), environment={**os.environ, "MP_CUDA_LOOPS": way})
    return json.loads(path.read_text())["step_microseconds"]["median"]


def losses(stage, module, model, precision, way):
    run = stage.train(f"{module.stem}-{way}", module, "--batch", model["batch"], "--epochs", 1, "--max-steps", STEPS, "--precision",
                      precision, data=module.with_suffix(".data"), environment={**os.environ, "MP_CUDA_LOOPS": way})
    return metrics(run["run"])


def measure(stage):
    for name in ("char-rnn",) if stage.quick else ("char-rnn", "lstm-lm"):
        model = MODELS[name]
        module = stage.work / f"{name}.mlir"
        module.write_text(printed(stage.tools, model["network"]))
        write_data(module.with_suffix(".data"), model, STEPS * model["batch"] + 1)
        for precision in ("bf16",) if stage.quick else ("fp32", "bf16"):
            apart = worst_loss(*(losses(stage, module, model, precision, way) for way in WAYS))
            turns = [[step(stage, module, model, precision, way) for way in WAYS] for _ in range(1 if stage.quick else 3)]
            ours, other = (median(times) for times in zip(*turns))
            result = {"network": name, "precision": precision, "kernels_microseconds": ours, "launches_microseconds": other,
                      "losses_apart": apart}
            wrong = [f"{name} {precision}: losses are {apart:.1e} apart"] if not apart <= TOLERANCES[precision][0] else []
            stage.add(result, [[f"{name} {precision}: kernels of loops, launches", f"{ours:.0f} us, {other:.0f} us"]], wrong)


if __name__ == "__main__":
    main(measure, __doc__)
