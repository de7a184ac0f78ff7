"""non-finite.py FOLDER KIND: a module and data whose every step is skipped, for a reason of one kind."""

import struct
import sys
from pathlib import Path

MODULE = """mp.variable @w : tensor<2x4xf32> = #mp.init<constant, value = {weight}>
func.func @loss(%x: tensor<?x4xf32> {{mp.name = "x"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
  %w = mp.read @w : tensor<2x4xf32>
  %y = mp.linear %x, %w : tensor<?x4xf32>, tensor<2x4xf32>
  %mask = mp.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %masked = mp.add %y, %mask : tensor<?x2xf32>, tensor<2xf32>
  %p = mp.softmax %masked dim(1) : tensor<?x2xf32>
  %e = mp.{function} %y : tensor<?x2xf32>
  %z = mp.add %e, %p : tensor<?x2xf32>, tensor<?x2xf32>
  %sum = mp.sum %z dims[0, 1] : tensor<?x2xf32>
  return %sum : tensor<f32>
}}
mp.train @step of @loss autocast(<dtype = f16>) {{
  mp.minimize result(0) {{optimizer = #mp.sgd<lr = {lr}>}}
}}
mp.data @train {{x = #mp.column<"x.npy" as npy, f32>}}
"""
KINDS = {"input": {"x": float("nan")}, "early": {"x": float("nan")}, "weight": {"weight": "0x7FF0000000000000"}, "forward": {"x": 100.0, "function": "exp"},
         "backward": {"x": 60000.0, "weight": "0.00001"}, "copy": {"lr": "1.0e+9"}, "late": {"lr": "2.0e+36", "function": "neg"}}


def main():
    folder, kind = Path(sys.argv[1]), {"x": 1.0, "weight": "0.5", "function": "relu", "lr": "0.1", **KINDS[sys.argv[2]]}
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 4), }\n"
    numbers = [1.0] * 127
    numbers.insert(0 if sys.argv[2] == "early" else 127, kind.pop("x"))
    values = struct.pack("<128f", *numbers)
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)
    (folder / "net.mlir").write_text(MODULE.format(**kind))


main()
