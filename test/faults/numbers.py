"""Numbers of a run: the same ones each time, and what becomes of those that are not finite."""

import os
import struct
import subprocess

from _context import SAMPLES, WIDTH, lines, npy, sha
from _existing import ctest, lit, unit
from _registry import Severity, also, fault, require, shown

KEPT = "checkpoint.safetensors"


def german(context):
    """The environment of a locale that writes 0,5; {} where it cannot be made."""
    folder = context.work / "locales"
    folder.mkdir(exist_ok=True)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True, check=False)
    if made.returncode:
        context.skip("a German locale", made.stderr.decode().strip() or "localedef fails")
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}


@fault(9, "another run of the same", Severity.LOSS,
       "the same binary, machine and seed give the same bits, on any number of threads and in any folder, locale and time "
       "zone; for one number of threads, code and cache keys are the same, too",
       by=[unit("object-compiler-test", "ObjectCompiler.CompilesEqualFunctionsOnce")])
def six_runs(context):
    """6 runs from an empty cache, in other folders, with a German locale, another time zone, other memory, and 1, 2 and 16 threads"""
    context.net()
    ways = [({}, 2), (german(context), 2), ({"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"}, 2), ({"MALLOC_PERTURB_": "90"}, 2),
            ({}, 1), ({}, 16)]
    bits, code = set(), set()
    for nth, (environment, threads) in enumerate(ways):
        here = context.work / f"here-{nth}"
        here.mkdir()
        context.train("--max-steps", 30, "--threads", threads, "--out", here / "run", cwd=here,
                      environment={**environment, "MP_CACHE_DIR": str(here / "cache")})
        program = context.succeeds("mp-translate", "--mp-to-program", "--mp-batch=8", "--mp-total-steps=9", "--mp-code",
                                   context.work / "net.mlir", environment=environment, cwd=here)
        losses = tuple(line["loss"] for line in lines(here / "run" / "metrics.jsonl"))
        bits.add((sha(here / "run" / KEPT), losses, program))
        if threads == 2:
            code.add(tuple(sorted(os.listdir(here / "cache"))))
    require(len(bits) == 1, f"{len(bits)} different results of {len(ways)} runs")
    require(len(code) == 1, f"{len(code)} different sets of cache keys")
    return f"equal bits, {len(losses)} losses, {len(program)} characters of Program and {len(code.pop())} keys"


def spoiled(context, record, value):
    """The data of `net` with one number of a sample replaced."""
    net = context.net()
    data = bytearray((context.work / "x.npy").read_bytes()[-4 * SAMPLES * WIDTH:])
    struct.pack_into("<f", data, 4 * (record * WIDTH + 3), value)
    npy(context.work / "x.npy", (SAMPLES, WIDTH), "<f4", bytes(data))
    net.write_text(net.read_text().replace("init_scale = 4194304.0", "init_scale = 1024.0"))


@fault(10, "NaN in the data", Severity.LOSS,
       "a scaler skips the step and halves the scale; without one, the run ends with step, op and sample, and keeps the last "
       "finite checkpoint",
       by=[lit("mp-run/finite-state.test"), lit("mp-run/nan-check.test"), lit("mp-run/skips.test")])
def one_sample_is_nan(context):
    """sample 20 holds NaN or infinity: step 3 of each epoch in fp16, and the end of a run in bf16 and fp32"""
    for value in (float("nan"), float("inf"), float("-inf")):
        spoiled(context, 20, value)
        run = context.work / f"run-{value}"
        context.train("--no-shuffle", "--max-steps", 24, "--out", run)
        steps = lines(run / "metrics.jsonl")
        require([line["step"] for line in steps if line["skipped"]] == [3, 15], f"{value}: skipped are {[line['step'] for line in steps if line['skipped']]}")
        require(steps[3]["scale"] == steps[2]["scale"] / 2, f"{value}: the scale goes from {steps[2]['scale']} to {steps[3]['scale']}")
        require(context.verify(run).returncode == 0, "the checkpoint is damaged")
        for precision in ("bf16", "fp32"):
            other = context.work / f"run-{value}-{precision}"
            said = context.refused(*context.training("--no-shuffle", "--precision", precision, "--max-steps", 24, "--out", other),
                                   says="step 3 made ")
            require("first in sample 20 of the data" in said, f"{precision}: the sample is not named: {said[-600:]}")
            require("step 2," in context.verify(other).stdout, f"{precision}: {context.verify(other).stdout}")
    return "2 of 24 steps skipped in fp16; bf16 and fp32 keep step 2"


shown(11, "overflow of gradients in fp16", Severity.LOSS,
      "each overflow skips one step, parameters and slots keep their bits, and scales are those of PyTorch and the other "
      "systems, step by step",
      by=[ctest("acceptance/skipped-step"), unit("scaler-goldens-test"), unit("scaler-traces-test"), unit("scaler-protocol-test"),
          unit("optimizer-skips-test")])

shown(12, "a loss scale that collapses", Severity.CRASH,
      "a run whose steps are all skipped, or --max-skipped in a row, ends with the scale and the op whose result is not "
      "finite first",
      by=[lit("mp-run/scaler.test"), unit("scaler-traces-test", "ScalerTraces.NoScaleBecomesZero")])


@fault(13, "NaN made by the optimizer", Severity.LOSS,
       "gradients may be zero; an update that is not finite is never written over a finite state, and the optimizer is named",
       by=[unit("optimizer-skips-test", "OptimizerSkips.ZeroGradientsMoveNothing"), ctest("acceptance/skipped-step")])
def adam_without_eps(context):
    """Adam with eps = 0, which divides 0 by 0 where a gradient is zero, in fp16, bf16 and fp32; eps = 1e-30 is enough"""
    net = context.net()
    npy(context.work / "x.npy", (SAMPLES, WIDTH), "<f4", bytes(4 * SAMPLES * WIDTH))
    text = net.read_text()
    for eps in ("0.0", "1.0e-30"):
        net.write_text(text.replace("lr = 1.0e-2>", f"lr = 1.0e-2, eps = {eps}>"))
        for precision in ("fp16", "bf16", "fp32"):
            command = context.training("--precision", precision, "--max-steps", 20, "--scaler", "static:1", "--out", context.work / precision)
            if eps == "0.0":
                context.refused(*command, says="What is not finite comes first from mp.adamw of the new 'w1'")
            else:
                context.succeeds(*command)
    return "6 runs"


@fault(14, "parameter without a gradient", Severity.MISLED,
       "a warning names the parameter when the module is compiled, and the run trains the others",
       by=[lit("mp-run/warnings.test")])
def only_unused_parameters(context):
    """an unused parameter beside others in fp16 with a scaler, bf16 and fp32: the run has its steps, the parameter its bits"""
    net = context.net()
    net.write_text(net.read_text().replace("  func.func", "  mp.variable @idle : tensor<3xf32> = #mp.init<constant, value = 7>\n  func.func", 1)
                   .replace("%loss =", "%idle = mp.read @idle : tensor<3xf32>\n    %loss =").replace("1.0e-2>", "1.0e-2, weight_decay = 0.0>"))
    for precision in ("fp16", "bf16", "fp32"):
        said = context.train("--precision", precision, "--max-steps", 20, "--out", context.work / precision)
        require("warning: parameter @idle does not reach the loss" in said, said[-500:])
        require(struct.pack("<3f", 7, 7, 7) in (context.work / precision / KEPT).read_bytes(), "the unused parameter has moved")
    return "3 precisions"
