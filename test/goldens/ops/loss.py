"""Losses."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both


def cases(generator):
    for dtype in FLOATS:
        logits = (2 * torch.randn(6, 5, generator=generator)).to(dtype)
        for ignore_index, labels in ((-100, [0, 4, 2, -100, 1, 2]), (2, [0, 4, 2, 3, 1, 2])):
            target = torch.tensor(labels)
            for smoothing in (0.0, 0.1):
                for reduction in ("mean", "sum"):
                    op = (f"mp.cross_entropy %a, %b reduction({reduction})"
                          f" {{ignore_index = {ignore_index}, label_smoothing = {smoothing}}}")
                    compute = lambda x, y: F.cross_entropy(x, y, ignore_index=ignore_index, label_smoothing=smoothing,
                                                           reduction=reduction)
                    yield from both(op, [logits, target], compute)
