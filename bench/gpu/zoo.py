"""Networks of mp-zoo on the device and on the CPU: a few steps of one of each family, small, from the same weights.

What is compared, and how closely, is that of the stage `models`. Images train with tiny steps: with those of the recipes, networks
with batch norm of few images are chaotic, and two orders of sums on one CPU end with other weights."""

import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

from _stage import ROOT, Failed, main
from models import TOLERANCES, compare, summary

sys.path.append(str(ROOT / "bench"))
from _networks import printed, write_data  # noqa: E402

STEPS, PRECISIONS = 5, ("fp32", "bf16")
# An input of relu that rounds to the other side of zero changes a channel's gradient by up to a percent. In bf16, gradients
# through batch norm are mostly rounding: two orders of sums on one CPU end 0.7 apart.
CONVOLUTIONAL_TOLERANCES = {"fp32": (TOLERANCES["fp32"][0], 2e-2), "bf16": (TOLERANCES["bf16"][0], math.inf)}
CIFAR = {"image": (32, 32, 3), "batch": 16, "flags": ("--set", "optimizer.lr=1e-6")}
CONVOLUTIONAL = {**CIFAR, "tolerances": CONVOLUTIONAL_TOLERANCES}
BYTES, WORDS = {"tokens": (32, 256), "batch": 8}, (32, 2048)
SMALL = "--image 32 --data cifar10 --augment none"
# A network of mp-zoo, its data as _networks.write_data makes it, and its batch. Those of --quick stand first.
NETWORKS = {
    "resnet20": {**CONVOLUTIONAL, "image": (28, 28)},
    "char-gpt --tokens 32": BYTES,
    "resnet50-cifar --width 0.25": CONVOLUTIONAL,
    f"mobilenet-v2 --width 0.25 {SMALL}": CONVOLUTIONAL,
    f"googlenet --width 0.25 {SMALL}": CONVOLUTIONAL,
    "char-rnn --tokens 32": BYTES,
    "lstm-lm --tokens 32 --vocabulary 2048": {"tokens": (32, 2048), "batch": 8},
    f"inception-v3 --width 0.25 {SMALL}": CONVOLUTIONAL,
    f"alexnet --width 0.125 {SMALL}": CONVOLUTIONAL,
    f"vgg16 --width 0.125 {SMALL}": CONVOLUTIONAL,
    f"mlp-mixer --width 0.25 {SMALL}": CIFAR,
    f"vit-tiny --width 0.5 {SMALL}": CIFAR,
    "lenet": {**CONVOLUTIONAL, "image": (28, 28)},
    "llama-tiny --tokens 32": BYTES,
    "bert-tiny --tokens 32 --vocabulary 2048": {"texts": WORDS, "batch": 8},
    "bert-mlm-tiny --tokens 32 --vocabulary 2048": {"labelled_texts": WORDS, "batch": 8},
    "t5-small --width 0.25 --layers 2 --tokens 32 --vocabulary 2048": {"labelled_texts": WORDS, "batch": 8},
}


def cases(stage, threads):
    """(module, precision, its data, flags) of each network and precision, for models.compare, and its tolerances."""
    if not (stage.tools / "mp-zoo").exists():
        raise Failed(f"no mp-zoo in {stage.tools}")
    chosen = list(NETWORKS.items())[:2 if stage.quick else None]
    for network, model in chosen:
        name = network.split()[0]
        module, data = stage.work / f"{name}.mlir", stage.work / f"{name}-data"
        module.write_text(printed(stage.tools, network))
        write_data(data, model, STEPS * model["batch"] + 1)
        for precision in PRECISIONS:
            flags = ("--batch", model["batch"], "--epochs", 2, "--threads", threads, *model.get("flags", ()))
            yield (module, precision, data, flags), model.get("tolerances", TOLERANCES)


def measure(stage):
    cores = os.cpu_count() or 1
    workers = max(1, cores // 2)
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(compare, stage, case, STEPS, tolerances) for case, tolerances in cases(stage, max(1, cores // workers))]
        for job in as_completed(jobs):
            result = job.result()
            row = [f"{result['model']} {result['precision']}", f"loss within {result['loss']:.1e}, state within {result['state']:.1e}"
                   if "loss" in result else "failed"]
            stage.add(result, [row], result["faults"])
    stage.result["rows"] = list(summary(stage.result["results"], "networks"))


if __name__ == "__main__":
    main(measure, __doc__)
