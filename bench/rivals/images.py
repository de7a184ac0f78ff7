"""Images as the networks of examples/models take them."""

import torch

#: Mean and deviation of the pixels: those of Fashion-MNIST and CIFAR-10 in examples/models/Models.cpp.
FASHION_MNIST, CIFAR10 = (0.2860, 0.3530), (0.4734, 0.2516)


def normalized(images, dtype, statistics):
    """From bytes [batch, height, width] or [batch, height, width, channels] to what a convolution takes, with channels last."""
    mean, deviation = statistics
    x = images[:, None] if images.dim() == 3 else images.permute(0, 3, 1, 2)
    return ((x.to(dtype) / 255 - mean) / deviation).contiguous(memory_format=torch.channels_last)
