"""Forward values of single ops and steps of the optimizers.

A forward case is {module, inputs, outputs, exact}, an optimizer's {module, lr, start, gradients, parameters}: `module` is a function
of the mp dialect that should compute what PyTorch did. A tensor is {type, data} with `type` spelled as in MLIR and
`data` flat, every number exact in that type. `exact`: the definition leaves no choice of rounding.
"""

import torch
import torch.nn.functional as F

TYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64"}
FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def type_of(value):
    shape = "".join(f"{n}x" for n in value.shape)
    return f"tensor<{shape}{TYPES[value.dtype]}>"


def tensor(value):
    data = value.double().flatten().tolist() if value.is_floating_point() else value.flatten().tolist()
    return {"type": type_of(value), "data": data}


def function(body, arguments, results):
    """Text of a function: `arguments` and `results` are {name: type}."""
    ins = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    outs = ", ".join(results.values())
    values = ", ".join(f"%{name}" for name in results)
    return f"func.func @f({ins}) -> ({outs}) {{\n  {body}\n  return {values} : {outs}\n}}\n"


def case(op, inputs, output, exact=False):
    """`op` is an op with its operands %a, %b, %c and without its types."""
    arguments = dict(zip("abc", map(type_of, inputs)))
    module = function(f"%r = {op} : {', '.join(arguments.values())}", arguments, {"r": type_of(output)})
    return {"module": module, "inputs": [tensor(i) for i in inputs], "outputs": [tensor(output)], "exact": exact}


def rounded(function, *inputs):
    """`function` computed in f32 and rounded once to the inputs' type: what a value of that type is."""
    return function(*(i.float() for i in inputs)).to(inputs[0].dtype)


def unary(_):
    wide = torch.cat([torch.linspace(-6, 6, 25), torch.tensor([0.0, -0.0, 1e-6, -1e-6, 30.0, -30.0])])
    positive = torch.cat([torch.linspace(0.01, 9, 24), torch.tensor([1.0, 1e-6, 1e4])])
    functions = {
        "mp.relu %a": (wide, torch.relu, True),
        "mp.gelu %a": (wide, F.gelu, False),
        "mp.gelu %a approximate(tanh)": (wide, lambda x: F.gelu(x, approximate="tanh"), False),
        "mp.exp %a": (wide.clamp(max=9), torch.exp, False),
        "mp.log %a": (positive, torch.log, False),
        "mp.tanh %a": (wide, torch.tanh, False),
        "mp.sigmoid %a": (wide, torch.sigmoid, False),
        "mp.softplus %a": (wide, F.softplus, False),
        "mp.softplus %a {beta = 2.0, threshold = 3.0}": (wide, lambda x: F.softplus(x, 2.0, 3.0), False),
        # PyTorch's vectorised sqrt is not correctly rounded; ours is.
        "mp.sqrt %a": (positive, torch.sqrt, False),
    }
    for op, (x, compute, exact) in functions.items():
        for dtype in FLOATS:
            yield case(op, [x.to(dtype)], rounded(compute, x.to(dtype)), exact)


def contractions(generator):
    for dtype in FLOATS:
        x, w, b = (torch.randn(s, generator=generator).to(dtype) for s in ((3, 7), (5, 7), (5,)))
        yield case("mp.linear %a, %b, %c", [x, w, b], rounded(F.linear, x, w, b))
        yield case("mp.linear %a, %b", [x, w], rounded(F.linear, x, w))
        yield case("mp.matmul %a, %b", [x, w.t().contiguous()], rounded(torch.matmul, x, w.t()))
        yield case("mp.matmul %a, %b transpose_b", [x, w], rounded(torch.matmul, x, w.t()))
        yield case("mp.matmul %a, %b transpose_a", [x.t().contiguous(), w.t().contiguous()], rounded(torch.matmul, x, w.t()))
    a, b = torch.randn(2, 3, 4, generator=generator), torch.randn(2, 4, 5, generator=generator)
    yield case("mp.matmul %a, %b", [a, b], a @ b)


def rows(generator):
    for dtype in FLOATS:
        x = (3 * torch.randn(4, 9, generator=generator)).to(dtype)
        yield case("mp.softmax %a dim(1)", [x], rounded(lambda v: F.softmax(v, -1), x))
        yield case("mp.log_softmax %a dim(1)", [x], rounded(lambda v: F.log_softmax(v, -1), x))
    x = 3 * torch.randn(4, 9, generator=generator)
    yield case("mp.softmax %a dim(0)", [x], F.softmax(x, 0))
    huge = torch.tensor([[1e4, 0.0, -1e4], [-3e38, -3e38, -3e38]])
    yield case("mp.softmax %a dim(1)", [huge], F.softmax(huge, -1))
    yield case("mp.log_softmax %a dim(1)", [huge], F.log_softmax(huge, -1))


def reductions(generator):
    x = torch.randn(3, 4, 5, generator=generator)
    for dims in ([0], [1], [2], [0, 2], [0, 1, 2]):
        yield case(f"mp.sum %a dims{dims}", [x], x.sum(dims))
        yield case(f"mp.mean %a dims{dims}", [x], x.mean(dims))
        yield case(f"mp.max %a dims{dims}", [x], x.amax(dims), exact=True)
    yield case("mp.sum %a dims[1] keepdim", [x], x.sum(1, keepdim=True))
    for dtype in FLOATS[1:]:
        half = x.to(dtype)
        yield case("mp.sum %a dims[2]", [half], rounded(lambda v: v.sum([2]), half))
        yield case("mp.mean %a dims[0]", [half], rounded(lambda v: v.mean([0]), half))


def losses(generator):
    logits = 2 * torch.randn(6, 5, generator=generator)
    for ignore_index, labels in ((-100, [0, 4, 2, -100, 1, 2]), (2, [0, 4, 2, 3, 1, 2])):
        target = torch.tensor(labels)
        for smoothing in (0.0, 0.1):
            op = f"mp.cross_entropy %a, %b {{ignore_index = {ignore_index}, label_smoothing = {smoothing}}}"
            value = F.cross_entropy(logits, target, ignore_index=ignore_index, label_smoothing=smoothing)
            yield case(op, [logits, target], value)
    value = F.cross_entropy(logits, target, ignore_index=2, reduction="sum")
    yield case("mp.cross_entropy %a, %b reduction(sum) {ignore_index = 2}", [logits, target], value)


def optimizer_case(generator, make, module, lr):
    """Five steps on one parameter of six elements: gradients in, parameters out, a step each."""
    parameter = torch.nn.Parameter(torch.randn(6, generator=generator))
    optimizer = make([parameter])
    start, gradients, values = parameter.detach().clone(), [], []
    for _ in range(5):
        parameter.grad = torch.randn(6, generator=generator)
        gradients.append(tensor(parameter.grad))
        optimizer.step()
        values.append(tensor(parameter.detach().clone()))
    return {"module": module, "lr": lr, "start": tensor(start), "gradients": gradients, "parameters": values}


# Every optimizer's function takes these, then its slots, and returns the parameter and the slots.
STEP = {"g": "tensor<6xf32>", "lr": "tensor<f32>", "step": "tensor<i64>", "p": "tensor<6xf32>"}


def sgd(generator, lr, nesterov=False, **settings):
    slots = {"m": "tensor<6xf32>"} if "momentum" in settings else {}
    attributes = ", ".join([f"{key} = {value}" for key, value in settings.items()] + ["nesterov"] * nesterov)
    operands = ["p", "g", "lr", "step", *slots]
    types = {**STEP, **slots}
    body = (f"{', '.join(f'%{r}1' for r in ('p', *slots))} = mp.sgd {', '.join(f'%{o}' for o in operands)} {{{attributes}}}"
            f" : {', '.join(types[o] for o in operands)}")
    module = function(body, types, {f"{r}1": types[r] for r in ("p", *slots)})
    return optimizer_case(generator, lambda p: torch.optim.SGD(p, lr=lr, nesterov=nesterov, **settings), module, lr)


def adamw(generator, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    types = {**STEP, "m": "tensor<6xf32>", "v": "tensor<6xf32>"}
    body = "\n  ".join([
        f"%c1 = mp.bias_correction %step {{beta = {betas[0]}}} : tensor<i64>",
        f"%c2 = mp.bias_correction %step {{beta = {betas[1]}}} : tensor<i64>",
        f"%p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c1, %c2"
        f" {{beta1 = {betas[0]}, beta2 = {betas[1]}, eps = {eps:e}, weight_decay = {weight_decay}}}",
        f"  : {', '.join([STEP['p']] * 4 + [STEP['lr']] * 3)}"])
    module = function(body, types, {"p1": STEP["p"], "m1": types["m"], "v1": types["v"]})
    make = lambda p: torch.optim.AdamW(p, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
    return optimizer_case(generator, make, module, lr)


def optimizers(generator):
    for settings in ({}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True},
                     {"weight_decay": 0.05}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.05}):
        yield sgd(generator, 0.1, **settings)
    for settings in ({}, {"weight_decay": 0.0}, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}):
        yield adamw(generator, 0.01, **settings)


def goldens():
    """The content of ops.json."""
    generator = torch.Generator().manual_seed(2)
    groups = (unary, contractions, rows, reductions, losses)
    return {"torch": torch.__version__,
            "forward": [c for group in groups for c in group(generator)],
            "optimizers": list(optimizers(generator))}
