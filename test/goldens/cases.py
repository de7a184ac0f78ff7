"""What the goldens of single ops are made of.

A forward case is {module, inputs, outputs, ulps, at}: `module` is a function @f of the mp dialect that should compute what
PyTorch did. A backward case is {module, inputs, gradients, ulps, at}: @f returns sum(result * w), and `gradients` holds one
tensor for each float argument but the last, which is w; null where no gradient is compared.

A tensor is {type, data}: `type` is spelled as in MLIR, `data` is flat, every number exact in that type; "inf", "-inf" and
"nan" are strings.

PyTorch computes in f64 from the operands as they are, and its result is rounded once to the result's type: that is what a
value of that type is. `ulps` is how many units in the last place ours may be off, counted at the element ("element") or at
the largest element of the tensor ("largest", for what sums terms that may cancel).
"""

import math

import torch

TYPES = {torch.float64: "f64", torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64",
         torch.int32: "i32", torch.uint8: "ui8", torch.bool: "i1", torch.float8_e4m3fn: "f8E4M3FN",
         torch.float8_e5m2: "f8E5M2"}
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
NAMES = "abcdefgh"

# Units in the last place: 16-bit results are an f32 value rounded once, which may fall on the other side of a tie.
ULPS = {torch.float64: 16, torch.float32: 4, torch.bfloat16: 1, torch.float16: 1, torch.float8_e4m3fn: 1,
        torch.float8_e5m2: 1}


def type_of(value):
    shape = "".join(f"{n}x" for n in value.shape)
    return f"tensor<{shape}{TYPES[value.dtype]}>"


def number(value):
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def tensor(value):
    wide = value.detach().double() if value.is_floating_point() else value.long()
    return {"type": type_of(value), "data": [number(x) for x in wide.flatten().tolist()]}


def function(body, arguments, results):
    """Text of a function: `arguments` and `results` are {name: type}."""
    ins = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    outs = ", ".join(results.values())
    values = ", ".join(f"%{name}" for name in results)
    return f"func.func @f({ins}) -> ({outs}) {{\n  {body}\n  return {values} : {outs}\n}}\n"


def _op_text(op, types, results):
    """`op` with its types: unchanged if it holds " : ", with {a}, {b}, ... and {r}; else those of the operands. An
    op with unused results names them all itself, "%r, %unused = mp. ..."."""
    left = ", ".join(f"%{name}" for name in results)
    if " : " in op:
        for name, type in {**types, **results}.items():
            op = op.replace("{" + name + "}", type)
        return op if op.startswith("%") else f"{left} = {op}"
    used = [types[name] for name in types if f"%{name}" in op]
    return f"{left} = {op} : {', '.join(used)}"


def _wide(value):
    return value.detach().double() if value.is_floating_point() else value


def _compute(compute, inputs):
    values = compute(*inputs)
    return values if isinstance(values, tuple) else (values,)


def _round(values, dtypes, fallback):
    dtypes = list(dtypes or ()) + [None] * len(values)
    return [v if not v.is_floating_point() else v.to(d or fallback) for v, d in zip(values, dtypes)]


def forward(op, inputs, compute, dtypes=None, ulps=None, at="element"):
    """The case of the results; `dtypes` are theirs if they are not that of the first float operand."""
    types = dict(zip(NAMES, map(type_of, inputs)))
    fallback = next((i.dtype for i in inputs if i.is_floating_point()), torch.float32)
    outputs = _round(_compute(compute, [_wide(i) for i in inputs]), dtypes, fallback)
    names = ["r"] + [f"r{i}" for i in range(1, len(outputs))]
    results = dict(zip(names, map(type_of, outputs)))
    return {"module": function(_op_text(op, types, results), types, results), "inputs": [tensor(i) for i in inputs],
            "outputs": [tensor(o) for o in outputs], "ulps": ULPS.get(outputs[0].dtype, 0) if ulps is None else ulps, "at": at}


def backward(op, inputs, compute, dtypes=None, ulps=None, at="largest", constants=""):
    """The case of the gradients of the first result; those of the operands named in `constants` are not compared."""
    types = dict(zip(NAMES, map(type_of, inputs)))
    fallback = next(i.dtype for i in inputs if i.is_floating_point())
    leaves = [_wide(i).requires_grad_() if i.is_floating_point() else i for i in inputs]
    values = _compute(compute, leaves)
    outputs = _round([v.detach() for v in values], dtypes, fallback)
    count = outputs[0].numel()
    # Values that 8 bits of mantissa hold, all different in sign and size.
    weight = (torch.arange(count).mul(37).remainder(31).sub(15).double() / 8 + 0.0625).reshape(outputs[0].shape)
    (values[0] * weight).sum().backward()
    names = ["r"] + [f"r{i}" for i in range(1, len(outputs))]
    results = dict(zip(names, map(type_of, outputs)))
    w = weight.to(outputs[0].dtype)
    body = [_op_text(op, types, results)]
    loss = "r"
    body.append(f"%p = mp.mul %r, %w : {results['r']}, {results['r']}")
    loss = "p"
    if outputs[0].dim():
        body.append(f"%l = mp.sum %p dims{list(range(outputs[0].dim()))} : {results['r']}")
        loss = "l"
    scalar = f"tensor<{TYPES[outputs[0].dtype]}>"
    gradients = []
    for name, leaf, value in zip(NAMES, leaves, inputs):
        if value.is_floating_point():
            known = leaf.grad is not None and name not in constants
            gradients.append(tensor(leaf.grad.to(value.dtype)) if known else None)
    dtype = next((i.dtype for i in inputs if i.is_floating_point()), torch.float32)
    return {"module": function("\n  ".join(body), {**types, "w": results["r"]}, {loss: scalar}),
            "inputs": [tensor(i) for i in [*inputs, w]], "gradients": gradients,
            "ulps": 2 * ULPS[dtype] if ulps is None else ulps, "at": at}


def adjoint(function):
    """The gradient of the first operand of `function`, from a gradient of its result and from its operands."""
    def compute(gradient, *inputs):
        first = inputs[0] if inputs[0].requires_grad else inputs[0].requires_grad_()
        return torch.autograd.grad(function(first, *inputs[1:]), first, gradient, create_graph=True)[0]
    return compute


def both(op, inputs, compute, ulps=None, at="element", **rest):
    """Forward and backward; `rest` as theirs."""
    shared = {"dtypes": rest["dtypes"]} if "dtypes" in rest else {}
    yield forward(op, inputs, compute, ulps=ulps, at=at, **shared)
    yield backward(op, inputs, compute, **rest)
