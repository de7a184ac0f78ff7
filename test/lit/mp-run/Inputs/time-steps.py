"""time-steps.py FOLDER exp|linear|nested [reverse]: a module with a loop over four time steps, and data of ones."""

import struct
import sys
from pathlib import Path

MODULE = """mp.variable @w : tensor<2x2xf32> = #mp.init<constant, value = 0.5>
func.func @loss(%x: tensor<?x2xf32> {{mp.name = "x"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
  %w = mp.read @w : tensor<2x2xf32>
  %start = mp.linear %x, %w : tensor<?x2xf32>, tensor<2x2xf32>
  %h = mp.scan carried(%a = %start : tensor<?x2xf32>) length({steps}) {order} -> tensor<?x2xf32> {{
{body}
  }}
  %mean = mp.mean %h dims[0, 1] : tensor<?x2xf32>
  return %mean : tensor<f32>
}}
mp.train @step of @loss {{ mp.minimize result(0) {{optimizer = #mp.sgd<lr = 0.1>}} }}
mp.data @train {{x = #mp.column<"x.npy" as npy, f32>}}
"""
EXP = """    %e = mp.exp %a : tensor<?x2xf32>
    mp.yield %e : tensor<?x2xf32>"""
LINEAR = """    %e = mp.linear %a, %w : tensor<?x2xf32>, tensor<2x2xf32>
    mp.yield %e : tensor<?x2xf32>"""
NESTED = """    %i = mp.scan carried(%b = %a : tensor<?x2xf32>) length(2) -> tensor<?x2xf32> {
      %e = mp.exp %b : tensor<?x2xf32>
      mp.yield %e : tensor<?x2xf32>
    }
    mp.yield %i : tensor<?x2xf32>"""
BODIES = {"exp": (4, EXP), "linear": (4, LINEAR), "nested": (2, NESTED)}


def main():
    folder, (steps, body) = Path(sys.argv[1]), BODIES[sys.argv[2]]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }\n"
    values = struct.pack("<8f", *[1.0] * 8)
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)
    (folder / "net.mlir").write_text(MODULE.format(steps=steps, body=body, order=" ".join(sys.argv[3:])))


main()
