"""Ops on one element at a time."""

import torch
import torch.nn.functional as F

from cases import FLOATS, backward, both, forward, type_of

NAN, INF = float("nan"), float("inf")


def unary():
    wide = torch.cat([torch.linspace(-6, 6, 25), torch.tensor([0.0, -0.0, 1e-6, -1e-6, 30.0, -30.0])])
    smooth = torch.cat([torch.linspace(-6, 6, 24), torch.tensor([1e-3, -1e-3, 20.5, -20.5])])
    positive = torch.cat([torch.linspace(0.01, 9, 24), torch.tensor([1.0, 1e-6, 1e4])])
    above = torch.cat([torch.linspace(-0.9, 9, 24), torch.tensor([0.0, -0.0, 1e-6, -1e-6, 1e4])])
    # Near multiples of pi / 2, and large: the reduction is exact.
    waves = torch.cat([smooth, torch.tensor([3.1415927, -6.2831855, 1.5707964, 710.0, 1e4, 65504.0, -5e4])])
    functions = {
        "mp.relu %a": (wide, smooth, torch.relu),
        "mp.gelu %a": (wide, smooth, F.gelu),
        "mp.gelu %a approximate(tanh)": (wide, smooth, lambda x: F.gelu(x, approximate="tanh")),
        "mp.exp %a": (wide.clamp(max=9), smooth.clamp(max=9), torch.exp),
        "mp.log %a": (positive, positive, torch.log),
        "mp.tanh %a": (wide, smooth, torch.tanh),
        "mp.sigmoid %a": (wide, smooth, torch.sigmoid),
        "mp.softplus %a": (wide, smooth, F.softplus),
        "mp.softplus %a {beta = 2.0, threshold = 3.0}": (wide, smooth, lambda x: F.softplus(x, 2.0, 3.0)),
        "mp.sqrt %a": (positive, positive, torch.sqrt),
        "mp.abs %a": (wide, smooth, torch.abs),
        "mp.neg %a": (wide, smooth, torch.neg),
        "mp.expm1 %a": (wide.clamp(max=9), smooth.clamp(max=9), torch.expm1),
        "mp.log1p %a": (above, above, torch.log1p),
        "mp.erf %a": (wide, smooth, torch.erf),
        "mp.rsqrt %a": (positive, positive.clamp(min=0.01), torch.rsqrt),
        "mp.reciprocal %a": (positive, smooth, torch.reciprocal),
        "mp.sin %a": (waves, waves, torch.sin),
        "mp.cos %a": (waves, waves, torch.cos),
        "mp.sign %a": (wide, smooth, torch.sign),
        "mp.floor %a": (wide, smooth, torch.floor),
        "mp.clamp %a {max = 2.5, min = -1.25}": (wide, smooth, lambda x: x.clamp(-1.25, 2.5)),
        "mp.clamp %a {min = 0.5}": (wide, smooth, lambda x: x.clamp(min=0.5)),
        "mp.silu %a": (wide, smooth, F.silu),
        "mp.leaky_relu %a": (wide, smooth, F.leaky_relu),
        "mp.leaky_relu %a {negative_slope = 0.25}": (wide, smooth, lambda x: F.leaky_relu(x, 0.25)),
        "mp.elu %a": (wide, smooth, F.elu),
        "mp.elu %a {alpha = 0.3}": (wide, smooth, lambda x: F.elu(x, 0.3)),
    }
    for op, (x, away, compute) in functions.items():
        # Far left gelu is a difference of nearly equal numbers, in PyTorch's f32 as well as in Mantissa's.
        at = "largest" if "gelu" in op else "element"
        for dtype in FLOATS:
            yield forward(op, [x.to(dtype)], compute, at=at)
            yield backward(op, [away.to(dtype)], compute)


def binary(generator):
    functions = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
                 "maximum": torch.maximum, "minimum": torch.minimum}
    for name, compute in functions.items():
        for dtype in FLOATS:
            a, b, row = (torch.randn(s, generator=generator).to(dtype) for s in ((3, 5), (3, 5), (5,)))
            yield from both(f"mp.{name} %a, %b", [a, b], compute)
            yield from both(f"mp.{name} %a, %b", [a, row], compute)
            yield from both(f"mp.{name} %a, %b", [a[:0], row], compute)


def edges():
    """Kinks and non-finite numbers, forward and backward. f32: PyTorch's vector and scalar code agree in f64."""
    special = torch.tensor([0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 3e38, -3e38, 1e-38, 1e-42])
    functions = {
        "mp.relu %a": torch.relu, "mp.abs %a": torch.abs, "mp.sign %a": torch.sign, "mp.floor %a": torch.floor,
        "mp.leaky_relu %a": F.leaky_relu, "mp.silu %a": F.silu, "mp.softplus %a": F.softplus, "mp.tanh %a": torch.tanh,
        "mp.sigmoid %a": torch.sigmoid, "mp.erf %a": torch.erf, "mp.reciprocal %a": torch.reciprocal,
        "mp.rsqrt %a": torch.rsqrt, "mp.sqrt %a": torch.sqrt, "mp.log %a": torch.log, "mp.log1p %a": torch.log1p,
        "mp.sin %a": torch.sin, "mp.cos %a": torch.cos, "mp.exp %a": torch.exp, "mp.expm1 %a": torch.expm1,
        "mp.elu %a": F.elu,
        "mp.clamp %a {max = 1.0, min = -1.0}": lambda x: x.clamp(-1, 1),
        "mp.clamp %a {max = 0.0}": lambda x: x.clamp(max=0),
        "mp.clamp %a {max = -1.0, min = 1.0}": lambda x: x.clamp(1, -1),
    }
    for op, compute in functions.items():
        yield forward(op, [special], compute)
    # Gradients at points where f32 and f64 are not finite alike, and at kinks.
    kinks = torch.tensor([0.0, -0.0, NAN, 1.0, -1.0, 0.5])
    for op in ("relu", "abs", "sign", "floor", "leaky_relu", "clamp"):
        for text, compute in functions.items():
            if text.startswith(f"mp.{op} "):
                yield backward(text, [kinks], compute, at="element")
    yield backward("mp.elu %a {alpha = 0.5}", [torch.tensor([0.0, -0.0, 1.0, -1.0])], lambda x: F.elu(x, 0.5), at="element")
    a, b = torch.tensor([1.0, 2.0, NAN, 1.0, NAN, INF, -0.0]), torch.tensor([1.0, 1.0, 1.0, NAN, NAN, INF, 0.0])
    for name in ("maximum", "minimum"):
        yield from both(f"mp.{name} %a, %b", [a, b], getattr(torch, name))
    # The two differ in NaN only where PyTorch multiplies masked values by infinity.
    flag = torch.tensor([True, False, True])
    yield from both("mp.select %a, %b, %c", [flag, torch.tensor([NAN, NAN, 1.0]), torch.tensor([2.0, INF, NAN])], torch.where)


# Exponents that Mantissa does not compute by pow, and two that it does.
CHEAP = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 2.5)


def constant_power(signed, exponent):
    base = signed.abs() if exponent % 1 else signed
    scalar = type_of(base[0])
    for case in both(f"mp.pow %a, %e : {type_of(base)}, {scalar}", [base], lambda x: x ** exponent):
        constant = f"{{\n  %e = mp.constant dense<{exponent}> : {scalar}\n"
        yield {**case, "module": case["module"].replace("{\n", constant, 1)}


def powers(generator):
    for dtype in FLOATS:
        x = (torch.rand(3, 5, generator=generator) * 4 + 0.05).to(dtype)
        y = (torch.randn(3, 5, generator=generator) * 2).to(dtype)
        yield from both("mp.pow %a, %b", [x, y], torch.pow)
        yield from both("mp.pow %a, %b", [x, y[0]], torch.pow)
        signed = torch.tensor([-3.0, -1.5, -0.25, 0.75, 2.0, 3.5]).to(dtype)
        whole = torch.tensor([3.0, 2.0, -3.0, 4.0, -1.0, 0.0]).to(dtype)
        yield forward("mp.pow %a, %b", [signed, whole], torch.pow)
        yield backward("mp.pow %a, %b", [signed, whole], torch.pow, constants="b")
        for exponent in CHEAP if dtype == torch.float32 else (3.0, -0.5):
            yield from constant_power(signed, exponent)
    values = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 2.5, -2.5, 1e30, -1e30]
    table = torch.tensor([[a, b] for a in values for b in values])
    yield forward("mp.pow %a, %b", [table[:, 0].contiguous(), table[:, 1].contiguous()], torch.pow)
    # Zero to a power that is not negative has no gradient by the exponent, and x^0 none by x.
    x, y = torch.tensor([0.0, 0.0, 0.0, 2.0, -2.0]), torch.tensor([0.0, 2.0, 1.0, 0.0, 0.0])
    yield backward("mp.pow %a, %b", [x[:4], y[:4]], torch.pow, at="element")
    yield backward("mp.pow %a, %b", [x, y], torch.pow, at="element", constants="b")


def slope(function):
    """g f'(x), as a function that has a gradient."""
    def compute(g, x):
        x = x if x.requires_grad else x.clone().requires_grad_()
        return torch.autograd.grad(function(x), x, g, create_graph=True)[0]
    return compute


def second(generator):
    """Ops that are gradients have gradients: those of PyTorch's double backward."""
    aten = torch.ops.aten
    results = {
        "mp.relu_backward %a, %b": lambda g, y: aten.threshold_backward(g, y, 0),
        "mp.tanh_backward %a, %b": aten.tanh_backward,
        "mp.sigmoid_backward %a, %b": aten.sigmoid_backward,
    }
    operands = {
        "mp.gelu_backward %a, %b": F.gelu,
        "mp.gelu_backward %a, %b approximate(tanh)": lambda x: F.gelu(x, approximate="tanh"),
        "mp.softplus_backward %a, %b": F.softplus,
        "mp.softplus_backward %a, %b {beta = 2.0, threshold = 3.0}": lambda x: F.softplus(x, 2.0, 3.0),
        "mp.silu_backward %a, %b": F.silu,
        "mp.leaky_relu_backward %a, %b": F.leaky_relu,
        "mp.elu_backward %a, %b {alpha = 0.3}": lambda x: F.elu(x, 0.3),
    }
    for dtype in (torch.float32, torch.float16):
        g = torch.randn(15, generator=generator).to(dtype)
        y, x = torch.linspace(0.04, 0.96, 15).to(dtype), torch.linspace(-4.1, 4.2, 15).to(dtype)
        for op, compute in results.items():
            yield from both(op, [g, y], compute)
        for op, function in operands.items():
            # Where gelu's curvature changes its sign, terms as large as it is anywhere cancel.
            ulps = 16 if "gelu" in op and dtype == torch.float32 else None
            yield forward(op, [g, x], slope(function), at="largest")
            yield backward(op, [g, x], slope(function), ulps=ulps)


def cases(generator):
    yield from unary()
    yield from binary(generator)
    yield from edges()
    yield from powers(generator)
    yield from second(generator)
