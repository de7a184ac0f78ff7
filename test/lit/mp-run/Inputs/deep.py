"""make FOLDER: a deep network with dropout and its data. compare A B: whether two runs are equal. sizes FACTOR ALL LESS:
whether a plan's activations are less than that factor of another's."""

import json
import random
import struct
import sys
from pathlib import Path

LAYERS, WIDTH, SAMPLES = 12, 64, 512


def npy(path, shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def layer(i):
    """Every third one ends a block."""
    x, y = f"tensor<?x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>"
    yield f"%w{i} = mp.read @w{i} : {y}"
    yield f"%h{i} = mp.linear %x{i}, %w{i} : {x}, {y}"
    yield f"%n{i}, %m{i}, %r{i} = mp.layer_norm %h{i} normalized_shape[{WIDTH}] : {x}"
    yield f"%g{i} = mp.gelu %n{i} : {x}"
    yield f"%d{i} = mp.dropout %g{i} {{p = 0.1}} : {x}"
    yield f"%x{i + 1} = mp.{'checkpoint' if i % 3 == 2 else 'neg'} %d{i} : {x}"


def module():
    yield "module @deep {"
    for i in range(LAYERS):
        yield f"mp.variable @w{i} : tensor<{WIDTH}x{WIDTH}xf32> = #mp.init<kaiming_uniform>"
    yield f"""func.func @loss(%x0: tensor<?x{WIDTH}xf32> {{mp.name = "x"}}, %label: tensor<?xui8> {{mp.name = "label"}})
      -> (tensor<f32> {{mp.name = "loss"}}) {{"""
    for i in range(LAYERS):
        yield from layer(i)
    yield f"""%loss = mp.cross_entropy %x{LAYERS}, %label : tensor<?x{WIDTH}xf32>, tensor<?xui8>
      return %loss : tensor<f32>
    }}
    mp.scaler @scaler
    mp.train @step of @loss scaler(@scaler) {{
      mp.minimize result(0) {{optimizer = #mp.adamw<lr = 1.0e-3>}}
    }}
    mp.data @train {{x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}}
    }}"""


def make(folder):
    random.seed(1)
    floats = [random.gauss(0, 1) for _ in range(SAMPLES * WIDTH)]
    npy(folder / "x.npy", f"({SAMPLES}, {WIDTH})", "<f4", struct.pack(f"<{len(floats)}f", *floats))
    npy(folder / "label.npy", f"({SAMPLES},)", "|u1", bytes(random.randrange(WIDTH) for _ in range(SAMPLES)))
    (folder / "deep.mlir").write_text("\n".join(module()) + "\n")


def compare(one, two):
    losses = [[json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]
              for run in (one, two)]
    print("losses", len(losses[0]) > 3 and losses[0] == losses[1])
    print("state", (one / "checkpoint.safetensors").read_bytes() == (two / "checkpoint.safetensors").read_bytes())


def sizes(factor, *plans):
    kept, less = (json.loads(plan.read_text())["bytes"]["activations"] for plan in plans)
    print("less", less < float(str(factor)) * kept)


if __name__ == "__main__":
    {"make": make, "compare": compare, "sizes": sizes}[sys.argv[1]](*map(Path, sys.argv[2:]))
