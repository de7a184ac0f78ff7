"""Goldens of torch.nn.LSTM, GRU and RNN: results, last states, and gradients of a weighted sum of both."""

import torch

BATCH, STEPS, FEATURES, HIDDEN = 2, 5, 3, 4
CASES = [
    ("lstm", {}), ("lstm", {"num_layers": 2}), ("lstm", {"bidirectional": True}), ("lstm", {"bias": False}),
    ("lstm", {"proj_size": 2}), ("lstm", {"num_layers": 2, "bidirectional": True, "proj_size": 3}),
    ("gru", {}), ("gru", {"num_layers": 2, "bidirectional": True}), ("gru", {"bias": False}),
    ("rnn", {}), ("rnn", {"nonlinearity": "relu"}), ("rnn", {"num_layers": 3, "bidirectional": True}),
]

# Layers whose sequences end earlier than others.
PACKED = [("lstm", {}), ("lstm", {"num_layers": 2, "bidirectional": True, "proj_size": 3}),
          ("gru", {"num_layers": 2, "bidirectional": True}), ("rnn", {"bidirectional": True})]
LENGTHS = [3, 5]
# Layers whose gradients are those of a gradient: of the squares of that of the input.
SECOND = [("lstm", {"num_layers": 2}), ("gru", {"bidirectional": True}), ("rnn", {})]


def numbers(generator, *shape):
    """Numbers that are short as text, and exact in f32."""
    return (torch.randn(*shape, generator=generator) * 16).round().double() / 32


def listed(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def packed(layer, x, first):
    """What a layer makes of sequences of these lengths, filled up with zeros again."""
    pack = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False)
    out, last = layer(pack, first)
    return torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=STEPS)[0], last


def case(kind, options, withState, generator, isPacked=False, isSecond=False):
    """One layer in f64; `batch_first`, as Mantissa has it."""
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[kind](
        FEATURES, HIDDEN, batch_first=True, dtype=torch.float64, **options)
    weights = {name: numbers(generator, *value.shape) for name, value in layer.named_parameters()}
    layer.load_state_dict(weights)
    directions = (2 if options.get("bidirectional") else 1) * options.get("num_layers", 1)
    sizes = [options.get("proj_size") or HIDDEN] + ([HIDDEN] if kind == "lstm" else [])
    x = numbers(generator, BATCH, STEPS, FEATURES)
    first = [numbers(generator, directions, BATCH, size) if withState else torch.zeros(directions, BATCH, size).double()
             for size in sizes]
    leaves = [x, *first] if withState else [x]
    for leaf in leaves:
        leaf.requires_grad_()
    given = tuple(first) if kind == "lstm" else first[0]
    out, last = packed(layer, x, given) if isPacked else layer(x, given)
    results = [out, *(last if kind == "lstm" else [last])]
    probes = [numbers(generator, *result.shape) for result in results]
    loss = sum((result * probe).sum() for result, probe in zip(results, probes))
    if isSecond:
        loss = torch.autograd.grad(loss, x, create_graph=True)[0].square().sum()
    loss.backward()
    return {"kind": kind, "options": options, "x": listed(x), "first": [listed(s) for s in first] if withState else [],
            "weights": {name: {"shape": list(w.shape), "values": listed(w)} for name, w in weights.items()},
            "results": [listed(r) for r in results], "probes": [listed(p) for p in probes],
            "gradients": {name: listed(w.grad) for name, w in layer.named_parameters()},
            "gradients of inputs": [listed(leaf.grad) for leaf in leaves],
            **({"lengths": LENGTHS} if isPacked else {}), **({"second": True} if isSecond else {})}


def goldens():
    generator = torch.Generator().manual_seed(3)
    return {"torch": torch.__version__, "batch": BATCH, "steps": STEPS, "features": FEATURES, "hidden": HIDDEN,
            "cases": [case(kind, options, withState, generator)
                      for kind, options in CASES for withState in (False, True)]
            + [case(kind, options, withState, generator, isPacked=True)
               for kind, options in PACKED for withState in (False, True)]
            + [case(kind, options, True, generator, isSecond=True) for kind, options in SECOND]}
