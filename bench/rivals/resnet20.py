"""resnet20 of examples/models/ResNet.cpp in PyTorch: the same network with the same names of parameters, without random crops."""

import torch.nn.functional as F
from torch import nn

from rivals.images import CIFAR10, FASHION_MNIST, normalized


def convolution(inputs, outputs, stride):
    return nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, outputs, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = convolution(outputs, outputs, 1), nn.BatchNorm2d(outputs)
        self.stride, self.more = stride, outputs - inputs

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.stride != 1:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.more))
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self, classes=10, channels=1):
        super().__init__()
        self.statistics = FASHION_MNIST if channels == 1 else CIFAR10
        self.conv1, self.bn1 = convolution(channels, 16, 1), nn.BatchNorm2d(16)
        width = 16
        for stage, outputs in enumerate((16, 32, 64), start=1):
            blocks = []
            for number in range(3):
                blocks.append(Block(width, outputs, 2 if stage > 1 and number == 0 else 1))
                width = outputs
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.linear = nn.Linear(64, classes)

    def forward(self, images):
        x = F.relu(self.bn1(self.conv1(normalized(images, self.conv1.weight.dtype, self.statistics))))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.linear(x.mean((2, 3)))
