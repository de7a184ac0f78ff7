"""Prints what of a measurement does not depend on the machine."""

import json
import sys

bench = json.load(open(sys.argv[1]))
times, launches = bench["step_microseconds"], bench["launches"]
print("times", len(times["all"]), 0 < times["min"] <= times["median"] <= times["p90"] <= max(times["all"]))
print("launches", all(launch["bytes"] > 0 and launch["bound"] in ("memory", "arithmetic") for launch in launches)
      and sum(launch["microseconds"] for launch in launches) > 0)
# Forward and backward products of a perceptron: 2 m n k each; all else is negligible.
products = sum(launch["flops"] for launch in launches if "linear" in launch["summary"] or "matmul" in launch["summary"])
print("products", products >= 2 * 4 * 10000 * 2)
print("peaks", min(bench["peak_bf16_gflops"], bench["peak_f32_gflops"]) > 0 and bench["share_of_roofline"] > 0)
