"""Recipes, and what they do to parameters: PyTorch's documented updates, LAMB and Lion by their papers, in f64."""

import dataclasses

import numpy as np

import bounded as b
from bounded import Bounded

#: Every operation of an update may round in f32.
NOISE = 4 * b.UNIT["f32"]


def f32(number):
    return float(np.float32(number))


class State(dict):
    """Slots of one parameter; zero before the first step."""

    def slot(self, name, like, start=0.0):
        return self.setdefault(name, Bounded(np.full(like.shape, start)))


def sgd(o, p, g, state, t):
    g = g + p * o["weight_decay"] if o.get("weight_decay") else g
    if o.get("momentum"):
        if t == 1:
            buffer = g
        else:
            buffer = state["momentum_buffer"] * o["momentum"] + g * (1 - o.get("dampening", 0.0))
        state["momentum_buffer"] = buffer
        g = g + buffer * o["momentum"] if o.get("nesterov") else buffer
    return p - g * o["lr"]


def moments(o, g, state, t):
    beta1, beta2 = o["betas"]
    m = state["m"] = state.slot("m", g) * beta1 + g * (1 - beta1)
    v = state["v"] = state.slot("v", g) * beta2 + g * g * (1 - beta2)
    return m / (1 - beta1 ** t), v, 1 - beta2 ** t


def adam(o, p, g, state, t, decoupled=False):
    if decoupled:
        p = p - p * (o["lr"] * o["weight_decay"])
    elif o.get("weight_decay"):
        g = g + p * o["weight_decay"]
    m, v, correction = moments(o, g, state, t)
    if o.get("amsgrad"):
        v = state["max"] = state.slot("max", v).maximum(v)
    return p - (m * o["lr"]).over(b.root_of_squares(v / correction) + o["eps"], o["eps"])


def adamw(o, p, g, state, t):
    return adam(o, p, g, state, t, decoupled=True)


def rmsprop(o, p, g, state, t):
    g = g + p * o["weight_decay"] if o.get("weight_decay") else g
    alpha = o["alpha"]
    square = state["square"] = state.slot("square", g) * alpha + g * g * (1 - alpha)
    if o.get("centered"):
        mean = state["mean"] = state.slot("mean", g) * alpha + g * (1 - alpha)
        square = square - mean * mean
        root = b.sqrt(square)  # of a difference, which rounding may make negative
    else:
        root = b.root_of_squares(square)
    step = g.over(root + o["eps"], o["eps"])
    if o.get("momentum"):
        step = state["buffer"] = state.slot("buffer", g) * o["momentum"] + step
    return p - step * o["lr"]


def adagrad(o, p, g, state, t):
    g = g + p * o["weight_decay"] if o.get("weight_decay") else g
    total = state["sum"] = state.slot("sum", g, o.get("initial_accumulator_value", 0.0)) + g * g
    rate = o["lr"] / (1 + (t - 1) * o.get("lr_decay", 0.0))
    return p - (g * rate).over(b.root_of_squares(total) + o["eps"], o["eps"])


def length(x):
    return b.root_of_squares((x * x).sum(range(len(x.shape)), keepdims=False))


def lamb(o, p, g, state, t):
    m, v, correction = moments(o, g, state, t)
    direction = m.over(b.root_of_squares(v / correction) + o["eps"], o["eps"]) + p * o["weight_decay"]
    weights, size = length(p), length(direction)
    if weights.value == 0 or size.value == 0:
        trust = Bounded(1.0, np.inf if weights.error or size.error else 0.0)
    else:
        trust = weights / size
    return p - direction * trust * o["lr"]


def lion(o, p, g, state, t):
    beta1, beta2 = o["betas"]
    m = state.slot("m", g)
    update = b.sign(m * beta1 + g * (1 - beta1))
    state["m"] = m * beta2 + g * (1 - beta2)
    return p - p * (o["lr"] * o["weight_decay"]) - update * o["lr"]


#: name: (update, settings that it always has, settings of which it has some)
OPTIMIZERS = {
    "sgd": (sgd, {"lr": 0.125}, [{"momentum": 0.875}, {"momentum": 0.5, "dampening": 0.25}, {"momentum": 0.75, "nesterov": True},
                                 {"weight_decay": 0.0625}]),
    "adam": (adam, {"lr": 0.01, "betas": (0.75, 0.875), "eps": 1e-3}, [{"weight_decay": 0.0625}, {"amsgrad": True}]),
    "adamw": (adamw, {"lr": 0.01, "betas": (0.75, 0.875), "eps": 1e-3, "weight_decay": 0.0625}, [{"amsgrad": True}]),
    "rmsprop": (rmsprop, {"lr": 0.01, "alpha": 0.75, "eps": 1e-3}, [{"momentum": 0.5}, {"centered": True},
                                                                    {"weight_decay": 0.0625}]),
    "adagrad": (adagrad, {"lr": 0.125, "eps": 1e-3}, [{"lr_decay": 0.25}, {"initial_accumulator_value": 0.5},
                                                      {"weight_decay": 0.0625}]),
    "lamb": (lamb, {"lr": 0.0625, "betas": (0.75, 0.875), "eps": 1e-3, "weight_decay": 0.0625}, []),
    "lion": (lion, {"lr": 0.0625, "betas": (0.75, 0.875), "weight_decay": 0.0625}, []),
}


def sparse_adam(o, p, g, state, t):
    """torch.optim.SparseAdam: eps is beside the moment's own root."""
    m, v, correction = moments(o, g, state, t)
    return p - (m * (o["lr"] * np.sqrt(correction))).over(b.root_of_squares(v) + o["eps"], o["eps"])


#: Of the rows that a step uses alone: name: (update, settings, slots and what they begin with)
SPARSE = {
    "sgd": (sgd, {"lr": 0.125}, {}),
    "adam": (sparse_adam, {"lr": 0.01, "betas": (0.75, 0.875), "eps": 1e-3}, {"m": 0.0, "v": 0.0}),
    "adagrad": (adagrad, {"lr": 0.125, "eps": 1e-3, "initial_accumulator_value": 0.5}, {"sum": 0.5}),
}


def of_rows(update, slots, rows):
    """An update that leaves the other rows of a parameter and its slots as they are."""
    def updated(o, p, g, state, t):
        used = Bounded(np.isin(np.arange(p.shape[0]), rows).reshape((-1,) + (1,) * (len(p.shape) - 1)) & np.ones(p.shape, bool))
        before = {name: state.slot(name, g, start) for name, start in slots.items()}
        new = update(o, p, g, state, t)
        state.update({name: used.where(state[name], old) for name, old in before.items()})
        return used.where(new, p)
    return updated


def text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"({', '.join(map(text, value))})"
    number = repr(float(value))
    return number.replace("e", ".0e") if "e" in number and "." not in number else number


@dataclasses.dataclass
class Group:
    name: str
    settings: dict
    parameters: list
    indices: list = ()  # the values that hold the rows which a step uses, if its parameter is updated in these alone

    def update(self, numbers):
        if not self.indices:
            return OPTIMIZERS[self.name][0]
        update, _, slots = SPARSE[self.name]
        return of_rows(update, slots, np.concatenate([numbers[value].value.ravel() for value in self.indices]))

    def text(self):
        attribute = f"#mp.{self.name}<{', '.join(f'{key} = {text(value)}' for key, value in self.settings.items())}>"
        names = ", ".join(f'"{variable_name(value)}"' for value in self.parameters)
        return f"    mp.minimize result(0) {{params = [{names}], optimizer = {attribute}}}\n"


def variable_name(value):
    return value.name[1:]


@dataclasses.dataclass
class Recipe:
    groups: list
    scale: float  # the first loss scale; 0: none
    grows: bool  # the scale doubles at each step that is applied, and halves at each that is skipped
    accumulate: int  # micro-batches a step
    clip_norm: float  # 0: none
    clip_value: float

    def text(self):
        clips = [f"{key} = {text(value)}" for key, value in (("clip_norm", self.clip_norm), ("clip_value", self.clip_value)) if value]
        preset = (f'"torch", init_scale = {text(self.scale)}, growth_interval = 1' if self.grows
                  else f'"static:{self.scale:g}"')
        scaler = f"  mp.scaler @scaler {{preset = {preset}}}\n" if self.scale else ""
        return (scaler + f"  mp.train @step of @loss{' scaler(@scaler)' if self.scale else ''}"
                + (f" accumulate({self.accumulate})" if self.accumulate > 1 else "")
                + (f" attributes {{{', '.join(clips)}}}" if clips else "")
                + " {\n" + "".join(group.text() for group in self.groups) + "  }\n")

    def parameters(self):
        return [value for group in self.groups for value in group.parameters]

    def optimizers(self):
        """Parameters of one optimizer each: groups of one kind are of one optimizer."""
        kinds = {}
        for group in self.groups:
            kinds.setdefault(group.name, []).extend(group.parameters)
        return list(kinds.values())

    def step(self, numbers, gradients, states, t):
        """New numbers of the parameters after step `t`, the first being 1. One without a gradient stays as it is."""
        gradients = {value: gradient.noisy(NOISE, 2.0 ** -140) for value, gradient in gradients.items()}
        if self.clip_norm:
            total = Bounded(0.0)
            for gradient in gradients.values():
                total = total + (gradient * gradient).sum(range(len(gradient.shape)), keepdims=False)
            factor = (self.clip_norm / (b.root_of_squares(total) + 1e-6)).minimum(1.0)
            gradients = {value: gradient * factor for value, gradient in gradients.items()}
        if self.clip_value:
            gradients = {value: gradient.minimum(self.clip_value).maximum(-self.clip_value)
                         for value, gradient in gradients.items()}
        updated = {}
        for group in self.groups:
            update = group.update(numbers)
            for value in group.parameters:
                if value not in gradients:
                    continue
                gradient = gradients[value]
                if group.settings.get("maximize"):
                    gradient = -gradient
                state = states.setdefault(value, State())
                new = update(group.settings, numbers[value].noisy(NOISE), gradient, state, t)
                updated[value] = new.exact()
        return updated


def draw_optimizer(rng):
    """A name and settings."""
    name = str(rng.choice(list(OPTIMIZERS)))
    _, always, sometimes = OPTIMIZERS[name]
    settings = dict(always)
    for more in sometimes:
        if rng.random() < 0.4:
            settings.update(more)
    if settings.get("nesterov"):
        settings.pop("dampening", None)
    if rng.random() < 0.15:
        settings["maximize"] = True
    return name, settings


def indices_of(g, parameter):
    """The inputs by which rows of a parameter are gathered, if nothing else is done with it; or none."""
    found, tables = [], {parameter}
    for node in g.nodes:
        if node.head == "mp.cast" and node.operands[0] in tables:
            tables.add(node.results[0])
        elif tables & set(node.operands):
            is_gathered = node.head == "mp.gather" and node.attributes == " dim(0)" and node.operands[0] in tables
            if not is_gathered or node.operands[1] not in g.inputs:
                return []
            found.append(node.operands[1])
    return [] if tables & set(g.results) else found


def make_sparse(g, recipe, parameters):
    """Lets an optimizer of its own update a parameter in the rows that a step uses."""
    for parameter in parameters:
        indices = indices_of(g, parameter)
        if not indices or recipe.accumulate > 1 or g.chance(30):
            continue
        for group in recipe.groups:
            group.parameters = [value for value in group.parameters if value is not parameter]
        name = g.choice(list(SPARSE))
        recipe.groups = [group for group in recipe.groups if group.parameters]
        recipe.groups.append(Group(name, {**SPARSE[name][1], "sparse": True}, [parameter], indices))


def draw(g, parameters, optimizers):
    """A recipe with some of the optimizers, each a name and settings."""
    groups = [parameters]
    if len(parameters) > 1 and g.chance(40):
        cut = 1 + g.below(len(parameters) - 1)
        groups = [parameters[:cut], parameters[cut:]]
    clip_norm, clip_value = g.choice([(0, 0), (0, 0), (0, 0), (0.5, 0), (0, 0.125)])
    # An f16 loss is always scaled, as is a step to be skipped; training in bf16 takes no scaler.
    scale = g.choice([0] if g.low == "bf16" else [1, 1024] if g.low == "f16" or g.spoiler else [0, 0, 1, 1024])
    return Recipe([Group(*g.choice(optimizers), group) for group in groups], scale, bool(scale) and g.chance(50),
                  2 if g.chance(20) else 1, clip_norm, clip_value)
