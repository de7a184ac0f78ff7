"""Matrix products against cuBLASLt, over the shapes of bench/gemm-shapes.json."""

import _tune
from _stage import ROOT, main


def operations(shape):
    return 2 * shape["m"] * shape["n"] * shape["k"]


def measure(stage):
    _tune.measure(stage, ROOT / "bench" / "gemm-shapes.json", "cuBLASLt", operations)


if __name__ == "__main__":
    main(measure, __doc__)
