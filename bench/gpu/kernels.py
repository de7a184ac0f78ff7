"""Fused kernels and the optimizer as bytes a second, beside a copy measured in the same run.

The network is wide.mlir, whose tensors no cache holds. Bytes are those of the plan: what a kernel must read and write;
a copy's are counted the same way. A kernel around a matrix product is bound by arithmetic and so is left out."""

from pathlib import Path

from _profile import gbps, profile
from _stage import main

WIDE = Path(__file__).resolve().parent / "wide.mlir"
CONTRACTIONS = ("matmul", "linear", "gemm", "contract")
LEAST = 1 << 22  # bytes; kernels that move less are bound by the launch


def is_streaming(launch):
    return launch["bytes"] >= LEAST and not any(word in launch["summary"].lower() for word in CONTRACTIONS)


def measure(stage):
    stage.needs_data()
    for precision in ("fp16",) if stage.quick else ("fp32", "fp16", "bf16"):
        found = profile(stage, WIDE, precision, 1024)
        copy = found["copy_gbps"]
        rows = [[f"{precision}: copy", f"{copy:.0f} GB/s"]]
        streaming = sorted(filter(is_streaming, found["launches"]), key=lambda launch: -launch["microseconds"])
        for launch in streaming:
            launch.update(precision=precision, gbps=gbps(launch), of_copy=gbps(launch) / copy)
        # Shows the optimizer, and the kernels that take longest.
        shown = [launch for launch in streaming if "adamw" in launch["summary"].lower()]
        shown += [launch for launch in streaming if launch not in shown][:4]
        rows += [[f"{precision}: {launch['summary'][:38]}", f"{launch['gbps']:.0f} GB/s, {100 * launch['of_copy']:.0f} % of the copy, "
                  f"{launch['microseconds']:.1f} us"] for launch in shown]
        stage.add({"precision": precision, "copy_gbps": copy, "kernels": streaming, "launches": found["launches"]}, rows)


if __name__ == "__main__":
    main(measure, __doc__)
