"""Forward values of single ops and steps of the optimizers.

A case is {op, attributes, inputs, outputs}; a tensor is {type, data} with `type`
spelled as in MLIR and `data` flat, every number exact in that type.
"""

import torch
import torch.nn.functional as F

TYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64"}
FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def tensor(value):
    shape = "".join(f"{n}x" for n in value.shape)
    data = value.double().flatten().tolist() if value.is_floating_point() else value.flatten().tolist()
    return {"type": f"tensor<{shape}{TYPES[value.dtype]}>", "data": data}


def case(op, inputs, output, **attributes):
    return {"op": op, "attributes": attributes, "inputs": [tensor(i) for i in inputs], "outputs": [tensor(output)]}


def rounded(function, *inputs):
    """`function` computed in f32 and rounded once to the inputs' type: what a value of that type is."""
    return function(*(i.float() for i in inputs)).to(inputs[0].dtype)


def unary(generator):
    wide = torch.cat([torch.linspace(-6, 6, 25), torch.tensor([0.0, -0.0, 1e-6, -1e-6, 30.0, -30.0])])
    positive = torch.cat([torch.linspace(0.01, 9, 24), torch.tensor([1.0, 1e-6, 1e4])])
    functions = {
        "relu": (wide, torch.relu, {}),
        "gelu": (wide, F.gelu, {"approximate": "none"}),
        "gelu tanh": (wide, lambda x: F.gelu(x, approximate="tanh"), {"approximate": "tanh"}),
        "exp": (wide.clamp(max=9), torch.exp, {}),
        "log": (positive, torch.log, {}),
        "tanh": (wide, torch.tanh, {}),
        "sigmoid": (wide, torch.sigmoid, {}),
        "sqrt": (positive, torch.sqrt, {}),
    }
    for name, (x, function, attributes) in functions.items():
        for dtype in FLOATS:
            yield case(name.split()[0], [x.to(dtype)], rounded(function, x.to(dtype)), **attributes)


def contractions(generator):
    for dtype in FLOATS:
        x, w, b = (torch.randn(s, generator=generator).to(dtype) for s in ((3, 7), (5, 7), (5,)))
        yield case("linear", [x, w, b], rounded(F.linear, x, w, b))
        yield case("linear", [x, w], rounded(F.linear, x, w))
        yield case("matmul", [x, w.t().contiguous()], rounded(torch.matmul, x, w.t()))
    a, b = torch.randn(2, 3, 4, generator=generator), torch.randn(2, 4, 5, generator=generator)
    yield case("matmul", [a, b], a @ b)


def rows(generator):
    for dtype in FLOATS:
        x = (3 * torch.randn(4, 9, generator=generator)).to(dtype)
        yield case("softmax", [x], rounded(lambda v: F.softmax(v, -1), x), axis=1)
        yield case("log_softmax", [x], rounded(lambda v: F.log_softmax(v, -1), x), axis=1)
    x = 3 * torch.randn(4, 9, generator=generator)
    yield case("softmax", [x], F.softmax(x, 0), axis=0)
    huge = torch.tensor([[1e4, 0.0, -1e4], [-3e38, -3e38, -3e38]])
    yield case("softmax", [huge], F.softmax(huge, -1), axis=1)
    yield case("log_softmax", [huge], F.log_softmax(huge, -1), axis=1)


def reductions(generator):
    x = torch.randn(3, 4, 5, generator=generator)
    for axes in ([0], [1], [2], [0, 2], [0, 1, 2]):
        yield case("sum", [x], x.sum(axes), axes=axes)
        yield case("mean", [x], x.mean(axes), axes=axes)
        yield case("max", [x], x.amax(axes), axes=axes)
    for dtype in FLOATS[1:]:
        half = x.to(dtype)
        yield case("sum", [half], rounded(lambda v: v.sum([2]), half), axes=[2])
        yield case("mean", [half], rounded(lambda v: v.mean([0]), half), axes=[0])


def losses(generator):
    logits = 2 * torch.randn(6, 5, generator=generator)
    target = torch.tensor([0, 4, 2, -100, 1, 2])
    for ignore_index in (-100, 2):
        labels = target if ignore_index == -100 else torch.tensor([0, 4, 2, 3, 1, 2])
        for smoothing in (0.0, 0.1):
            value = F.cross_entropy(logits, labels, ignore_index=ignore_index, label_smoothing=smoothing)
            yield case("cross_entropy", [logits, labels], value, ignore_index=ignore_index, label_smoothing=smoothing)
    value = F.cross_entropy(logits, torch.full((6,), 2), ignore_index=2)
    assert torch.isnan(value)  # every row ignored: 0 / 0, which JSON cannot say, so it is no case


def optimizer_case(generator, kind, **settings):
    """Five steps on one parameter of six elements: gradients in, parameters out, a step each."""
    parameter = torch.nn.Parameter(torch.randn(6, generator=generator))
    optimizer = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[kind]([parameter], **settings)
    start, gradients, values = parameter.detach().clone(), [], []
    for _ in range(5):
        parameter.grad = torch.randn(6, generator=generator)
        gradients.append(tensor(parameter.grad))
        optimizer.step()
        values.append(tensor(parameter.detach().clone()))
    return {"op": kind, "attributes": settings, "start": tensor(start), "gradients": gradients, "parameters": values}


def optimizers(generator):
    for settings in ({}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True},
                     {"weight_decay": 0.05}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.05}):
        yield optimizer_case(generator, "sgd", lr=0.1, **settings)
    for settings in ({}, {"weight_decay": 0.0}, {"betas": [0.8, 0.95], "eps": 1e-3, "weight_decay": 0.1}):
        yield optimizer_case(generator, "adamw", lr=0.01, **settings)


def goldens():
    """The content of ops.json."""
    generator = torch.Generator().manual_seed(2)
    groups = (unary, contractions, rows, reductions, losses)
    return {"torch": torch.__version__,
            "forward": [c for group in groups for c in group(generator)],
            "optimizers": list(optimizers(generator))}
