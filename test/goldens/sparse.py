"""Steps of optimizers on a table of which each batch uses some rows.

A case is {optimizer, rows, start, batches, tables}: `optimizer` is an attribute of the mp dialect; a batch is the indices
that are used, in order and with repetitions, followed by the gradient of each use, and `tables` holds the table after each
step. All of it is computed by PyTorch, from nn.Embedding(sparse=True).
"""

import torch

from cases import tensor
from optimizers import attribute

ROWS, FEATURES = 12, 3
#: The third uses no row that the first does, and the fourth one row alone.
USES = ([3, 0, 3, 7, 3], [7, 7, 11, 0, 5], [1, 2, 4, 1, 2], [9, 9, 9, 9, 9], [0, 3, 5, 7, 11], [11, 10, 11, 10, 3])


def case(generator, name, make, settings):
    table = torch.nn.Embedding(ROWS, FEATURES, sparse=True)
    table.weight.data = torch.randn(ROWS, FEATURES, generator=generator)
    optimizer = make(table.parameters(), **settings)
    start, batches, tables = tensor(table.weight), [], []
    for step, uses in enumerate(USES):
        gradients = torch.randn(len(uses), FEATURES, generator=generator) * 10.0 ** (step % 3 - 1)
        # Its row is used all the same: the moments decay.
        gradients[step % 3] = 0
        optimizer.zero_grad()
        (table(torch.tensor(uses)) * gradients).sum().backward()
        optimizer.step()
        batches.append({"indices": uses, "gradients": tensor(gradients)})
        tables.append(tensor(table.weight.detach().clone()))
    return {"optimizer": attribute(name, **settings, sparse=True), "rows": ROWS, "start": start, "batches": batches,
            "tables": tables}


def goldens():
    generator = torch.Generator().manual_seed(39)
    families = {
        "adam": (torch.optim.SparseAdam, 0.01, [
            {}, {"betas": (0.8, 0.95), "eps": 1e-3}, {"eps": 1e-1}, {"maximize": True}, {"betas": (0.0, 0.5)}]),
        "adagrad": (torch.optim.Adagrad, 0.1, [{}, {"lr_decay": 0.1}, {"initial_accumulator_value": 0.5}]),
        "sgd": (torch.optim.SGD, 0.1, [{}, {"maximize": True}]),
    }
    return {"torch": torch.__version__, "cases": [
        case(generator, name, make, {"lr": lr, **settings})
        for name, (make, lr, many) in families.items() for settings in many]}
