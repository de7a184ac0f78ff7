"""Each channel divided by a power of the squares of its neighbours. Channels are last."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both
from ops.pooling import last


def window_sum(size, low):
    def compute(x):
        padded = F.pad(x, (low, size - 1 - low))
        return sum(padded[..., i:i + x.shape[-1]] for i in range(size))
    return compute


def cases(generator):
    for dtype in FLOATS:
        for channels in (1, 7, 24):
            x = torch.randn(2, 3, channels, generator=generator).mul(64).round().div(64).to(dtype)
            for size, low in ((5, 2), (4, 2), (3, 0), (3, 2), (20, 11)):
                yield from both(f"mp.window_sum %a size({size}) low({low})", [x], window_sum(size, low), at="largest")
        x = torch.randn(2, 2, 3, 9, generator=generator).mul(64).round().div(64).to(dtype)
        for size, alpha, beta, k in ((5, 1e-4, 0.75, 1.0), (5, 1.0, 0.75, 2.0), (2, 0.5, 0.5, 1.0), (3, 0.5, 1.0, 0.5),
                                     (4, 0.7, 0.6, 1.0), (1, 0.5, 0.75, 1.0), (11, 0.5, 0.75, 1.0)):
            yield from both(f"mp.local_response_norm %a size({size}) {{alpha = {alpha:.5e}, beta = {beta}, k = {k}}}", [x],
                            last(lambda v: F.local_response_norm(v, size, alpha, beta, k)), at="largest")
