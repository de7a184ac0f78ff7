"""resnet50 of examples/models/ResNet.cpp in PyTorch: the same network with the same names of parameters, without random crops."""

import torch.nn.functional as F
from torch import nn

from rivals.images import CIFAR10, normalized


def convolution(inputs, outputs, window, stride=1):
    return nn.Conv2d(inputs, outputs, window, stride, padding=window // 2, bias=False)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1, self.bn1 = convolution(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = convolution(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = convolution(width, outputs, 1), nn.BatchNorm2d(outputs)
        self.downsample = None
        if inputs != outputs:
            self.downsample = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (self.downsample(x) if self.downsample else x))


class ResNet50(nn.Module):
    """For images below 64 pixels it begins with a window of 3x3 and does not pool."""

    def __init__(self, classes=10, side=32, channels=3):
        super().__init__()
        small = side < 64
        self.conv1 = convolution(channels, 64, 3) if small else convolution(channels, 64, 7, 2)
        self.bn1, self.pool = nn.BatchNorm2d(64), nn.Identity() if small else nn.MaxPool2d(3, 2, padding=1)
        inputs = 64
        for stage, (count, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512)), start=1):
            blocks = []
            for number in range(count):
                blocks.append(Bottleneck(inputs, width, 2 if stage > 1 and number == 0 else 1))
                inputs = 4 * width
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, classes)

    def forward(self, images):
        x = self.pool(F.relu(self.bn1(self.conv1(normalized(images, self.conv1.weight.dtype, CIFAR10)))))
        return self.fc(self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3)))
