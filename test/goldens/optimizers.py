"""Steps of the optimizers.

A case is {module, lr, start, gradients, parameters}: `module` is one update, a function of the gradient, the learning rate,
the step's number, the parameter and its slots; tensors are as in cases.py.
"""

import torch

from cases import function, tensor


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
    """The content of optimizers.json."""
    generator = torch.Generator().manual_seed(2)
    return {"torch": torch.__version__, "optimizers": list(optimizers(generator))}
