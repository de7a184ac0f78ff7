#!/usr/bin/env python3
"""Writes zoo.json: losses and gradients of torchvision's networks with the channels and weights of zoo_cases.py.

    VENV/bin/pip install torch torchvision numpy
    VENV/bin/python test/goldens/zoo.py --tools build/release/bin [NETWORK...]

The modules are torchvision's own, whose leaves are replaced by those of fewer channels. For each network: the losses of ten steps of
SGD with momentum in double, in f32 and under autocast to bf16, and of the first step in double, the sizes and the
fingerprints of all gradients that f32 is exact enough for."""

import argparse
import copy
import json
from pathlib import Path

import torch
import torch.nn.functional as F
import torchvision

import zoo_cases

HERE = Path(__file__).resolve().parent
#: A gradient that PyTorch's own f32 has further from double, as a part of its largest element, says nothing about other arithmetic;
#: from these weights, or from some that differ by PART, which moves an activation across a kink here and there.
OWN, DISTURBED, PART = 2e-4, 4, 2.0 ** -23


def resnet50_cifar(num_classes):
    """A 3x3 stem without pooling, as everybody takes for images of 32 pixels."""
    model = torchvision.models.resnet50(num_classes=num_classes)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = torch.nn.Identity()
    return model


NETWORKS = {
    "alexnet": torchvision.models.alexnet,
    "vgg16": torchvision.models.vgg16,
    "googlenet": lambda num_classes: torchvision.models.googlenet(num_classes=num_classes, init_weights=False),
    "inception-v3": lambda num_classes: torchvision.models.inception_v3(num_classes=num_classes, init_weights=False),
    "resnet50": torchvision.models.resnet50,
    "resnet50-cifar": resnet50_cifar,
    "mobilenet-v2": torchvision.models.mobilenet_v2,
    "vit-tiny": lambda num_classes: torchvision.models.VisionTransformer(64, 16, 12, 3, 96, 384, num_classes=num_classes),
}


def narrowed(module, shapes, name):
    """The leaf with as many channels as the weights have."""
    shape = shapes.get(f"{name}.weight")
    if isinstance(module, torch.nn.Conv2d):
        groups = shape[0] if module.groups == module.in_channels > 1 else module.groups
        return torch.nn.Conv2d(shape[1] * groups, shape[0], module.kernel_size, module.stride, module.padding, module.dilation, groups,
                               module.bias is not None)
    if isinstance(module, torch.nn.BatchNorm2d):
        return torch.nn.BatchNorm2d(shape[0], module.eps, module.momentum)
    if isinstance(module, torch.nn.Linear) and not isinstance(module, torch.nn.modules.linear.NonDynamicallyQuantizableLinear):
        return torch.nn.Linear(shape[1], shape[0], module.bias is not None)
    if isinstance(module, torch.nn.Dropout):
        return torch.nn.Identity()
    return None


def network(name_of_case, text):
    model = NETWORKS[name_of_case](num_classes=zoo_cases.CLASSES)
    shapes = zoo_cases.shapes(text)
    for name, module in list(model.named_modules()):
        leaf = narrowed(module, shapes, name) if name else None
        if leaf is not None:
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, leaf)
    state = {name: torch.from_numpy(array) for name, array in zoo_cases.weights(text, zoo_cases.CASES[name_of_case]).items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all(name.endswith("num_batches_tracked") for name in missing), (missing, unexpected)
    return model.train()


def loss_of(model, images, labels, autocast):
    scaled = (images / 255 - zoo_cases.MEAN) / zoo_cases.DEVIATION
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = model(scaled.permute(0, 3, 1, 2))
    parts = logits if isinstance(logits, tuple) else (logits,)
    losses = [F.cross_entropy(part.float() if autocast else part, labels) for part in parts]
    return losses[0] + sum(0.3 * loss for loss in losses[1:])


def disturbed(model, seed):
    """The model with weights that are larger or smaller by PART, or as they were."""
    model = copy.deepcopy(model)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in model.parameters():
            value *= 1 + PART * torch.randint(-1, 2, value.shape, generator=random)
    return model


def train(model, case, autocast=False, steps=zoo_cases.STEPS):
    """The losses of the steps, and the gradients of the first."""
    kind = next(model.parameters()).dtype
    images, labels = (torch.from_numpy(array) for array in zoo_cases.images(case))
    optimizer = torch.optim.SGD(model.parameters(), lr=case["rate"], momentum=0.9)
    losses, gradients = [], {}
    for step in range(steps):
        rows = slice(step * case["batch"], (step + 1) * case["batch"])
        optimizer.zero_grad()
        loss = loss_of(model, images[rows].to(kind), labels[rows].long(), autocast)
        loss.backward()
        gradients = gradients or {name: value.grad.numpy().copy() for name, value in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return losses, gradients


def golden(tools, name):
    case = zoo_cases.CASES[name]
    model = network(name, zoo_cases.module(tools, case))
    exact, gradients = train(copy.deepcopy(model).double(), case)
    single, rounded = train(copy.deepcopy(model), case)
    others = [rounded, *(train(disturbed(model, seed), case, steps=1)[1] for seed in range(DISTURBED))]
    mixed, _ = train(model, case, autocast=True)
    apart = max(abs(a - b) / b for a, b in zip(single, exact))
    print(f"{name:15} loss {exact[0]:.4f} to {exact[-1]:.4f}; from double: f32 {apart:.1e}, "
          f"bf16 {max(abs(a - b) / b for a, b in zip(mixed, exact)):.1e}", flush=True)
    largest = {key: float(abs(value).max()) for key, value in gradients.items()}
    kept = [key for key, value in gradients.items()
            if max(abs(other[key] - value).max() for other in others) <= OWN * zoo_cases.size_of(key, largest)]
    print(f"{'':15} {len(gradients) - len(kept)} of {len(gradients)} gradients are further than {OWN} in f32, and left out", flush=True)
    return {"case": case, "left_out": len(gradients) - len(kept), "losses": exact, "losses_f32": single, "losses_bf16": mixed,
            "gradients": {key: [float(f"{zoo_cases.size_of(key, largest):.6e}"), *zoo_cases.fingerprint(key, gradients[key])] for key in kept}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of mp-zoo")
    parser.add_argument("networks", nargs="*", choices=[[], *NETWORKS], default=[], help="those to write again (all)")
    options = parser.parse_args()
    torch.set_num_threads(2)
    path = HERE / "zoo.json"
    all_goldens = json.loads(path.read_text())["networks"] if path.exists() else {}
    all_goldens |= {name: golden(options.tools, name) for name in options.networks or NETWORKS}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in all_goldens.items()]
    path.write_text(f'{{"torch": "{torch.__version__}", "torchvision": "{torchvision.__version__}", "networks": {{\n' + ",\n".join(lines) +
                    "\n}}\n")


if __name__ == "__main__":
    main()
