"""What the stages that compare with a library's kernels have in common: `mp-run tune --shapes FILE --json OUT`.

The ratio is the library's time over ours: above 1 ours is faster."""

import json
import math


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def rated(result, library, operations):
    """The result with its speed and its ratio to the rival's."""
    result["tflops"] = operations(result) / result["microseconds"] / 1e6
    rival = result.get(f"{library.lower()}_microseconds")
    result["ratio"] = rival / result["microseconds"] if rival else None
    return result


def summary(results, library):
    """Rows: the mean ratio of each type, and the shapes at both ends."""
    compared = sorted((result for result in results if result["ratio"]), key=lambda result: result["ratio"])
    if not compared:
        return [[f"no {library} to compare with", f"{len(results)} shapes measured"]]
    rows = []
    for kind in dict.fromkeys(result["type"] for result in compared):
        ratios = [result["ratio"] for result in compared if result["type"] == kind]
        rows.append([f"{kind}: {len(ratios)} shapes, speed against {library}", f"{geometric_mean(ratios):.2f} (geometric mean)"])
    return rows + [[f"  {result['name']}", f"{result['ratio']:.2f}, {result['tflops']:.0f} TFLOP/s"]
                   for result in compared[:3] + compared[3:][-3:]]


def measure(stage, shapes, library, operations):
    """Measures the shapes of a list, in quick runs the four with the fewest operations."""
    listed = json.loads(shapes.read_text())
    few = stage.work / "shapes.json"
    few.write_text(json.dumps(sorted(listed, key=operations)[:4] if stage.quick else listed))
    path = stage.work / "tune.json"
    stage.ask("tune", "--shapes", few, "--json", path, "--device", stage.device)
    results = json.loads(path.read_text())["results"]
    for result in results:
        wrong = result.get("error", 0) > result.get("tolerance", math.inf)
        stage.add(rated(result, library, operations), [],
                  [f"{result['name']}: {result['error']:.1e} off, at most {result['tolerance']:.1e} is right"] if wrong else [])
    expected = len(json.loads(few.read_text()))
    if len(results) != expected:
        stage.result["faults"].append(f"{len(results)} results for {expected} shapes")
    stage.result["rows"] = summary(results, library)
