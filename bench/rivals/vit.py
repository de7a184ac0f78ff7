"""vit-tiny of examples/models/VitTiny.cpp in PyTorch: torchvision's module, for images of 32 pixels."""

from torch import nn

from rivals.images import CIFAR10, normalized


class VitTiny(nn.Module):
    def __init__(self):
        super().__init__()
        import torchvision  # what else is compared does without
        self.vit = torchvision.models.VisionTransformer(image_size=32, patch_size=4, num_layers=12, num_heads=3, hidden_dim=192,
                                                        mlp_dim=768, num_classes=10)

    def forward(self, images):
        return self.vit(normalized(images, self.vit.conv_proj.weight.dtype, CIFAR10))
