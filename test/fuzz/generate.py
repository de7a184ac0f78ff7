"""Random graphs: what they begin with, how they grow, and what they are asked for."""

import dataclasses

import numpy as np

import attention
import convolutions
import elementwise
import examples
import images
import layout
import losses
import motifs
import norms
import optimizers
import products
import randoms
import reductions
import scans
import sorting
import texts
import transformers
from graph import Graph, Node, Type, Value
from reduce import pruned

#: (share, op); motifs share theirs.
DRAWS = [
    (12, elementwise.unary), (16, elementwise.binary), (3, elementwise.compare), (2, elementwise.logic), (5, elementwise.select),
    (5, elementwise.cast), (9, reductions.reduction), (1, reductions.argmax), (2, reductions.cumsum), (4, reductions.softmax),
    (2, layout.transpose), (3, layout.reshape), (1, layout.broadcast), (2, layout.slice_), (1, layout.concat), (1, layout.pad),
    (1, layout.gather), (1, layout.scatter_add), (1, layout.one_hot), (1, layout.batched_gather),
    (1, layout.batched_scatter_add), (2, sorting.sort), (2, sorting.top_k), (4, products.linear), (4, products.matmul),
    (2, norms.layer_norm), (1, norms.group_norm), (2, norms.batch_norm), (1, norms.batch_norm_inference), (2, losses.pair_loss), (1, losses.class_loss),
    (1, losses.accuracy), (1, losses.binary_cross_entropy), (1, losses.kl_div), (4, convolutions.conv2d), (2, convolutions.conv_transpose2d),
    (1, convolutions.backward_input), (1, convolutions.backward_weight),
    (2, images.pool2d), (1, images.adaptive_pool2d), (1, images.upsample), (1, images.window_sum),
    (1, images.local_response_norm), (1, images.crop_resize), (1, images.augment_images), (1, elementwise.in_training), (2, randoms.dropout),
    (3, attention.attention), (6, attention.block), (1, transformers.rotary), (4, transformers.tokens), (8, scans.scan),
] + [(4, motif) for motif in motifs.MOTIFS]
SHARES = np.cumsum([share for share, _ in DRAWS])
LARGE = [40, 64, 65, 100, 129]
ELEMENTS = ["f32"] * 6 + ["f16"] * 4 + ["bf16"] * 4 + ["f64"]
POLICIES = ["torch", "torch", "torch-cpu", "apex-o1", "apex-o2", "apex-o3", "tf", "tf", "relay", "relax", "keras", "jmp",
            "ort"]
SHARING = 200  # seeds
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33]


def draw(g):
    return DRAWS[int(np.searchsorted(SHARES, g.below(int(SHARES[-1])), side="right"))][1](g)


@dataclasses.dataclass
class Setting:
    """Choices that neighbouring seeds share: few sizes, so that kernels are cached, and an element type."""
    sizes: list
    element: str
    optimizers: list

    @classmethod
    def of(cls, seed):
        rng = np.random.default_rng([SHARING, seed // SHARING])
        sizes = SIZES if rng.integers(8) else LARGE
        return cls([int(size) for size in rng.choice(sizes, 1 + rng.integers(3))], str(rng.choice(ELEMENTS)),
                   [optimizers.draw_optimizer(rng) for _ in range(2)])


def begin(g, setting):
    """Some inputs, of which most have one shape."""
    g.sizes = setting.sizes
    shape = tuple(g.choice(g.sizes) for _ in range(g.choice([1, 2, 2, 2, 2, 3])))
    if int(np.prod(shape)) > 4000:
        shape = shape[-2:]
    for _ in range(1 + g.below(3)):
        own = shape if g.chance(70) else tuple(g.choice([1, size]) for size in shape)[g.below(2):]
        g.input(Type(setting.element, own))
    if g.chance(10):
        g.input(Type("i1", shape))
    if g.chance(10):
        g.input(Type("i32", shape))


def grow(g, most):
    wanted = 2 + g.below(most)
    for _ in range(4 * wanted):
        if len(g.nodes) >= wanted:
            break
        draw(g)


def choose_results(g):
    made = [value for node in g.nodes for value in node.results if value in set(g.values)]
    chosen = set(g.results) | {value for value in made if g.chance(20)} | set(made[-1:])
    # A value that nothing reads would be left out, and not be tested.
    read = {value for node in g.nodes for value in node.operands}
    chosen |= {value for value in made if value not in read}
    g.results = [value for value in g.all_values() if value in chosen]


def scalar(g, value):
    """A number made of a value, f32."""
    if value.type.element != "f32":
        value = elementwise.cast(g, value, "f32")
    # The weights differ, as the gradient would else be the same for all elements.
    product = value and elementwise.binary(g, value, g.input(value.type), ["mp.mul"])
    return product and (product if not product.type.shape else reductions.reduction(
        g, product, ["mp.mean" if g.chance(70) else "mp.sum"], list(range(len(product.type.shape))), keepdim=False))


def number_of(g):
    """The sum of numbers made of some values, to be differentiated; None if none could be made."""
    made = [value for node in g.nodes for value in node.results if value in set(g.values) and value.type.is_float]
    read = {value for node in g.nodes for value in node.operands}
    chosen = [value for value in made if value not in read or g.chance(10)]
    numbers = [scalar(g, value) for value in chosen]
    if not numbers or not all(numbers):
        return None
    total = numbers[0]
    for number in numbers[1:]:
        total = total and elementwise.binary(g, total, number, ["mp.add"])
    return total


def begun(rng, setting):
    g = Graph(rng)
    begin(g, setting)
    g.opens = g.chance(50)
    choose_autocast(g, setting.element)
    return g


def choose_autocast(g, element):
    if element == "f32" and g.chance(25):
        g.low, g.policy = g.choice(["f16", "bf16"]), g.choice(POLICIES)
        if g.policy == "tf":
            g.policy = {"f16": "tf-fp16", "bf16": "tf-bf16"}[g.low]


def value_graph(rng, setting):
    g = begun(rng, setting)
    grow(g, 13)
    if not g.nodes:
        return None
    choose_results(g)
    return g


def gradient_graph(rng, setting):
    g = begun(rng, setting)
    grow(g, 10)
    return differentiated(g)


def differentiated(g):
    """Adds the derivatives of a number that is made of the graph's last values."""
    # A number that is made of what a loop stacks does not depend on the same value where the loop leaves it.
    left = {value for scan in g.scans for value in scan.results}
    between = [value for node in g.nodes for value in node.results
               if value in set(g.values) - left and value.type.is_float]
    number = number_of(g)
    if number is None or not number.node:
        return None
    sources = [value for value in g.inputs if value.type.is_float] + [value for value in between if g.chance(10)]
    sources = [source for source, gradient in zip(sources, g.gradients(number, sources)) if gradient is not None]
    if not sources:
        return None
    g.results = [number] + [value for value in between if g.chance(10)]
    g.gradient = (number, sources, [Type(source.type.element, source.type.shape) for source in sources])
    return g


def made_parameter(g, value):
    """Trains an input: an f32 variable, cast if the graph computes in 16 bits."""
    if value.type.element in ("f32", "f64"):
        value.data = "variable"
        return value
    master = Value(g.name("p"), value.type.of("f32"), value.number, data="variable")
    node = Node("mp.cast", "", f"{master.type} to {value.type}", [master], lambda x: x, lambda gradient, *_: [gradient], 1,
                [value])
    value.node, value.data = node, ""
    g.inputs[g.inputs.index(value)] = master
    g.nodes.insert(0, node)
    return master


def used_in_training(g):
    """The values that the loss is computed from while a graph trains."""
    used = set(g.results)
    for node in reversed(g.nodes):
        if used & set(node.results):
            used |= set(node.operands[:1] if node.head == "mp.in_training" else node.operands)
    return used


def step_graph(rng, setting):
    """A network with a loss, and how it is trained."""
    g = begun(rng, setting)
    grow(g, 8)
    number = number_of(g)
    if number is None or not number.node:
        return None
    if g.low != "bf16" and g.chance(25):
        g.spoiler = g.input(Type("f32", ()), 1.0)
        number = elementwise.binary(g, number, g.spoiler, ["mp.mul"])
    if g.low == "f16":
        number.node.attributes += ' {mp.autocast = "f32"}'  # a scaled loss may not be f16
    g.results = [number]
    pruned(g)
    reached = set(value for value, gradient in zip(g.inputs, g.gradients(number, g.inputs)) if gradient is not None)
    used = used_in_training(g)
    chosen = [value for value in g.inputs if value.type.is_float and value is not g.spoiler and g.chance(70) and value in used]
    if not reached & set(chosen):
        return None
    parameters = [made_parameter(g, value) for value in chosen]
    ranked = [value.type.shape[0] for value in g.inputs if value.data == "argument" and value.type.shape]
    g.batch = ranked[0] if ranked else 4
    for value in g.inputs:
        if value.data == "argument" and value.type.shape and value.type.shape[0] != g.batch:
            value.data = "variable"  # a buffer
    g.recipe = optimizers.draw(g, parameters, setting.optimizers)
    gradients = g.gradients(number, parameters)
    optimizers.make_sparse(g, g.recipe, [value for value, gradient in zip(parameters, gradients) if gradient is not None])
    return g


def example_graph(rng, seed):
    """Each of the examples, by its results and by its gradients."""
    number, asks_gradients = divmod(seed, 2)

    def finish(g, value):
        if asks_gradients:
            return differentiated(g)
        g.results.append(value)
        return g
    return examples.graph(rng, number, finish)


def decode_graph(rng, setting):
    g = texts.graph(rng, setting, choose_autocast)
    return g and pruned(g)


def graph_of(mode, seed):
    """The graph of a seed; a draw that comes to nothing is followed by another of the same seed."""
    rng, setting = np.random.default_rng(seed), seed if mode == "example" else Setting.of(seed)
    while True:
        graph = MODES[mode](rng, setting)
        if graph is not None and not is_refused(graph):
            return graph


def is_refused(graph):
    """Apex's first level promotes: it refuses the 16-bit type that it does not cast to."""
    other = {"f16": "bf16", "bf16": "f16"}.get(graph.low)
    return graph.policy == "apex-o1" and any(value.type.element == other for value in graph.all_values())


MODES = {"value": value_graph, "gradient": gradient_graph, "step": step_graph, "decode": decode_graph, "example": example_graph}
