"""torchvision's colours: images and factors, and what each of its functions makes of them, alone and one after the other."""

import torch
import torchvision
from torchvision.transforms.v2 import functional as T

STEPS = {"brightness": T.adjust_brightness, "contrast": T.adjust_contrast, "saturation": T.adjust_saturation,
         "hue": T.adjust_hue}


def goldens():
    """Images are channels last and from 0 to 1; there are greys and pure colours among them, and ties of two channels."""
    generator = torch.Generator().manual_seed(3)
    images = torch.randint(0, 256, (5, 4, 6, 3), generator=generator).float()
    images[0, 0] = torch.tensor([[0, 0, 0], [255, 255, 255], [80, 80, 80], [255, 0, 0], [0, 255, 0], [0, 0, 255]])
    images[1, 1] = torch.tensor([[255, 255, 0], [0, 255, 255], [255, 0, 255], [9, 9, 200], [9, 200, 9], [200, 9, 9]])
    images = images.div(255).permute(0, 3, 1, 2)
    factors = {"brightness": [0.0, 0.6, 1.0, 1.3, 1.9], "contrast": [0.4, 1.7, 0.0, 1.0, 1.2],
               "saturation": [1.8, 0.5, 1.1, 0.0, 1.0], "hue": [0.31, -0.5, 0.5, 0.0, -0.07]}

    def adjusted(pixels, name):
        return torch.stack([STEPS[name](image, factor) for image, factor in zip(pixels, factors[name])])

    results, all_of_them = {name: adjusted(images, name) for name in STEPS}, images
    for name in STEPS:
        all_of_them = adjusted(all_of_them, name)
    flat = lambda pixels: [round(x, 7) for x in pixels.permute(0, 2, 3, 1).flatten().tolist()]
    return {"torchvision": torchvision.__version__, "shape": [5, 4, 6, 3], "bytes": [round(x * 255) for x in flat(images)],
            "factors": factors, "results": {name: flat(pixels) for name, pixels in {**results, "all": all_of_them}.items()}}
