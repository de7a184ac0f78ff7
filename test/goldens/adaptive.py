"""Goldens of torch.nn.AdaptiveLogSoftmaxWithLoss: the loss, and gradients of its input and variables, in f64."""

import torch

ROWS, FEATURES = 6, 8
CASES = [
    {"classes": 12, "cutoffs": [4, 8], "div_value": 2.0},
    {"classes": 12, "cutoffs": [3], "div_value": 4.0, "head_bias": True},
    {"classes": 20, "cutoffs": [2, 5, 11], "div_value": 2.0},
]


def listed(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def case(given, generator):
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(FEATURES, given["classes"], given["cutoffs"], given["div_value"],
                                                given.get("head_bias", False)).double()
    weights = {name: (torch.randn(*w.shape, generator=generator) * 16).round().double() / 16
               for name, w in layer.named_parameters()}
    layer.load_state_dict(weights)
    x = (torch.randn(ROWS, FEATURES, generator=generator) * 16).round().double() / 16
    x.requires_grad_()
    targets = torch.randint(given["classes"], (ROWS,), generator=generator)
    loss = layer(x, targets).loss
    loss.backward()
    # A cluster without a target has none.
    gradients = {name: torch.zeros_like(w) if w.grad is None else w.grad for name, w in layer.named_parameters()}
    return {**given, "x": listed(x), "targets": targets.tolist(), "loss": [loss.item()], "gradient": listed(x.grad),
            "weights": {name: {"shape": list(w.shape), "values": listed(w), "gradient": listed(gradients[name])}
                        for name, w in weights.items()}}


def goldens():
    generator = torch.Generator().manual_seed(5)
    return {"torch": torch.__version__, "rows": ROWS, "features": FEATURES, "cases": [case(c, generator) for c in CASES]}
