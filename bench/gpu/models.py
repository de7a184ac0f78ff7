"""Every test model on the device and on the CPU: the same steps from the same weights, in every precision.

Compared are the skipped steps and the loss scales, which must be equal; the losses; and all weights and slots after
the last step, by ||device - cpu|| / ||cpu||. tf32 is compared with fp32 on the CPU, which has no such numbers."""

import gzip
import json
import os
from concurrent.futures import ThreadPoolExecutor

from _stage import EXAMPLE, PRECISIONS, ROOT, Failed, main
from _tensors import distance, safetensors, write_columns

# The largest relative difference of a step's loss and of the state at the end. An optimizer that divides by the
# gradient's size (AdamW) turns rounding of small gradients into whole steps, so the state has a larger tolerance;
# tf32, which rounds where the CPU does not, has that of bf16. One unit of e4m3 is sixteen of bf16.
TOLERANCES = {"fp32": (1e-4, 2e-3), "tf32": (1e-2, 5e-2), "fp16": (2e-2, 3e-2), "bf16": (3e-2, 5e-2),
              "fp8": (5e-2, 1e-1)}
STEPS, BATCH, SAMPLES = 20, 37, 160


def example_data(stage):
    """Fashion-MNIST; if it is to be quick, as many samples as the steps take, and a batch to test on."""
    if not stage.quick:
        return stage.data
    folder = stage.work / "fashion-mnist"
    folder.mkdir(exist_ok=True)
    for path in stage.data.glob("*-ubyte.gz"):
        idx = gzip.decompress(path.read_bytes())
        header, count = 4 + 4 * idx[3], 1024 if path.name.startswith("train") else 128
        size = (len(idx) - header) // int.from_bytes(idx[4:8], "big")
        (folder / path.name).write_bytes(gzip.compress(
            idx[:4] + count.to_bytes(4, "big") + idx[8:header + count * size]))
    return folder


def cases(stage):
    """(module, precision, its data, flags)."""
    models = sorted((ROOT / "test" / "models").glob("*.mlir"))
    if not models:
        raise Failed(f"no test models in {ROOT / 'test' / 'models'}")
    for model in models:
        write_columns(model, stage.work / model.stem, SAMPLES)
    precisions = [name for name in PRECISIONS if stage.on_gpu or name != "tf32"]
    for number, model in enumerate(models):
        # In fp16 steps are skipped. If it is to be quick, the others take turns.
        for precision in ("fp16", ("fp32", "bf16")[number % 2]) if stage.quick else precisions:
            yield model, precision, stage.work / model.stem, ("--batch", BATCH, "--epochs", 6)
    if list(stage.data.glob("train-images*")):
        for precision in ("fp16",) if stage.quick else precisions:
            yield EXAMPLE, precision, example_data(stage), ("--batch", 128, "--epochs", 1)


def metrics(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def worst_loss(ours, theirs):
    # A null is a loss that is not finite.
    pairs = [(a["loss"], b["loss"]) for a, b in zip(ours, theirs)]
    if len(ours) != len(theirs) or any((a is None) != (b is None) for a, b in pairs):
        return float("inf")
    return max(abs(a - b) / max(abs(b), 1e-3) for a, b in pairs if a is not None)


def compare(stage, case, steps=STEPS, tolerances=TOLERANCES):
    """One model in one precision, as a dictionary with its faults."""
    model, precision, data, sizes = case
    flags = (*sizes, "--max-steps", min(5, steps) if stage.quick else steps, "--seed", 1, "--no-shuffle")
    name = f"{model.stem}-{precision}"
    result = {"model": model.stem, "precision": precision}
    try:
        ours = stage.train(f"{name}-device", model, *flags, "--precision", precision, data=data)
        theirs = stage.train(f"{name}-cpu", model, *flags, "--precision", "fp32" if precision == "tf32" else precision,
                             device="cpu", data=data)
    except Failed as error:
        return {**result, "faults": [f"{model.stem} {precision}: {error}"]}
    device, cpu = metrics(ours["run"]), metrics(theirs["run"])
    result["loss"] = worst_loss(device, cpu)
    result["state"] = distance(*(safetensors(run["run"] / "checkpoint.safetensors") for run in (ours, theirs)))
    result["skipped"] = sum(step["skipped"] for step in device)
    faults = [f"{model.stem} {precision}: {key} differs" for key in ("skipped", "scale")
              if [step[key] for step in device] != [step[key] for step in cpu]]
    faults += [f"{model.stem} {precision}: {key} is {result[key]:.1e} off, at most {limit:.0e} is right"
               for key, limit in zip(("loss", "state"), tolerances[precision]) if not result[key] <= limit]
    return {**result, "faults": faults}


def summary(results, what):
    """A row for each precision."""
    for precision in dict.fromkeys(result["precision"] for result in results):
        tried = [result for result in results if result["precision"] == precision]
        ran = [result for result in tried if "loss" in result]
        loss, state = (max((result[key] for result in ran), default=0) for key in ("loss", "state"))
        yield [f"{precision}: {what} that agree with the CPU",
               f"{sum(not result['faults'] for result in tried)} of {len(tried)}, loss within {loss:.1e}, state within {state:.1e}"]


def measure(stage):
    with ThreadPoolExecutor(max(1, min(6, (os.cpu_count() or 1) // 2))) as pool:
        for result in pool.map(lambda case: compare(stage, case), cases(stage)):
            stage.add(result, [], result["faults"])
    stage.result["rows"] += summary(stage.result["results"], "models")


if __name__ == "__main__":
    main(measure, __doc__)
