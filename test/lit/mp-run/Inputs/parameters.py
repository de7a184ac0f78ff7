"""Prints how many numbers the parameters of a module from standard input have."""

import math
import re
import sys

shapes = re.findall(r"^ *mp\.variable @\S+ : tensor<([0-9x]+)xf32>", sys.stdin.read(), re.MULTILINE)
print(sum(math.prod(int(size) for size in shape.split("x")) for shape in shapes), "parameters")
