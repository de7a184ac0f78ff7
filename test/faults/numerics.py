"""What ops compute: gradients, kernels, casts, policies, and whole trainings in each precision."""

import math
import re
import sys

from _context import lines
from _existing import ctest, lit, unit
from _registry import Severity, fault, require, shown

shown(40, "wrong gradients", Severity.LOSS,
      "gradients of every op, and of random graphs of them, agree with central differences in f64; an op without a gradient "
      "is an error before the run",
      by=[unit("gradients-test"), unit("gradient-graphs-test"), unit("registry-test", "Registry.StatesGradients"),
          ctest("fuzz/gradient-cpu"), lit("passes/autodiff/mp-autodiff-invalid.mlir")])

shown(41, "wrong results of kernels", Severity.LOSS,
      "ops agree with PyTorch and random graphs with an oracle that shares nothing with the compiler, on both targets, in odd "
      "and empty shapes; 16-bit operands accumulate in f32",
      by=[unit("op-goldens-test"), unit("odd-shapes-test"), unit("long-sums-test"), unit("contraction-test"),
          lit("codegen/index-range.mlir"), lit("passes/kernels/mp-fuse-empty.mlir"), ctest("fuzz/value-cpu"),
          ctest("fuzz/value-emulator"), ctest("fuzz/step-cpu")])

shown(42, "wrong casts", Severity.LOSS,
      "casts of all 8- and 16-bit values, and of random wide ones, have the bits of APFloat: rounded once to nearest even, with "
      "NaN, subnormals and infinities",
      by=[unit("casts-test"), unit("object-compiler-test"), unit("data-test", "Convert.ReadsAllHalfPrecisionLikeApFloat",
                                                                 "Convert.RoundsOnceToNearestEven")])

shown(43, "wrong autocast decisions", Severity.MISLED,
      "the lists of ops are those of the named systems; what is not known is an error with the nearest names",
      by=[unit("policy-table-test"), unit("policy-test"), lit("passes/autocast/mp-autocast-lists.mlir"),
          lit("passes/autocast/mp-autocast-policies.mlir"), lit("passes/autocast/mp-autocast-custom-invalid.mlir"),
          lit("mp-run/policies.test")])

MODELS = ("batchnorm", "mlp-odd", "normalised")


def mean_losses(path):
    """Of the first ten steps, which are two epochs here, and of the last ten: a single batch may be an easy one."""
    losses = [line["loss"] for line in lines(path / "metrics.jsonl")]
    return sum(losses[:10]) / 10, sum(losses[-10:]) / 10


@fault(44, "mixed precision trains worse", Severity.LOSS,
       "losses in fp16 with a scaler, bf16 and fp8 end near those of fp32; where a scaler is needed, training without it "
       "visibly fails",
       by=[ctest("acceptance/accuracy")])
def three_models_in_three_precisions(context):
    """3 models of test/models from 2 seeds (5 with --long), each in fp32, fp16 and bf16; examples/underflow with and without a scaler"""
    widest = 0
    for model in MODELS:
        module = context.source / "test" / "models" / f"{model}.mlir"
        data = context.work / model
        data.mkdir()
        context.succeeds(sys.executable, context.source / "test" / "lit" / "mp-run" / "Inputs" / "columns.py", module, data)
        for seed in range(context.either(2, 5)):
            ends = {}
            for precision in ("fp32", "fp16", "bf16"):
                run = context.work / f"{model}-{seed}-{precision}"
                context.succeeds("mp-run", "train", module, "--data", data, "--batch", 16, "--epochs", 20, "--device", "cpu", "--seed", seed,
                                 "--precision", precision, "--out", run)
                begin, ends[precision] = mean_losses(run)
            require(ends["fp32"] < 0.9 * begin, f"{model} does not train: {begin} to {ends['fp32']}")
            far = max(abs(ends[precision] - ends["fp32"]) for precision in ("fp16", "bf16")) / begin
            require(math.isfinite(far) and far < 0.1, f"{model}, seed {seed}: {ends}")
            widest = max(widest, far)
    accuracies = []
    for words in (("--precision", "fp32"), ("--scaler", "none"), ()):
        said = context.succeeds("mp-run", "train", context.source / "examples" / "underflow" / "one-loss.mlir", "--data", context.data,
                                "--batch", "128", "--device", "cpu", *words)
        accuracies.append(float(re.search(r"test accuracy ([0-9.]+)", said)[1]))
    require(accuracies[1] < 0.3 < 0.7 < min(accuracies[0], accuracies[2]), f"fp32, without and with a scaler: {accuracies}")
    return (f"within {widest:.2g} of the first loss; accuracy {accuracies[0]} in fp32, {accuracies[1]} in fp16 without a scaler, "
            f"{accuracies[2]} with one")
