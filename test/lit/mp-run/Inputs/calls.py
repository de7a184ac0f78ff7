"""make FOLDER: data, and one network twice: called.mlir calls functions, flat.mlir has all of it written out.
casts FILE RUN: whether casts.json names, for each op, a line of FILE that the op stands in. losses A B: whether those of
two runs are the same."""

import json
import random
import re
import struct
import sys
from pathlib import Path

SAMPLES, WIDTH, CLASSES = 200, 8, 4
X, Y = f"tensor<?x{WIDTH}xf32>", f"tensor<?x{CLASSES}xf32>"
W, V = f"tensor<{WIDTH}x{WIDTH}xf32>", f"tensor<{CLASSES}x{WIDTH}xf32>"


def npy(path, shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def block(n, x, y):
    """A layer with weights that it has in common with the other."""
    yield f"%w{n} = mp.read @w : {W}"
    yield f"%h{n} = mp.linear %{x}, %w{n} : {X}, {W}"
    yield f"%g{n} = mp.gelu %h{n} : {X}"
    yield f"%{y} = mp.dropout %g{n} {{p = 0.2}} : {X}"


def net(called, n, x, y):
    def layer(i, x, y):
        return [f"%{y} = func.call @block(%{x}) : ({X}) -> {X}"] if called else block(f"{n}_{i}", x, y)
    yield from layer(1, x, f"a{n}")
    yield f"%b{n} = mp.autocast enabled(false) {{"
    yield from layer(2, f"a{n}", f"c{n}")
    yield f"mp.yield %c{n} : {X}"
    yield f"}} : {X}"
    yield f"%v{n} = mp.read @v : {V}"
    yield f"%{y} = mp.linear %b{n}, %v{n} : {X}, {V}"


def use(called, n, x, y):
    return [f"%{y} = func.call @net(%{x}) : ({X}) -> {Y}"] if called else net(False, n, x, y)


def module(called):
    yield "module @calls {"
    yield f"mp.variable @w : {W} = #mp.init<kaiming_uniform>"
    yield f"mp.variable @v : {V} = #mp.init<kaiming_uniform>"
    if called:
        yield f"func.func private @block(%x: {X}) -> {X} {{"
        yield from block("", "x", "y")
        yield f"return %y : {X}\n}}"
        yield f"func.func private @net(%x: {X}) -> {Y} {{"
        yield from net(True, "", "x", "y")
        yield f"return %y : {Y}\n}}"
    yield f"""func.func @loss(%x: {X} {{mp.name = "x"}}, %label: tensor<?xui8> {{mp.name = "label"}})
      -> (tensor<f32> {{mp.name = "loss"}}, tensor<f32> {{mp.name = "accuracy"}}) {{"""
    yield from use(called, 0, "x", "y")
    yield f"""%loss = mp.cross_entropy %y, %label : {Y}, tensor<?xui8>
    %accuracy = mp.accuracy %y, %label : {Y}, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
    }}
    func.func @predict(%x: {X}) -> {Y} {{"""
    yield from use(called, 0, "x", "y")
    yield f"%p = mp.softmax %y dim(1) : {Y}\nreturn %p : {Y}\n}}"
    columns = """{x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}"""
    yield f"""mp.scaler @scaler
    mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {{
      mp.minimize result(0) {{optimizer = #mp.adamw<lr = 1.0e-2>}}
    }}
    mp.data @train {columns}
    mp.data @test {columns}
    }}"""


def make(folder):
    random.seed(1)
    rows = [[random.gauss(0, 1) for _ in range(WIDTH)] for _ in range(SAMPLES)]
    npy(folder / "x.npy", f"({SAMPLES}, {WIDTH})", "<f4", b"".join(struct.pack(f"<{WIDTH}f", *row) for row in rows))
    npy(folder / "label.npy", f"({SAMPLES},)", "|u1", bytes(int(row[0] > 0) + 2 * int(row[1] > row[2]) for row in rows))
    (folder / "called.mlir").write_text("\n".join(module(True)) + "\n")
    (folder / "flat.mlir").write_text("\n".join(module(False)) + "\n")


def casts(file, run):
    lines = file.read_text().splitlines()
    seen = 0
    for function in json.loads((run / "casts.json").read_text()):
        for op in function["ops"]:
            line = int(re.search(r":(\d+):\d+$", op["source"])[1])
            seen += 1
            if op["op"] not in lines[line - 1]:
                print(op["op"], "is not in", lines[line - 1])
    print("found", seen > 5)


def losses(*runs):
    one, two = ([json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()] for run in runs)
    print(len(one) > 3 and one == two)


if __name__ == "__main__":
    {"make": make, "casts": casts, "losses": losses}[sys.argv[1]](*map(Path, sys.argv[2:]))
