"""Matrix products against cuBLASLt, over the shapes of bench/gemm-shapes.json: `mp-run tune --shapes FILE --json OUT`.

The ratio is cuBLASLt's time over ours: above 1 ours is faster."""

import json
import math

from _stage import ROOT, main

SHAPES = ROOT / "bench" / "gemm-shapes.json"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(stage):
    shapes = json.loads(SHAPES.read_text())
    few = stage.work / "shapes.json"
    few.write_text(json.dumps(sorted(shapes, key=lambda s: s["m"] * s["n"] * s["k"])[:4] if stage.quick else shapes))
    path = stage.work / "tune.json"
    stage.ask("tune", "--shapes", few, "--json", path, "--device", stage.device)
    results = json.loads(path.read_text())["results"]
    rows, faults = [], []
    if len(results) != len(json.loads(few.read_text())):
        faults.append(f"{len(results)} results for {len(json.loads(few.read_text()))} shapes")
    for result in results:
        operations = 2 * result["m"] * result["n"] * result["k"] * result.get("batch", 1)
        result["tflops"] = operations / result["microseconds"] / 1e6
        rival = result.get("cublaslt_microseconds")
        result["ratio"] = rival / result["microseconds"] if rival else None
        if result.get("error", 0) > result.get("tolerance", math.inf):
            faults.append(f"{result['name']}: {result['error']:.1e} off, at most {result['tolerance']:.1e} is right")
    compared = sorted((result for result in results if result["ratio"]), key=lambda result: result["ratio"])
    for kind in dict.fromkeys(result["type"] for result in compared):
        ratios = [result["ratio"] for result in compared if result["type"] == kind]
        rows.append([f"{kind}: {len(ratios)} shapes, speed against cuBLASLt", f"{geometric_mean(ratios):.2f} (geometric mean)"])
    rows += [[f"  {result['name']}", f"{result['ratio']:.2f}, {result['tflops']:.0f} TFLOP/s"]
             for result in compared[:3] + compared[3:][-3:]]
    if not compared:
        rows.append(["no cuBLASLt to compare with", f"{len(results)} shapes measured"])
    return {"results": results, "rows": rows, "faults": faults}


if __name__ == "__main__":
    main(measure, __doc__)
