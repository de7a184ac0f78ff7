"""Steps of optimizers, schedules, clipping and averages.

An optimizer's case is {optimizer, lr, start, gradients, parameters}: `optimizer` is an attribute of the mp dialect; tensors
are as in cases.py, gradients in and parameters out, one of each a step. A schedule's is {schedule, factors}: the learning
rate of step after step, over the first. Clipping: {setting, gradients, norm, clipped}. An average's: {decay, values,
averages}.

What PyTorch has is computed by it; LAMB and Lion are transcribed from the papers that brought them.
"""

import math

import numpy
import torch
from torch.optim import lr_scheduler, swa_utils

from cases import tensor


def text(value):
    """A number, flag or pair as the dialect writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"({', '.join(map(text, value))})"
    number = repr(value)
    return number.replace("e", ".0e") if "e" in number and "." not in number else number


def attribute(name, **settings):
    return f"#mp.{name}<{', '.join(f'{key} = {text(value)}' for key, value in settings.items())}>"


#--- optimizers ---------------------------------------------------------------

def optimizer_case(generator, name, make, settings):
    """Eight steps on a matrix: gradients of all sizes, among them zeros."""
    parameter = torch.nn.Parameter(torch.randn(3, 4, generator=generator))
    optimizer = make([parameter], **settings)
    start, gradients, values = parameter.detach().clone(), [], []
    for step in range(8):
        parameter.grad = torch.randn(3, 4, generator=generator) * 10.0 ** (step % 3 - 1)
        parameter.grad[0, step % 4] = 0
        gradients.append(tensor(parameter.grad))
        optimizer.step()
        values.append(tensor(parameter.detach().clone()))
    return {"optimizer": attribute(name, **settings), "lr": settings["lr"], "start": tensor(start), "gradients": gradients,
            "parameters": values}


class Transcribed:
    """An optimizer by a paper's algorithm, in numpy and f64; one parameter."""

    def __init__(self, parameters, lr, betas, weight_decay, eps=None):
        self.parameter, = parameters
        self.lr, (self.beta1, self.beta2), self.decay, self.eps = lr, betas, weight_decay, eps
        self.x = self.parameter.detach().double().numpy().copy()
        self.m, self.v, self.t = numpy.zeros_like(self.x), numpy.zeros_like(self.x), 0

    def step(self):
        self.t += 1
        self.advance(self.parameter.grad.double().numpy())
        self.parameter.data = torch.from_numpy(self.x).float()


class Lamb(Transcribed):
    """You et al., Large Batch Optimization for Deep Learning, arXiv 1904.00962v5, algorithm 2; phi is the identity, and the
    ratio of norms is 1 if one of them is 0."""

    def advance(self, g):
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * g ** 2
        m, v = self.m / (1 - self.beta1 ** self.t), self.v / (1 - self.beta2 ** self.t)
        u = m / (numpy.sqrt(v) + self.eps) + self.decay * self.x
        norms = numpy.linalg.norm(self.x), numpy.linalg.norm(u)
        trust = norms[0] / norms[1] if min(norms) > 0 else 1.0
        self.x = self.x - self.lr * trust * u


class Lion(Transcribed):
    """Chen et al., Symbolic Discovery of Optimization Algorithms, arXiv 2302.06675, algorithm 2."""

    def advance(self, g):
        update = numpy.sign(self.beta1 * self.m + (1 - self.beta1) * g)
        self.x = self.x - self.lr * (update + self.decay * self.x)
        self.m = self.beta2 * self.m + (1 - self.beta2) * g


def optimizers(generator):
    families = {
        "sgd": (torch.optim.SGD, 0.1, [
            {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True},
            {"weight_decay": 0.05}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.05}, {"maximize": True},
            {"momentum": 0.5, "weight_decay": 0.1, "maximize": True}]),
        "adam": (torch.optim.Adam, 0.01, [
            {}, {"weight_decay": 0.1}, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.01}, {"amsgrad": True},
            {"amsgrad": True, "weight_decay": 0.1, "maximize": True}, {"betas": (0.0, 0.5)}, {"maximize": True}]),
        "adamw": (torch.optim.AdamW, 0.01, [
            {}, {"weight_decay": 0.0}, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}, {"amsgrad": True},
            {"amsgrad": True, "betas": (0.5, 0.6), "maximize": True}]),
        "rmsprop": (torch.optim.RMSprop, 0.01, [
            {}, {"alpha": 0.9, "eps": 1e-4}, {"centered": True}, {"momentum": 0.9}, {"momentum": 0.9, "centered": True},
            {"weight_decay": 0.1}, {"momentum": 0.5, "centered": True, "weight_decay": 0.01, "maximize": True}]),
        "adagrad": (torch.optim.Adagrad, 0.1, [
            {}, {"lr_decay": 0.1}, {"initial_accumulator_value": 0.5}, {"weight_decay": 0.1, "eps": 1e-3},
            {"lr_decay": 0.01, "initial_accumulator_value": 0.1, "maximize": True}]),
        "lamb": (Lamb, 0.05, [
            {"betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.01},
            {"betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.0},
            {"betas": (0.5, 0.9), "eps": 1e-2, "weight_decay": 0.5}]),
        "lion": (Lion, 0.01, [
            {"betas": (0.9, 0.99), "weight_decay": 0.0}, {"betas": (0.95, 0.98), "weight_decay": 0.1},
            {"betas": (0.0, 0.5), "weight_decay": 0.0}]),
    }
    for name, (make, lr, many) in families.items():
        for settings in many:
            yield optimizer_case(generator, name, make, {"lr": lr, **settings})


#--- schedules ----------------------------------------------------------------

STEPS = 50


def factors(make):
    """The learning rate of every step, of a scheduler on a base rate of one."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scheduler = make(optimizer)
    rates = []
    for _ in range(STEPS):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        scheduler.step()
    return rates


def after_warmup(steps, start, make):
    """Linear from `start` to one, then `make` from its beginning."""
    if start > 0:
        rise = lambda o: lr_scheduler.LinearLR(o, start_factor=start, end_factor=1.0, total_iters=steps)
    else:
        rise = lambda o: lr_scheduler.LambdaLR(o, lambda t: t / steps)
    return lambda o: lr_scheduler.SequentialLR(o, [rise(o), make(o)], milestones=[steps])


def schedules():
    s = lr_scheduler
    inverse_sqrt = lambda scale: lambda o: s.LambdaLR(o, lambda t: math.sqrt(scale / (t + scale)))
    table = {
        "#mp.linear<from = 1, to = 0.0, steps = 40>": lambda o: s.LinearLR(o, 1.0, 0.0, 40),
        "#mp.linear<from = 0.25, to = 1.0, steps = 7>": lambda o: s.LinearLR(o, 0.25, 1.0, 7),
        "#mp.step<step_size = 7>": lambda o: s.StepLR(o, 7),
        "#mp.step<step_size = 1, gamma = 0.9>": lambda o: s.StepLR(o, 1, 0.9),
        "#mp.exponential<gamma = 0.95>": lambda o: s.ExponentialLR(o, 0.95),
        "#mp.cosine<steps = 50>": lambda o: s.CosineAnnealingLR(o, 50),
        "#mp.cosine<to = 0.1, steps = 20>": lambda o: s.CosineAnnealingLR(o, 20, eta_min=0.1),
        "#mp.polynomial<steps = 30>": lambda o: s.PolynomialLR(o, 30),
        "#mp.polynomial<power = 2.5, steps = 45>": lambda o: s.PolynomialLR(o, 45, 2.5),
        "#mp.inverse_sqrt<timescale = 10>": inverse_sqrt(10),
        "#mp.inverse_sqrt": inverse_sqrt(10_000),
        "#mp.warmup<steps = 10>": after_warmup(10, 0, lambda o: s.LambdaLR(o, lambda t: 1.0)),
        "#mp.warmup<steps = 10, then = #mp.cosine<to = 0.05, steps = 40>>":
            after_warmup(10, 0, lambda o: s.CosineAnnealingLR(o, 40, eta_min=0.05)),
        "#mp.warmup<steps = 5, from = 0.25, then = #mp.linear<steps = 30>>":
            after_warmup(5, 0.25, lambda o: s.LinearLR(o, 1.0, 0.0, 30)),
        "#mp.warmup<steps = 8, then = #mp.inverse_sqrt<timescale = 8>>": after_warmup(8, 0, inverse_sqrt(8)),
        "#mp.warmup<steps = 3, then = #mp.step<step_size = 4, gamma = 0.5>>":
            after_warmup(3, 0, lambda o: s.StepLR(o, 4, 0.5)),
        "#mp.warmup<steps = 4, then = #mp.exponential<gamma = 0.9>>":
            after_warmup(4, 0, lambda o: s.ExponentialLR(o, 0.9)),
        "#mp.warmup<steps = 10, then = #mp.polynomial<power = 2, steps = 20>>":
            after_warmup(10, 0, lambda o: s.PolynomialLR(o, 20, 2.0)),
    }
    for schedule, make in table.items():
        yield {"schedule": schedule, "factors": factors(make)}


#--- clipping and averages ----------------------------------------------------

def clipping(generator):
    """Two gradients, the second twice the first."""
    for setting, scale in (("clip_norm = 1.0", 3.0), ("clip_norm = 1.0", 0.1), ("clip_norm = 2.5", 1e6),
                           ("clip_norm = 1.0e-3", 1e-4), ("clip_value = 0.5", 1.0), ("clip_value = 0.5", 0.01)):
        x = torch.randn(6, generator=generator) * scale
        parameters = [torch.nn.Parameter(torch.zeros(6)) for _ in range(2)]
        for factor, parameter in enumerate(parameters, 1):
            parameter.grad = factor * x
        norm = torch.nn.utils.get_total_norm([p.grad for p in parameters])
        kind, limit = setting.split(" = ")
        clip = {"clip_norm": torch.nn.utils.clip_grad_norm_, "clip_value": torch.nn.utils.clip_grad_value_}[kind]
        clip(parameters, float(limit))
        yield {"setting": setting, "gradient": tensor(x), "norm": float(norm),
               "clipped": [tensor(p.grad) for p in parameters]}


def averages(generator):
    for decay in (0.0, 0.5, 0.999):
        model = torch.nn.Linear(6, 1, bias=False)
        average = swa_utils.AveragedModel(model, avg_fn=swa_utils.get_ema_avg_fn(decay))
        values, means = [], []
        for _ in range(6):
            model.weight.data = torch.randn(1, 6, generator=generator)
            average.update_parameters(model)
            values.append(tensor(model.weight.data.flatten()))
            means.append(tensor(average.module.weight.detach().flatten().clone()))
        yield {"decay": decay, "values": values, "averages": means}


def goldens():
    """The content of optimizers.json."""
    generator = torch.Generator().manual_seed(2)
    return {"torch": torch.__version__, "optimizers": list(optimizers(generator)), "schedules": list(schedules()),
            "clipping": list(clipping(generator)), "averages": list(averages(generator))}
