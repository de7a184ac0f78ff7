"""Checks the numbers of a calibration against each other."""

import json
import sys

found = json.load(open(sys.argv[1]))
gradients = found["gradients"]
largest = max(gradient["largest"] for gradient in gradients)
spare = 2 ** found["headroom"]
print("largest below 65504:", largest * found["scale"] * spare < 65504)
print("twice that below:", largest * found["scale"] * spare * 2 < 65504)
total = sum(sum(gradient["exponents"].values()) for gradient in gradients)
print("counts agree:", total == sum(found["all"]["exponents"].values()) and largest == found["all"]["largest"])
FATES = ("flushed", "subnormal", "normal", "near_overflow", "overflow")
print("fates add up:", all(sum(of[fate] for fate in FATES) == sum(of["exponents"].values()) for of in (*gradients, found["all"])))
print("elements add up:", all(of["elements"] == sum(of[key] for key in (*FATES, "zero", "nonfinite")) for of in gradients))
print("ledger at", found["ledger_scale"])
print("advice:", found["advice"]["scale"] == found["scale"], found["advice"]["options"])
