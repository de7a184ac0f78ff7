"""Networks of mp-zoo on the device and on the CPU: a few steps of one of each family, small, from the same weights.

What is compared, and how closely, is that of the stage `models`."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

from _stage import ROOT, Failed, main
from models import compare, summary

sys.path.append(str(ROOT / "bench"))
from _networks import printed, write_data  # noqa: E402

STEPS, PRECISIONS = 5, ("fp32", "bf16")
CIFAR, BYTES, WORDS = {"image": (32, 32, 3), "batch": 16}, {"tokens": (32, 256), "batch": 8}, (32, 2048)
SMALL = "--image 32 --data cifar10 --augment none"
# A network of mp-zoo, its data as _networks.write_data makes it, and its batch. Those of --quick stand first.
NETWORKS = {
    "resnet20": {"image": (28, 28), "batch": 16},
    "char-gpt --tokens 32": BYTES,
    "resnet50-cifar --width 0.25": CIFAR,
    f"mobilenet-v2 --width 0.25 {SMALL}": CIFAR,
    f"googlenet --width 0.25 {SMALL}": CIFAR,
    f"inception-v3 --width 0.25 {SMALL}": CIFAR,
    f"alexnet --width 0.125 {SMALL}": CIFAR,
    f"vgg16 --width 0.125 {SMALL}": CIFAR,
    f"mlp-mixer --width 0.25 {SMALL}": CIFAR,
    f"vit-tiny --width 0.5 {SMALL}": CIFAR,
    "lenet": {"image": (28, 28), "batch": 16},
    "llama-tiny --tokens 32": BYTES,
    "bert-tiny --tokens 32 --vocabulary 2048": {"texts": WORDS, "batch": 8},
    "bert-mlm-tiny --tokens 32 --vocabulary 2048": {"labelled_texts": WORDS, "batch": 8},
    "t5-small --width 0.25 --layers 2 --tokens 32 --vocabulary 2048": {"labelled_texts": WORDS, "batch": 8},
}


def cases(stage, threads):
    """(module, precision, its data, flags) of each network and precision, for models.compare."""
    if not (stage.tools / "mp-zoo").exists():
        raise Failed(f"no mp-zoo in {stage.tools}")
    chosen = list(NETWORKS.items())[:2 if stage.quick else None]
    for network, model in chosen:
        name = network.split()[0]
        module, data = stage.work / f"{name}.mlir", stage.work / f"{name}-data"
        module.write_text(printed(stage.tools, network))
        write_data(data, model, STEPS * model["batch"] + 1)
        for precision in PRECISIONS:
            yield module, precision, data, ("--batch", model["batch"], "--epochs", 2, "--threads", threads)


def measure(stage):
    cores = os.cpu_count() or 1
    workers = max(1, cores // 2)
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(compare, stage, case, STEPS) for case in cases(stage, max(1, cores // workers))]
        for job in as_completed(jobs):
            result = job.result()
            row = [f"{result['model']} {result['precision']}", f"loss within {result['loss']:.1e}, state within {result['state']:.1e}"
                   if "loss" in result else "failed"]
            stage.add(result, [row], result["faults"])
    stage.result["rows"] = list(summary(stage.result["results"], "networks"))


if __name__ == "__main__":
    main(measure, __doc__)
