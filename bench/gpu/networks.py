"""Steps of known networks beside PyTorch's: eager, torch.compile with CUDA graphs ("graphs"), and torch.compile, in turns.

Kernels are compiled first, for all networks at the same time; then one process after the other is measured, with nothing else
running. There are as many networks as fit into the stage's time, and up to three rounds. The ratio is our median step over that of
PyTorch's best kind: below 1 ours is faster. Memory is the plan's, and what PyTorch's allocator held at most, without samples."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from statistics import median

from _stage import ROOT, Failed, main
from _torch import Rival

sys.path.append(str(ROOT / "bench"))
from _networks import MODELS, gpt, plain, printed  # noqa: E402

KINDS = ("eager", "graphs", "compile")
GPT2 = gpt("gpt2 --dropout 0", 1024, 50257, 12, 768, 12, batch=4)
# The networks in order of importance: name, MODELS' entry with a GPU's batch, precision.
NETWORKS = (
    ("gpt2", GPT2, "bf16"), ("resnet50-cifar", {**MODELS["resnet50-cifar"], "batch": 128}, "bf16"),
    ("bert-base", {**MODELS["bert-base"], "batch": 32}, "bf16"), ("vit-tiny", {**MODELS["vit-tiny"], "batch": 256}, "bf16"),
    ("resnet20", MODELS["resnet20"], "bf16"), ("gpt-256", {**MODELS["gpt-256-1024"], "batch": 8}, "bf16"),
    ("lstm-lm", MODELS["lstm-lm"], "bf16"), ("char-rnn", MODELS["char-rnn"], "bf16"),
    ("gpt2", GPT2, "fp32"), ("resnet50-cifar", {**MODELS["resnet50-cifar"], "batch": 128}, "fp32"),
    ("bert-base", {**MODELS["bert-base"], "batch": 32}, "fp32"), ("gpt2", GPT2, "tf32"))
# To try the stage itself.
SMALL = (("resnet20", {**MODELS["resnet20"], "batch": 4}, "fp32"),
         ("gpt-64", gpt("char-gpt --width 0.5", 32, 256, 4, 64, 4, batch=2), "bf16"))
SECONDS_EACH = 30  # of the stage, for a network
ROUNDS = 3


class Case:
    """A network in one precision: its numbers so far, and PyTorch's process."""

    def __init__(self, stage, name, model, precision, kinds, processes):
        self.stage, self.model, self.kinds, self.seconds = stage, model, list(kinds), 0.0
        self.few = stage.quick or not stage.on_gpu
        self.result = {"network": name, "batch": model["batch"], "precision": precision, "rounds": {}, "memory": {}, "failed": {}}
        self.module = stage.work / f"{name}-{precision}.mlir"
        self.module.write_text(plain(printed(stage.tools, model["network"])))
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(stage.work / "inductor")}
        if stage.on_gpu:
            threads = max(4, (os.cpu_count() or 1) // processes)
            environment |= {"TORCHINDUCTOR_COMPILE_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        self.rival = Rival(stage, f"torch-{name}-{precision}", "--batch", model["batch"], "--precision", precision, "--warmup",
                           2 if self.few else 10, *model["rival"], environment=environment) if kinds else None

    def ours(self, steps, warmup):
        path = self.module.with_suffix(".json")
        self.stage.run("bench", self.module, "--batch", self.model["batch"], "--precision", self.result["precision"], "--steps", steps,
                       "--warmup", warmup, "--json", path, *self.stage.device_flags())
        return json.loads(path.read_text())

    def warm_ours(self):
        """Fills the cache of kernels; why this fails, if it does."""
        try:
            self.ours(1, 1)
        except Failed as error:
            self.result["failed"]["mantissa"] = str(error)

    def warm_rival(self, until):
        """PyTorch compiles each kind; one that fails, or has no time, is left out after that."""
        for kind in list(self.kinds):
            left = until - time.monotonic()
            self.note(kind, self.rival.ask(f"warm-{kind} 1", left) if left > 1 else {"error": "no time left to compile it"})

    def note(self, kind, answer):
        """Keeps a number, or why there is none."""
        if "error" in answer:
            self.result["failed"][kind] = answer["error"]
            self.kinds.remove(kind)
        elif "microseconds" in answer:
            self.result["rounds"].setdefault(kind, []).append(answer["microseconds"])
        elif "bytes" in answer:
            self.result["memory"][kind] = answer["bytes"]

    def round(self):
        """Measures ours and each kind once."""
        began, result = time.monotonic(), self.result
        steps = 2 if self.few else 40
        report = self.ours(steps, 2 if self.few else 10)
        result["launches"] = len(report["launches"])
        result["memory"]["mantissa"] = report["planned_bytes"]
        self.note("mantissa", {"microseconds": report["step_microseconds"]["median"]})
        for kind in list(self.kinds):
            self.note(kind, self.rival.ask(f"{kind} {steps}", max(5, self.stage.left() - 5)))
            if kind != "graphs" and kind in self.kinds and kind not in result["memory"] and self.stage.on_gpu:
                self.note(kind, self.rival.ask(f"memory-{kind} 2", max(5, self.stage.left() - 5)))
        medians = result["microseconds"] = {kind: median(times) for kind, times in result["rounds"].items()}
        rivals = [time for kind, time in medians.items() if kind != "mantissa"]
        result["ratio"] = medians["mantissa"] / min(rivals) if rivals else None
        self.seconds = time.monotonic() - began

    def rows(self):
        result = self.result
        what = f"{result['network']}, batch {result['batch']}, {result['precision']}"
        if "microseconds" in result:
            times = ", ".join(f"{kind} {1e-3 * time:.2f}" for kind, time in result["microseconds"].items())
            ratio = f"; ours / best {result['ratio']:.2f}" if result["ratio"] else ""
            held = ", ".join(f"{kind} {size / 2**20:.0f}" for kind, size in result["memory"].items())
            yield [what, f"{times} ms{ratio}; {result['launches']} launches; MiB: {held}"]
        yield from ([f"  {what}: {kind}", why] for kind, why in result["failed"].items())


def publish(stage, cases):
    """Writes the numbers so far."""
    stage.result["results"] = [case.result for case in cases]
    stage.result["rows"] = [row for case in cases for row in case.rows()]
    stage.result["faults"] = [f"{case.result['network']} {case.result['precision']}: {case.result['failed']['mantissa']}" for case in cases
                              if "mantissa" in case.result["failed"]]
    stage.end("failed", "out of time; what follows is what was done")


def warm_up(stage, cases):
    """Ours a few at a time, as each compiles on many threads; PyTorch's, which compile on few, all at once."""
    until = time.monotonic() + 0.6 * stage.left()
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(max(1, cores // 4)) as few, ThreadPoolExecutor(len(cases) if stage.on_gpu else 1) as many:
        jobs = [few.submit(case.warm_ours) for case in cases] + [many.submit(case.warm_rival, until) for case in cases if case.rival]
        for job in jobs:
            job.result()


def measure(stage):
    if not (stage.tools / "mp-zoo").exists():
        raise Failed(f"no mp-zoo in {stage.tools}")
    kinds = () if not find_spec("torch") else KINDS[:1] if stage.quick else KINDS
    networks = SMALL if stage.quick or not stage.on_gpu else NETWORKS[:max(1, int(stage.left() / SECONDS_EACH))]
    cases = [Case(stage, *network, kinds, len(networks)) for network in networks]
    try:
        warm_up(stage, cases)
        publish(stage, cases)
        for _ in range(1 if stage.quick else ROUNDS):
            for case in cases:
                if "mantissa" in case.result["failed"] or stage.left() < 1.2 * case.seconds + 5:
                    continue
                try:
                    case.round()
                except Failed as error:
                    case.result["failed"]["mantissa"] = str(error)
                publish(stage, cases)
    finally:
        for case in cases:
            if case.rival:
                case.rival.close()


if __name__ == "__main__":
    main(measure, __doc__)
