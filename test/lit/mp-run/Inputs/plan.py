"""Prints what of a plan's JSON is the same everywhere."""

import json
import sys

plan = json.load(open(sys.argv[1]))
sizes, peak = dict(plan["bytes"]), plan["peak"]
print("keys", set(plan) == {"module", "target", "arch", "precision", "bytes", "notes", "peak", "loops"})
print("target", plan["target"], plan["arch"] if plan["target"] == "cuda" else "")
total = sizes.pop("total")
print("sum", sum(sizes.values()) == total)
# Tensors begin at multiples of 64 bytes.
ALIGNED = 6 * 64
print("masters", 10762 if 0 <= sizes["masters"] - 4 * 10762 < ALIGNED else sizes["masters"],
      "derived", 2 * 10762 <= sizes["derived"] < 2 * 10762 + 20 * 64,
      "slots", 8 * 10762 <= sizes["slots"] < 8 * 10762 + 2 * ALIGNED + 64)
print("peak", 0 < peak["bytes"] <= sizes["activations"] and peak["step"] < peak["steps"]
      and sum(value["bytes"] for value in peak["values"]) <= peak["bytes"] and "perceptron.mlir:" in peak["source"])
