"""Elements moved, repeated, summed in place."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both, forward


def index_add(size, dim):
    """torch.index_add of updates whose dimensions from `dim` on are those of the indices."""
    def compute(updates, indices, *into):
        rows = updates.flatten(dim, dim + indices.dim() - 1) if indices.dim() else updates.unsqueeze(dim)
        shape = list(rows.shape)
        shape[dim] = size
        start = into[0] if into else torch.zeros(shape, dtype=updates.dtype)
        return start.index_add(dim, indices.flatten().long(), rows)
    return compute


def boxes(x, y):
    yield from both("mp.slice %a offsets[1, 0, 2] sizes[2, -1, 3]", [x], lambda v: v[1:3, :, 2:5], ulps=0)
    yield from both("mp.slice %a offsets[0, 1, 0] sizes[3, 3, 3] strides[1, 1, 2]", [x], lambda v: v[:, 1:, ::2], ulps=0)
    yield from both("mp.pad %a low[0, 1, 2] high[1, 0, 3]", [x], lambda v: F.pad(v, (2, 3, 1, 0, 0, 1)), ulps=0)
    yield from both("mp.pad %a low[0, 0, 1] high[0, 0, 1] value(-1.5)", [x], lambda v: F.pad(v, (1, 1), value=-1.5), ulps=0)
    yield from both("mp.concat %a, %b dim(1)", [x, y], lambda v, w: torch.cat([v, w], 1), ulps=0)
    yield from both("mp.concat %a, %a dim(2) : {a}, {a}", [x], lambda v: torch.cat([v, v], 2), ulps=0)
    yield from both("mp.concat %a, %b, %a dim(1) : {a}, {b}, {a}", [x, y], lambda v, w: torch.cat([v, w, v], 1), ulps=0)


def rows(generator, dtype):
    table = torch.randn(7, 5, generator=generator).to(dtype)
    for indices in (torch.tensor([3, 0, 3, 6]), torch.tensor([[1, 1], [0, 6], [2, 1]], dtype=torch.int32)):
        yield from both("mp.gather %a, %b dim(0)", [table, indices], lambda t, i: F.embedding(i, t))
    columns = torch.tensor([4, 4, 0], dtype=torch.uint8)
    yield from both("mp.gather %a, %b dim(1)", [table, columns], lambda t, i: t.index_select(1, i.long()))
    # Sums of many terms are rounded once.
    updates = torch.randn(40, 3, generator=generator).to(dtype)
    indices = torch.randint(0, 5, (40,), generator=generator)
    base = torch.randn(6, 3, generator=generator).to(dtype)
    yield from both("mp.scatter_add %a, %b dim(0) size(6)", [updates, indices], index_add(6, 0), at="largest")
    yield from both("mp.scatter_add %a, %b into %c dim(0)", [updates, indices, base], index_add(6, 0), at="largest")
    wide = torch.randn(2, 2, 3, generator=generator).to(dtype)
    pairs = torch.tensor([[0, 3, 3], [1, 3, 0]], dtype=torch.int32)
    yield from both("mp.scatter_add %a, %b dim(1) size(4)", [wide, pairs], index_add(4, 1), at="largest")


def sums(x):
    for dim in range(3):
        yield from both(f"mp.cumsum %a dim({dim})", [x], lambda v: v.cumsum(dim), at="largest")
    yield from both("mp.cumsum %a dim(1) reverse", [x], lambda v: v.flip(1).cumsum(1).flip(1), at="largest")
    yield from both("mp.cumsum %a dim(2) reverse", [x], lambda v: v.flip(2).cumsum(2).flip(2), at="largest")


def cases(generator):
    for dtype in FLOATS:
        x = torch.randn(3, 4, 5, generator=generator).to(dtype)
        y = torch.randn(3, 2, 5, generator=generator).to(dtype)
        yield from boxes(x, y)
        yield from rows(generator, dtype)
        yield from sums(x)
        labels = torch.tensor([[3, 0], [4, 4]])
        element = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
        yield forward(f"mp.one_hot %a classes(5) as {element}", [labels], lambda i: F.one_hot(i, 5).double(), dtypes=[dtype])
    # Integers and flags.
    n = torch.randint(-9, 9, (4, 6), generator=generator)
    for dtype in (torch.int32, torch.int64):
        yield forward("mp.cumsum %a dim(1)", [n.to(dtype)], lambda v: v.cumsum(1, dtype=dtype))
        yield forward("mp.slice %a offsets[1, 1] sizes[2, -1] strides[2, 3]", [n.to(dtype)], lambda v: v[1::2, 1::3])
        yield forward("mp.scatter_add %a, %b dim(1) size(3)", [n.to(dtype), torch.tensor([2, 0, 0, 1, 2, 2])], index_add(3, 1))
    flags = n > 0
    yield forward("mp.pad %a low[1, 0] high[0, 2] value(1.0)", [flags], lambda v: F.pad(v, (0, 2, 1, 0), value=True))
    yield forward("mp.concat %a, %a dim(0) : {a}, {a}", [flags], lambda v: torch.cat([v, v]))
    yield forward("mp.gather %a, %b dim(1)", [flags, torch.tensor([5, 0, 5])], lambda v, i: v.index_select(1, i))
    yield forward("mp.one_hot %a classes(3) as i64", [torch.tensor([2, 0, 1])], lambda i: F.one_hot(i, 3))
    # NaN and infinities are moved unchanged.
    x = torch.tensor([[1.0, float("inf")], [float("nan"), -float("inf")]])
    yield forward("mp.pad %a low[0, 1] high[1, 0] value(2.0)", [x], lambda v: F.pad(v, (1, 0, 0, 1), value=2.0), ulps=0)
    yield forward("mp.gather %a, %b dim(0)", [x, torch.tensor([1, 1, 0])], lambda v, i: v[i], ulps=0)
