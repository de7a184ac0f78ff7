"""Images in another size. Images are channels last."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both, forward
from ops.pooling import last


def nearest(x, size):
    """PyTorch computes places in f32, whatever the type of the pixels."""
    return last(lambda v: F.interpolate(v, size=size, mode="nearest"))


def bilinear(dtype, size, corners):
    """PyTorch's places in f32, and its pixels from them in f64."""
    def parts(v, dim, count):
        m = v.shape[dim]
        if m == count:
            first = torch.arange(count)
            return first, first, torch.zeros(count)
        i = torch.arange(count, dtype=torch.float32)
        if corners:
            scale = torch.tensor(float(m - 1)) / torch.tensor(float(max(count - 1, 1))) if count > 1 else torch.tensor(0.0)
            place = i * scale
        else:
            place = ((i + 0.5) * (torch.tensor(float(m)) / torch.tensor(float(count))) - 0.5).clamp(min=0)
        first = place.long().clamp(max=m - 1)
        return first, (first + 1).clamp(max=m - 1), (place - first).clamp(max=1)

    def along(v, dim, count):
        first, second, part = parts(v, dim, count)
        part = part.double().reshape([-1] + [1] * (v.dim() - 1 - dim))
        return (1 - part) * v.index_select(dim, first) + part * v.index_select(dim, second)

    def compute(v):
        result = along(along(v, 2, size[1]), 1, size[0])
        own = last(lambda w: F.interpolate(w, size=size, mode="bilinear", align_corners=corners))(v)
        assert torch.allclose(result, own, atol=1e-4), "not what PyTorch computes"
        return result
    return compute


def cases(generator):
    for dtype in FLOATS:
        x = torch.randn(1, 5, 4, 3, generator=generator).mul(64).round().div(64).to(dtype)
        for size in ([10, 8], [5, 4], [7, 9], [3, 2], [1, 1], [13, 3], [15, 4]):
            yield from both(f"mp.upsample_nearest %a size{size}", [x], nearest(x, size), at="largest")
            for corners in (False, True):
                text = f"mp.upsample_bilinear %a size{size}" + (" align_corners" if corners else "")
                yield from both(text, [x], bilinear(dtype, size, corners), at="largest")
        wide = torch.randn(2, 1, 3, 8, generator=generator).mul(64).round().div(64).to(dtype)
        yield from both("mp.upsample_nearest %a size[3, 7]", [wide], nearest(wide, (3, 7)), at="largest")
        yield from both("mp.upsample_bilinear %a size[3, 7]", [wide], bilinear(dtype, (3, 7), False), at="largest")
        none = wide[:0].contiguous()
        yield from both("mp.upsample_nearest %a size[3, 7]", [none], lambda v: v.new_zeros(0, 3, 7, 8) + v.sum())
        odd = torch.tensor([float("nan"), 1, float("inf"), -float("inf"), 0, 2]).to(dtype).reshape(1, 2, 3, 1)
        yield forward("mp.upsample_nearest %a size[3, 5]", [odd], nearest(odd, (3, 5)), ulps=0)
    # f32 rounds the ratio of these sizes down, so that a pixel whose place is whole copies the one before it.
    line = torch.arange(4.0).reshape(1, 4, 1, 1)
    yield forward("mp.upsample_nearest %a size[82, 1]", [line], nearest(line, (82, 1)), ulps=0)
