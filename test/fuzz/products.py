"""Matrix products."""

from bounded import reduced_to
from graph import Type


def operand_like(g, element, shape):
    """A value of a type, as often one that is there as a new input."""
    known = g.pick(lambda v: v.type == Type(element, tuple(shape)))
    return known if known is not None and g.chance(50) else g.input(Type(element, tuple(shape)))


def sums_type(g, element):
    """The type of the sums, and the attribute that selects it."""
    if element in ("f16", "bf16") and g.chance(15):
        return "f32", " out_dtype(f32)"
    return element, ""


def linear(g, operand=None, out=None, others=None):
    """`others`: the weight, and perhaps the bias; drawn if they are not given."""
    operand = operand or g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) >= 2)
    if operand is None:
        return None
    element, shape = operand.type.element, operand.type.shape
    out = out or g.choice([shape[-1], *g.sizes])
    operands, (result, attributes) = [operand, *(others or ())], (element, "")
    if not others:
        operands.append(operand_like(g, element, (out, shape[-1])))
        if g.chance(50):
            operands.append(operand_like(g, element, (out,)))
        result, attributes = sums_type(g, element)

    def forward(x, w, bias=None):
        y = x.matmul(w.swapped(), element)
        return y if bias is None else y + bias.noisy(2.0 ** -23)

    def backward(gradient, numbers, _):
        x, w, *bias = numbers
        rows = gradient.reshape((-1, out))
        dw = rows.swapped().matmul(x.reshape((-1, shape[-1])), element)
        return [gradient.matmul(w, element), dw, *[rows.sum([0]).reshape((out,)) for _ in bias]]

    return g.add("mp.linear", operands, Type(result, shape[:-1] + (out,)), forward, backward, attributes=attributes)


def matmul(g, lhs=None):
    lhs = lhs or g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) >= 2)
    if lhs is None:
        return None
    shape, element = lhs.type.shape, lhs.type.element
    transpose_a, transpose_b = g.chance(30), g.chance(50)
    m, k = (shape[-1], shape[-2]) if transpose_a else (shape[-2], shape[-1])
    n = g.choice([m, k, *g.sizes])
    batch = shape[:-2] if g.chance(60) else ()
    rhs = operand_like(g, element, (*batch, *((n, k) if transpose_b else (k, n))))
    if g.chance(15) and not batch and len(shape) == 2:  # one lhs for a batch of rhs
        rhs = operand_like(g, element, (2 + g.below(3), *((n, k) if transpose_b else (k, n))))
    leading = shape[:-2] or rhs.type.shape[:-2]
    result, attributes = sums_type(g, element)
    attributes = (" transpose_a" if transpose_a else "") + (" transpose_b" if transpose_b else "") + attributes

    def read(a, b):
        return a.swapped() if transpose_a else a, b.swapped() if transpose_b else b

    def backward(gradient, numbers, _):
        a, b = read(*numbers)
        da, db = gradient.matmul(b.swapped(), element), a.swapped().matmul(gradient, element)
        da, db = read(da, db)
        return [reduced_to(da, numbers[0].shape), reduced_to(db, numbers[1].shape)]

    return g.add("mp.matmul", [lhs, rhs], Type(result, (*leading, m, n)), lambda a, b: (lambda x, y: x.matmul(y, element))(*read(a, b)),
                 backward, attributes=attributes)
