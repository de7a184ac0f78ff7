"""Rotated heads, as Hugging Face's models rotate them."""

import torch

from cases import FLOATS, both, forward


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def rotate_neighbours(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)


def rotary(dim, interleaved=False, inverse=False):
    """transformers.models.llama.modeling_llama.apply_rotary_pos_emb, and GPT-J's; `dim` holds the tokens."""
    def compute(x, cos, sin):
        shape = [*cos.shape[:-1], *[1] * (x.dim() - 2 - dim), x.shape[-1]]
        spread = (lambda t: t.repeat_interleave(2, -1)) if interleaved else (lambda t: torch.cat((t, t), -1))
        rotate = rotate_neighbours if interleaved else rotate_half
        return x * spread(cos).reshape(shape) + rotate(x) * spread(-sin if inverse else sin).reshape(shape)
    return compute


def angles(generator, shape, base=10000.0):
    """The tables of Llama, for tokens from 0 on, or with other positions for each sample."""
    *samples, tokens, half = shape
    position = torch.arange(tokens) + torch.randint(0, 50, (*samples, 1), generator=generator) if samples else torch.arange(tokens)
    angle = position[..., None].float() * base ** -(torch.arange(half) / half)
    return angle.cos(), angle.sin()


def cases(generator):
    for dtype in FLOATS:
        x = torch.randn(2, 3, 2, 4, generator=generator).to(dtype)
        heads_first = x.transpose(1, 2).contiguous()
        for table in dict.fromkeys((dtype, torch.float32)):
            cos, sin = (t.to(table) for t in angles(generator, (3, 2)))
            for flags in ("", " interleaved", " inverse", " interleaved inverse"):
                own = {"interleaved": "interleaved" in flags, "inverse": "inverse" in flags}
                yield from both(f"mp.rotary_embedding %a, %b, %c dim(1){flags} : {{a}}, {{b}}", [x, cos, sin], rotary(1, **own), at="largest")
        cos, sin = (t.to(dtype) for t in angles(generator, (3, 2)))
        yield from both("mp.rotary_embedding %a, %b, %c dim(2) : {a}, {b}", [heads_first, cos, sin], rotary(2), at="largest")
        yield from both("mp.rotary_embedding %a, %b, %c dim(0) : {a}, {b}", [x[0, :, 0], cos, sin], rotary(0), at="largest")
        cos, sin = (t.to(dtype) for t in angles(generator, (2, 3, 2)))
        yield from both("mp.rotary_embedding %a, %b, %c dim(1) : {a}, {b}", [x, cos, sin], rotary(1), at="largest")
    # What is not finite stays in its pair.
    x = torch.tensor([[1.0, float("inf"), 2.0, 3.0], [float("nan"), -1.0, 2.0, 3.0]])
    cos, sin = angles(generator, (2, 2))
    yield forward("mp.rotary_embedding %a, %b, %c dim(0) : {a}, {b}", [x, cos + 0.5, sin + 0.25], rotary(0), at="largest")
