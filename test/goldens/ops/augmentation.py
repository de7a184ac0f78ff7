"""Boxes of images in one size: PyTorch's interpolation of each crop. Images are channels last."""

import torch
from torchvision.transforms.v2 import functional as T

from cases import FLOATS, forward
from ops.upsample import bilinear


def crop(dtype, boxes, size):
    def compute(x, *_):
        parts = [x[n:n + 1, top:top + height, left:left + width] for n, (top, left, height, width) in enumerate(boxes)]
        return torch.cat([bilinear(dtype, size, corners=False)(part) for part in parts])
    return compute


def crop_bytes(boxes, size):
    """torchvision's crops of the same numbers as floats, rounded. Its own of bytes have weights of 16 bits."""
    def compute(x, *_):
        def crops(images):
            parts = [T.resized_crop(image, *box, size, antialias=False) for image, box in zip(images, boxes)]
            return torch.stack(parts).permute(0, 2, 3, 1).contiguous()
        images = x.permute(0, 3, 1, 2)
        result = crops(images.float()).round()
        assert (crops(images).float() - result).abs().max() <= 1, "not what torchvision computes"
        return result.to(torch.uint8)
    return compute


def operands(x, boxes):
    return [x, *torch.tensor(boxes, dtype=torch.float32).T.contiguous()]


def cases(generator):
    # (top, left, height, width): all, corners, one pixel, a line.
    boxes = [(0, 0, 9, 7), (3, 2, 6, 5), (0, 4, 5, 3), (8, 6, 1, 1), (2, 0, 1, 7)]
    pixels = torch.randint(0, 256, (5, 9, 7, 3), generator=generator)

    def case(x, size, compute):
        text = f"mp.crop_resize %a, %b, %c, %d, %e size{size} : {{a}}, {{b}}"
        return forward(text, operands(x, boxes), compute, at="largest")

    # f32 holds these places, and so every tie of two bytes, exactly.
    for size in ([4, 8], [8, 2], [16, 4], [1, 1]):
        yield case(pixels.to(torch.uint8), size, crop_bytes(boxes, size))
    for dtype in FLOATS:
        x = pixels[..., :2].div(64).to(dtype)
        yield case(x, [4, 4], crop(dtype, boxes, [4, 4]))
        yield case(x, [11, 5], crop(dtype, boxes, [11, 5]))
