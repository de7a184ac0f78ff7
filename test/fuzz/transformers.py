"""What transformers begin and end with: rows of a table, a class token, positions, and a loss over words."""

from elementwise import binary
from graph import Type
from layout import broadcast_to, gather, joined, reshaped
from losses import class_loss
from products import linear, operand_like


def tokens(g):
    """A small language or vision model without its blocks."""
    element = g.choice(["f32", "f16", "bf16"])
    first = next((value.type.shape[0] for value in g.inputs if value.type.shape), 3)
    rows, length, width, words = min(first, 9), 1 + g.below(4), g.choice([2, 4, 5, 8]), 3 + g.below(8)
    x = gather(g, g.input(Type(element, (words, width))), (rows, length), dim=0)
    if x and g.chance(50):
        token = broadcast_to(g, g.input(Type(element, (1, 1, width))), (rows, 1, width))
        x = token and joined(g, [token, x], 1)
    if x and g.chance(60):
        x = binary(g, x, operand_like(g, element, x.type.shape[g.below(2):]), ["mp.add"])
    if x and g.chance(50):  # a head or two, whose channels are last
        heads = g.choice([1, 2]) if width % 2 == 0 else 1
        x = reshaped(g, x, (*x.type.shape[:2], heads, width // heads))
        x = x and reshaped(g, x, (x.type.shape[0] * x.type.shape[1], width))
    elif x and g.chance(70):
        x = reshaped(g, x, (x.type.shape[0] * x.type.shape[1], width))
    x = x and linear(g, x, words)
    if x and len(x.type.shape) == 2 and g.chance(50):
        x = reshaped(g, x, (rows, x.type.shape[0] // rows, words))
    return x and class_loss(g, x=x)
