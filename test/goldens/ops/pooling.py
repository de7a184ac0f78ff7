"""Maxima and means of windows. Images are channels last."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both, forward


def last(function):
    """`function` of images with the channels first, as one of images with the channels last."""
    return lambda x: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous()


def lists(window, strides=(1, 1), low=(0, 0), high=None, dilations=(1, 1)):
    text = f"window{list(window)}"
    for name, value, default in (("strides", strides, 1), ("low", low, 0), ("high", low if high is None else high, 0),
                                 ("dilations", dilations, 1)):
        if any(number != default for number in value):
            text += f" {name}{list(value)}"
    return text


def maxima(x):
    for window, strides, pad, dilations, ceil in (
            ((2, 2), (2, 2), (0, 0), (1, 1), False), ((3, 3), (2, 2), (1, 1), (1, 1), False), ((3, 2), (1, 3), (1, 1), (1, 1), True),
            ((1, 5), (3, 1), (0, 2), (1, 1), False), ((2, 3), (2, 1), (1, 1), (1, 2), True), ((5, 5), (1, 1), (2, 2), (1, 1), False),
            ((2, 2), (3, 3), (0, 0), (1, 1), True), ((8, 3), (1, 2), (4, 1), (1, 1), False)):
        text = lists(window, strides, pad, None, dilations) + (" ceil_mode" if ceil else "")
        yield from both(f"mp.max_pool2d %a {text}", [x], ulps=0, compute=last(
            lambda v: F.max_pool2d(v, window, strides, pad, dilations, ceil)))
    # PyTorch pads evenly; what is never the maximum is minus infinity.
    uneven = last(lambda v: F.max_pool2d(F.pad(v, (0, 1, 1, 0), value=-float("inf")), (2, 3), (2, 2)))
    yield from both(f"mp.max_pool2d %a {lists((2, 3), (2, 2), (1, 0), (0, 1))}", [x], uneven, ulps=0)
    for size in ([1, 1], [3, 3], [5, 4], [7, 6], [9, 2]):
        yield from both(f"mp.adaptive_max_pool2d %a size{size}", [x], last(lambda v: F.adaptive_max_pool2d(v, size)), ulps=0)


def means(x):
    for window, strides, pad, ceil, counts in (
            ((2, 2), (2, 2), (0, 0), False, True), ((3, 3), (2, 2), (1, 1), False, True), ((3, 3), (2, 2), (1, 1), False, False),
            ((3, 2), (1, 3), (1, 1), True, True), ((3, 2), (1, 3), (1, 1), True, False), ((1, 5), (3, 1), (0, 2), False, True),
            ((5, 5), (1, 1), (2, 2), False, False), ((2, 2), (3, 3), (0, 0), True, True), ((8, 3), (1, 2), (4, 1), False, True)):
        text = lists(window, strides, pad) + ("" if counts else " exclude_pad") + (" ceil_mode" if ceil else "")
        yield from both(f"mp.avg_pool2d %a {text}", [x], at="largest", compute=last(
            lambda v: F.avg_pool2d(v, window, strides, pad, ceil, counts)))
    uneven = last(lambda v: F.avg_pool2d(F.pad(v, (0, 1, 1, 0)), (2, 3), (2, 2)))
    yield from both(f"mp.avg_pool2d %a {lists((2, 3), (2, 2), (1, 0), (0, 1))}", [x], uneven, at="largest")
    for size in ([1, 1], [3, 3], [5, 4], [7, 6], [9, 2]):
        yield from both(f"mp.adaptive_avg_pool2d %a size{size}", [x], last(lambda v: F.adaptive_avg_pool2d(v, size)), at="largest")


def edges(dtype):
    """NaN, infinities, zeros of both signs, ties; no image."""
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([[nan, 1.0, 2.0, 2.0, -inf, -inf], [3.0, nan, 2.0, 2.0, -inf, -inf], [0.0, -0.0, -1.0, inf, 1.0, 1.0],
                      [-0.0, 0.0, inf, -1.0, 0.5, 1.0]]).to(dtype).reshape(1, 4, 6, 1).repeat(1, 1, 1, 3).contiguous()
    for text, compute in (("window[2, 2] strides[2, 2]", lambda v: F.max_pool2d(v, 2)),
                          ("window[3, 3] strides[1, 2] low[1, 1] high[1, 1]", lambda v: F.max_pool2d(v, 3, (1, 2), 1))):
        yield from both(f"mp.max_pool2d %a {text}", [x], last(compute), ulps=0)
    yield from both("mp.adaptive_max_pool2d %a size[3, 4]", [x], last(lambda v: F.adaptive_max_pool2d(v, (3, 4))), ulps=0)
    yield forward("mp.avg_pool2d %a window[2, 2] strides[2, 2]", [x], last(lambda v: F.avg_pool2d(v, 2)))
    ties = torch.randint(0, 3, (2, 5, 4, 4), generator=torch.Generator().manual_seed(3)).to(dtype)
    yield from both("mp.max_pool2d %a window[3, 3] strides[2, 1]", [ties], last(lambda v: F.max_pool2d(v, 3, (2, 1))), ulps=0)
    yield from both("mp.adaptive_max_pool2d %a size[4, 2]", [ties], last(lambda v: F.adaptive_max_pool2d(v, (4, 2))), ulps=0)
    none = ties[:0].contiguous()
    yield from both("mp.max_pool2d %a window[3, 3] strides[2, 1]", [none], last(lambda v: F.max_pool2d(v, 3, (2, 1))))
    yield from both("mp.avg_pool2d %a window[3, 3] strides[2, 1]", [none], last(lambda v: F.avg_pool2d(v, 3, (2, 1))))


def indices(dtype, generator):
    """PyTorch's index counts elements of the image; ours counts taps of the window."""
    x = torch.randint(-2, 3, (1, 5, 6, 3), generator=generator).to(dtype)

    def numbers(v):
        flat = F.max_pool2d(v.permute(0, 3, 1, 2), (3, 2), (2, 1), (1, 0), return_indices=True)[1].permute(0, 2, 3, 1)
        rows, columns = torch.arange(flat.shape[1]).reshape(-1, 1, 1) * 2 - 1, torch.arange(flat.shape[2]).reshape(-1, 1)
        return ((flat // 6 - rows) * 2 + flat % 6 - columns).to(torch.uint8)

    yield forward("mp.max_pool2d_index %a places[3, 5] window[3, 2] strides[2, 1] low[1, 0] high[1, 0]", [x], numbers)
    # More taps than a byte counts.
    wide = torch.randint(-9, 9, (2, 17, 18, 2), generator=generator).to(dtype)
    flat = last(lambda v: F.max_pool2d(v, (17, 18), return_indices=True)[1])
    yield forward("mp.max_pool2d_index %a places[1, 1] window[17, 18]", [wide], lambda v: flat(v).int())


def cases(generator):
    for dtype in FLOATS:
        # Numbers of few digits, for the sake of the file's size.
        x = torch.randn(1, 7, 6, 3, generator=generator).mul(64).round().div(64).to(dtype)
        yield from maxima(x)
        yield from means(x)
        yield from edges(dtype)
        yield from indices(dtype, generator)
