"""Matrix products against cuBLASLt, over the shapes of bench/gemm-shapes.json: `mp-run tune --shapes FILE --json OUT`.

The ratio is cuBLASLt's time over ours: above 1 ours is faster."""

import json
import math

from _stage import ROOT, main

SHAPES = ROOT / "bench" / "gemm-shapes.json"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def rated(result):
    """The result with its speed and its ratio to the rival's."""
    operations = 2 * result["m"] * result["n"] * result["k"]
    result["tflops"] = operations / result["microseconds"] / 1e6
    rival = result.get("cublaslt_microseconds")
    result["ratio"] = rival / result["microseconds"] if rival else None
    return result


def summary(results):
    """Rows: the mean ratio of each type, and the shapes at both ends."""
    compared = sorted((result for result in results if result["ratio"]), key=lambda result: result["ratio"])
    if not compared:
        return [["no cuBLASLt to compare with", f"{len(results)} shapes measured"]]
    rows = []
    for kind in dict.fromkeys(result["type"] for result in compared):
        ratios = [result["ratio"] for result in compared if result["type"] == kind]
        rows.append([f"{kind}: {len(ratios)} shapes, speed against cuBLASLt", f"{geometric_mean(ratios):.2f} (geometric mean)"])
    return rows + [[f"  {result['name']}", f"{result['ratio']:.2f}, {result['tflops']:.0f} TFLOP/s"]
                   for result in compared[:3] + compared[3:][-3:]]


def measure(stage):
    shapes = json.loads(SHAPES.read_text())
    few = stage.work / "shapes.json"
    few.write_text(json.dumps(sorted(shapes, key=lambda s: s["m"] * s["n"] * s["k"])[:4] if stage.quick else shapes))
    path = stage.work / "tune.json"
    stage.ask("tune", "--shapes", few, "--json", path, "--device", stage.device)
    results = json.loads(path.read_text())["results"]
    for result in results:
        wrong = result.get("error", 0) > result.get("tolerance", math.inf)
        stage.add(rated(result), [], [f"{result['name']}: {result['error']:.1e} off, at most {result['tolerance']:.1e} is right"] if wrong
                  else [])
    expected = len(json.loads(few.read_text()))
    if len(results) != expected:
        stage.result["faults"].append(f"{len(results)} results for {expected} shapes")
    stage.result["rows"] = summary(results)


if __name__ == "__main__":
    main(measure, __doc__)
