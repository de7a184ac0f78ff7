"""Checks the numbers of a calibration against each other."""

import json
import sys

found = json.load(open(sys.argv[1]))
largest = max(gradient["largest"] for gradient in found["gradients"])
spare = 2 ** found["headroom"]
print("largest below 65504:", largest * found["scale"] * spare < 65504)
print("twice that below:", largest * found["scale"] * spare * 2 < 65504)
total = sum(sum(gradient["exponents"].values()) for gradient in found["gradients"])
print("counts agree:", total == sum(found["all"]["exponents"].values()) and largest == found["all"]["largest"])
print("shares sum to one:", all(abs(sum(gradient[key].values()) - 1) < 1e-9 for gradient in found["gradients"]
                               for key in ("f16", "f16_scaled")))
