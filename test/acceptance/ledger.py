#!/usr/bin/env python3
"""Histogram and ledger of gradients are what NumPy counts in the same tensors, element by element, at scales of any kind;
so is what advice says of the scale that it names."""

import json
import subprocess
import sys

from _acceptance import finish, import_numpy, options, safetensors

np = import_numpy()

FATES = ("flushed", "subnormal", "normal", "near_overflow", "overflow")


def run_tool(arguments, *words):
    result = subprocess.run([str(word) for word in (arguments.tools / "mp-run", *words)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(result.args)}\nexits with {result.returncode}:\n{result.stdout}")


#
# Reference by NumPy
#


def fates(x, scale, headroom):
    """Counts the elements of `x`, f32, times `scale` by their fate in f16."""
    with np.errstate(over="ignore"):
        half = np.abs(x.astype(np.float64) * np.float64(np.float32(scale))).astype(np.float16)
    counted = np.isfinite(x) & (x != 0)
    kinds = {"flushed": half == 0, "subnormal": (half > 0) & (half < np.finfo(np.float16).tiny),
             "overflow": np.isinf(half)}
    most = float(np.finfo(np.float16).max)
    kinds["near_overflow"] = (half.astype(np.float64) > most / 2.0 ** headroom) & ~kinds["overflow"]
    kinds["normal"] = ~(kinds["flushed"] | kinds["subnormal"] | kinds["overflow"] | kinds["near_overflow"])
    return {fate: int(np.sum(kinds[fate] & counted)) for fate in FATES}


def counts(x, scale, headroom):
    """The fields of a ledger."""
    counted = np.isfinite(x) & (x != 0)
    exponents, times = np.unique(np.frexp(np.abs(x[counted]))[1] - 1, return_counts=True)
    return {"elements": x.size, "zero": int(np.sum(x == 0)), **fates(x, scale, headroom),
            "nonfinite": int(np.sum(~np.isfinite(x))), "largest": float(np.max(np.abs(x[np.isfinite(x)]), initial=0)),
            "exponents": {str(e): int(n) for e, n in zip(exponents, times)}}


def advised_scale(x, headroom):
    """The largest power of two with which the largest element times 2^headroom stays below 65504."""
    largest, scale = float(np.max(np.abs(x))), 1.0
    while largest * scale * 2 ** headroom < 65504:
        scale *= 2
    while largest * scale * 2 ** headroom >= 65504:
        scale /= 2
    return scale


#
# Comparison
#


def differences(found, tensors, scale, headroom, where):
    """The faults of a calibration, or of a line of a ledger."""
    everything = np.concatenate([x.ravel() for x in tensors.values()])
    if {gradient["tensor"] for gradient in found["gradients"]} != tensors.keys():
        yield f"{where}: other tensors than the file's"
    places = [(gradient["tensor"], gradient, tensors[gradient["tensor"]]) for gradient in found["gradients"]]
    for name, entry, x in (*places, ("all", found["all"], everything)):
        for key, value in counts(x, scale, headroom).items():
            if entry[key] != value:
                yield f"{where}: {name}: {key} is {entry[key]}, and {value} by NumPy"
    for name, entry, x in (*places, ("the run", found, everything)):
        advice = entry["advice"]
        if not np.any(x):
            continue
        expected = advised_scale(x, headroom)
        lost = fates(x, expected, headroom)
        if advice["scale"] != expected or any(advice[fate] != lost[fate] for fate in ("flushed", "subnormal")):
            yield f"{where}: advice for {name} is {advice}, by NumPy {expected} with {lost}"
        if lost["near_overflow"] or lost["overflow"]:
            yield f"{where}: at the scale advised for {name} something is near overflow"


def edge_scales(tensors):
    """Scales, of any mantissa, that put elements around the places where rounding decides."""
    x = np.abs(np.concatenate([x.ravel() for x in tensors.values()]).astype(np.float64))
    x = np.sort(x[x != 0])
    for element in (x[0], x[len(x) // 2], x[-1]):
        for edge in (2.0 ** -25, 2.0 ** -14 - 2.0 ** -25, 1023.5, 1023.75, 65504, 65519.99, 65520):
            scale = np.float32(edge / element)
            if np.isfinite(scale) and scale >= np.finfo(np.float32).tiny:
                yield from (scale, np.nextafter(scale, np.float32(0)), np.nextafter(scale, np.float32(np.inf)))


def check_module(arguments, module):
    out = arguments.work / "ledger" / module.stem
    out.mkdir(parents=True, exist_ok=True)
    file, json_file = out / "gradients.safetensors", out / "calibration.json"
    common = (module, "--data", arguments.data, "--batch", 64, "--device", "cpu")
    first = None

    def look(scale, headroom):
        run_tool(arguments, "calibrate", *common, "--precision", "fp16", "--batches", 1, "--scale", f"{scale:.9g}",
                 "--headroom", headroom, "--json", json_file, "--tensors", file)
        tensors = {name: np.frombuffer(data, dtype=np.float32) for name, (_, _, data) in safetensors(file).items()}
        found = json.loads(json_file.read_text())
        return tensors, differences(found, tensors, scale, headroom, f"{module.stem} at {scale:.9g}, headroom {headroom}")

    for scale in (1, 1000, 65536, 2.0 ** 37, 0.3):
        for headroom in (0, 6, 15):
            tensors, found = look(scale, headroom)
            first = first or tensors
            yield from found
    for scale in edge_scales(first):
        yield from look(scale, 6)[1]
    run = out / "run"
    run_tool(arguments, "train", *common, "--precision", "fp16", "--scaler", "static:1000", "--max-steps", 1, "--ledger", 1,
             "--out", run)
    line = json.loads((run / "ledger.jsonl").read_text().splitlines()[0])
    yield from differences(line, first, 1000, 6, f"{module.stem} while training")


def main():
    arguments = options(__doc__)
    examples = arguments.source / "examples"
    modules = (examples / "fashion-mnist" / "mlp.mlir", examples / "underflow" / "one-loss.mlir",
               examples / "underflow" / "two-losses.mlir")
    # A wrong count is noticed.
    x = np.array([0, 2.0 ** -25, np.nextafter(np.float32(2.0 ** -25), np.float32(1)), 65519, 65520, np.inf], dtype=np.float32)
    if list(fates(x, 1, 6).values()) != [1, 1, 0, 1, 1]:
        sys.exit(f"the check itself is broken: {fates(x, 1, 6)}")
    finish([fault for module in modules for fault in check_module(arguments, module)])


if __name__ == "__main__":
    main()
