"""Prints functions of which each calls the one before twice."""

import sys

BODY = """func.func @f{0}(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %a = call @f{1}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @f{1}(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}}"""

print("func.func @f0(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = mp.relu %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}")
for level in range(1, int(sys.argv[1]) + 1):
    print(BODY.format(level, level - 1))
