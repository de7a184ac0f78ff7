"""Goldens of torch.nn.functional.ctc_loss: losses, and gradients of the logits, in f64."""

import torch

# Steps, classes, labels, and what else: targets with repeated labels, lengths, and one that is too long.
CASES = [
    {"steps": 6, "classes": 4, "targets": [[1, 2], [3, 3]]},
    {"steps": 6, "classes": 4, "targets": [[1, 2], [3, 3]], "reduction": "none"},
    {"steps": 6, "classes": 4, "targets": [[1, 2], [3, 3]], "reduction": "sum"},
    {"steps": 5, "classes": 5, "targets": [[0, 1, 2], [1, 1, 3]], "blank": 4},
    {"steps": 7, "classes": 4, "targets": [[1, 2, 3], [3, 3, 1], [2, 1, 1]], "labels": [2, 3, 0], "inputs": [7, 5, 4]},
    {"steps": 3, "classes": 4, "targets": [[1, 1, 1], [1, 2, 3]], "zero_infinity": True},
    {"steps": 40, "classes": 6, "targets": [[1, 2, 2, 3, 5, 4, 1, 1], [5, 4, 3, 2, 1, 2, 3, 4]]},
    {"steps": 1, "classes": 3, "targets": [[2]]},
]


def listed(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def case(given, generator):
    batch = len(given["targets"])
    logits = (torch.randn(batch, given["steps"], given["classes"], generator=generator) * 16).round().double() / 16
    logits.requires_grad_()
    loss = torch.nn.functional.ctc_loss(
        logits.log_softmax(2).transpose(0, 1), torch.tensor(given["targets"]),
        torch.tensor(given.get("inputs", [given["steps"]] * batch)),
        torch.tensor(given.get("labels", [len(given["targets"][0])] * batch)), blank=given.get("blank", 0),
        reduction=given.get("reduction", "mean"), zero_infinity=given.get("zero_infinity", False))
    loss.sum().backward()
    return {**given, "logits": listed(logits), "loss": listed(loss), "gradient": listed(logits.grad)}


def goldens():
    generator = torch.Generator().manual_seed(4)
    return {"torch": torch.__version__, "cases": [case(given, generator) for given in CASES]}
