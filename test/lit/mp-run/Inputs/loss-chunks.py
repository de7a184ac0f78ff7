"""make FOLDER: modules NAME.mlir that end in a classifier and its loss, and their data. compare PRECISION NAMES: of each, the run
NAME-whole with NAME-parts: whether the losses and metrics of a step, and the weights before the classifier, have the same
bits, and the classifier's are as near as sums of f32 in two orders; and that these are not the same run."""

import json
import math
import random
import struct
import sys
from pathlib import Path

TEXTS, TOKENS, CLASSES, WIDTH = 12, 5, 70, 24
LOGITS = f"tensor<?x{TOKENS}x{CLASSES}xf32>"
LABELS = f"tensor<?x{TOKENS}xi32>"

#: The loss of the logits %z [?, 5, 70] and the labels %y, as %l; what is defined before.
LOSSES = {
    "mean": f"%l = mp.cross_entropy %z, %y dim(2) : {LOGITS}, {LABELS}",
    "sum": f"""%s = mp.cross_entropy %z, %y dim(2) reduction(sum) {{label_smoothing = 0.1}} : {LOGITS}, {LABELS}
      %c = mp.constant dense<1.0e-2> : tensor<f32>
      %l = mp.mul %s, %c : tensor<f32>, tensor<f32>""",
    "weighted": f"""%n = mp.iota dim(0) : tensor<{CLASSES}xi32>
      %i = mp.cast %n : tensor<{CLASSES}xi32> to tensor<{CLASSES}xf32>
      %c = mp.constant dense<1.0e-1> : tensor<f32>
      %v = mp.mul %i, %c : tensor<{CLASSES}xf32>, tensor<f32>
      %l = mp.cross_entropy %z, %y weight(%v : tensor<{CLASSES}xf32>) dim(2) {{label_smoothing = 0.2}} : {LOGITS}, {LABELS}""",
    "rows": f"""%r = mp.cross_entropy %z, %y dim(2) reduction(none) : {LOGITS}, {LABELS}
      %p = mp.mul %r, %m : tensor<?x{TOKENS}xf32>, tensor<?x{TOKENS}xf32>
      %l = mp.mean %p dims[0, 1] : tensor<?x{TOKENS}xf32>""",
    "flat": f"""%f = mp.reshape %z : {LOGITS} to tensor<?x{CLASSES}xf32>
      %g = mp.reshape %y : {LABELS} to tensor<?xi32>
      %l = mp.cross_entropy %f, %g : tensor<?x{CLASSES}xf32>, tensor<?xi32>""",
}


def npy(path, shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def module(name):
    loss = LOSSES[name]
    before, classifier = f"tensor<?x{TOKENS}x{WIDTH}xf32>", f"tensor<{CLASSES}x{WIDTH}xf32>"
    return f"""module @{name} {{
    mp.variable @hidden : tensor<{WIDTH}x{WIDTH}xf32> = #mp.init<kaiming_uniform>
    mp.variable @classifier : {classifier} = #mp.init<kaiming_uniform>
    mp.variable @bias : tensor<{CLASSES}xf32> = #mp.init<zeros>
    func.func @loss(%x: {before} {{mp.name = "x"}}, %y: {LABELS} {{mp.name = "y"}},
        %m: tensor<?x{TOKENS}xf32> {{mp.name = "m"}})
        -> (tensor<f32> {{mp.name = "loss"}}, tensor<f32> {{mp.name = "accuracy"}}, {LOGITS} {{mp.name = "logits"}}) {{
      %u = mp.read @hidden : tensor<{WIDTH}x{WIDTH}xf32>
      %w = mp.read @classifier : {classifier}
      %b = mp.read @bias : tensor<{CLASSES}xf32>
      %h = mp.linear %x, %u : {before}, tensor<{WIDTH}x{WIDTH}xf32>
      %t = mp.tanh %h : {before}
      %z = mp.linear %t, %w, %b : {before}, {classifier}, tensor<{CLASSES}xf32>
      {loss}
      %a = mp.accuracy %z, %y dim(2) {{top_k = 3}} : {LOGITS}, {LABELS}
      return %l, %a, %z : tensor<f32>, tensor<f32>, {LOGITS}
    }}
    mp.train @step of @loss {{
      mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1.0>}}
    }}
    mp.data @train {{x = #mp.column<"x.npy" as npy, f32>, y = #mp.column<"y.npy" as npy, i32>,
                    m = #mp.column<"m.npy" as npy, f32>}}
    }}
    """


def make(folder):
    random.seed(2)
    folder = Path(folder)
    rows = TEXTS * TOKENS
    labels = [-100 if random.random() < 0.2 else random.randrange(CLASSES) for _ in range(rows)]
    floats = lambda count: struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count)))
    npy(folder / "x.npy", f"({TEXTS}, {TOKENS}, {WIDTH})", "<f4", floats(rows * WIDTH))
    npy(folder / "y.npy", f"({TEXTS}, {TOKENS})", "<i4", struct.pack(f"<{rows}i", *labels))
    npy(folder / "m.npy", f"({TEXTS}, {TOKENS})", "<f4", floats(rows))
    for name in LOSSES:
        (folder / f"{name}.mlir").write_text(module(name))


def tensors(run):
    data = (Path(run) / "checkpoint.safetensors").read_bytes()
    size, = struct.unpack("<Q", data[:8])
    for name, about in json.loads(data[8:8 + size]).items():
        if name in ("hidden", "classifier", "bias"):
            begin, end = about["data_offsets"]
            yield name, struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])


def metrics(run):
    line = json.loads((Path(run) / "metrics.jsonl").read_text().splitlines()[0])
    return {key: line[key] for key in ("loss", "accuracy") if key in line}


def compare(precision, *names):
    for name in names:
        whole, parts = dict(tensors(f"{name}-whole")), dict(tensors(f"{name}-parts"))
        same = metrics(f"{name}-whole") == metrics(f"{name}-parts") and whole["hidden"] == parts["hidden"]
        far = max(abs(a - b) for key in ("classifier", "bias") for a, b in zip(whole[key], parts[key]))
        # A learning rate of 1 makes a difference of gradients one of weights. The terms of a sum, some 60, are below 1,
        # and gradients in 16 bits are rounded once, after the sum.
        near = 60 * 2.0**-24 if precision == "fp32" else 2.0**-8
        print(name, "same" if same and math.isfinite(metrics(f"{name}-whole")["loss"]) else "DIFFERENT",
              "near" if far < near else f"FAR {far}", "other" if far else "")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
