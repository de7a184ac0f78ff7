"""Training steps under a GradScaler, in all the ways that its documentation has: clipping before and after unscale_,
accumulation, several models and optimizers, disabled.

A case is {name, models, recipe, accumulate, start, steps}: `recipe` is the text of an mp.scaler and an mp.train of @losses.
Of each step, `inputs` has a tensor for each micro-batch; `loss`, `scale` (that the step used), `growth_tracker` (after the step),
`skipped` (of each optimizer) and `parameters` (after the step) are PyTorch's. Numbers have the nine digits that tell f32 apart.

A model is two Linear layers, as in PyTorch's own tests of GradScaler (test/test_torch.py). A row of input is x (4 numbers),
an overflow for each of two models, and the target (4). A model's overflow is one more input of its first layer, whose weights
begin as zeros: 0 but in steps that are to overflow, where forward is as it would be, and the gradient of these weights is
beyond the type. So the overflow comes out of the computation, and of one model alone.
"""

import torch
import torch.nn.functional as F

from cases import tensor
from optimizers import attribute

WIDTH, ROWS, STEPS = 4, 4, 10
SCALER = {"init_scale": 1024.0, "growth_interval": 3}
OVERFLOW = {torch.float32: 3e38, torch.float16: 60000.0}
SGD, ADAMW = ("sgd", {"lr": 0.5}), ("adamw", {"lr": 0.05})
# (name, the differences from the defaults of `run`)
CASES = [
    ("plain", {}),
    ("with moments and a schedule", {"optimizers": [ADAMW], "schedule": True}),
    ("clipped behind unscale_", {"clip": "after", "max_norm": 0.1}),
    ("clipped before unscale_, to max_norm times the scale", {"clip": "before", "max_norm": 0.1}),
    ("accumulated", {"accumulate": 2}),
    ("accumulated and clipped", {"accumulate": 2, "clip": "after", "max_norm": 0.1}),
    ("disabled", {"enabled": False}),
    ("in f16", {"dtype": torch.float16, "optimizers": [ADAMW]}),
    ("multiple", {"optimizers": [SGD, ADAMW], "schedule": True}),
    ("multiple of one kind", {"optimizers": [SGD, SGD], "names": ["first", "second"]}),
    ("multiple, a loss each", {"optimizers": [SGD, ("sgd", {"lr": 0.25, "momentum": 0.5})], "own_losses": True}),
    ("multiple, each clipped", {"optimizers": [ADAMW, SGD], "clip": "after", "max_norm": 0.1}),
    ("multiple, accumulated", {"optimizers": [SGD, ADAMW], "accumulate": 2}),
    ("multiple, disabled", {"optimizers": [SGD, ADAMW], "enabled": False}),
    ("multiple in f16", {"optimizers": [SGD, ADAMW], "dtype": torch.float16}),
]


def short(value):
    """tensor(value), with nine digits."""
    whole = tensor(value.detach().clone())
    return {**whole, "data": [float(f"{x:.9g}") for x in whole["data"]]}


def make_model(generator):
    """Its weights are numbers that f16 holds."""
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH + 1, WIDTH), torch.nn.Linear(WIDTH, WIDTH))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_((torch.rand(parameter.shape, generator=generator) - 0.5).half())
        model[0].weight[:, WIDTH] = 0
    return model


def make_optimizer(model, kind, settings):
    return {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[kind](model.parameters(), **settings)


def make_data(generator, micro_batches, models, overflow):
    """Steps of micro-batches. In step 2 the second of two models overflows, in step 6 the first one, in step 7 each."""
    steps = []
    for step in range(STEPS):
        window = torch.randn(micro_batches, ROWS, 2 * WIDTH + 2, generator=generator).half().float()
        window[:, :, WIDTH:WIDTH + 2] = 0
        if overflow:
            for model in range(models):
                if step == (6, 2)[model] or step == 7:
                    window[-1, 1, WIDTH + model] = overflow
        steps.append(list(window))
    return steps


def make_losses(models, batch, dtype):
    """Each loss depends on all models, as in PyTorch's test_grad_scaling_multiple."""
    x, target = batch[:, :WIDTH], batch[:, WIDTH + 2:]
    with torch.autocast("cpu", dtype=torch.float16, enabled=dtype == torch.float16):
        outputs = [model(torch.cat([x, batch[:, WIDTH + i:WIDTH + i + 1]], 1)) for i, model in enumerate(models)]
    outputs = [output.float() for output in outputs]
    if len(models) == 1:
        return [F.mse_loss(outputs[0], target)]
    return [F.mse_loss(0.3 * outputs[0] + 0.7 * outputs[1], target), F.mse_loss(0.6 * outputs[0] - 0.4 * outputs[1], target)]


def recipe(optimizers, schedule, clip, max_norm, accumulate, enabled, dtype, names, own_losses):
    """The dialect's text of it."""
    scaler = [f"{key} = {value}" for key, value in SCALER.items()] + ([] if enabled else ["enabled = false"])
    several, groups = len(optimizers) > 1, []
    for i, (kind, settings) in enumerate(optimizers):
        fields = [f'params = ["model{i}.*"]', f"optimizer = {attribute(kind, **settings)}"]
        if schedule:
            fields.append("schedule = #mp.step<step_size = 2, gamma = 0.5>")
        if several and clip:
            fields.append(f"clip_norm = {max_norm}")
        if names:
            fields.append(f'optimizer_name = "{names[i]}"')
        result = (i if own_losses else 2) if several else 0
        groups.append(f"  mp.minimize result({result}) {{{', '.join(fields)}}}\n")
    autocast = " autocast(<dtype = f16>)" if dtype == torch.float16 else ""
    window = f" accumulate({accumulate})" if accumulate > 1 else ""
    clipping = f" attributes {{clip_norm = {max_norm}}}" if clip and not several else ""
    return (f"mp.scaler @scaler {{{', '.join(scaler)}}}\n"
            f"mp.train @step of @losses{autocast} scaler(@scaler){window}{clipping} {{\n{''.join(groups)}}}\n")


def backward(scaler, models, losses, share, own_losses):
    if own_losses:
        for model, loss in zip(models, losses):
            scaler.scale(loss * share).backward(inputs=list(model.parameters()), retain_graph=True)
    else:
        for loss in losses:
            scaler.scale(loss * share).backward(retain_graph=True)


def clip_and_step(scaler, model, optimizer, clip, max_norm, unscale):
    """Whether the optimizer was stepped."""
    if clip == "before":
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm * scaler.get_scale())
    if clip == "after" or unscale:
        scaler.unscale_(optimizer)
    if clip == "after":
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    stepped = []
    handle = optimizer.register_step_post_hook(lambda *_: stepped.append(True))
    scaler.step(optimizer)
    handle.remove()
    return bool(stepped)


def parameters(models):
    return {f"model{i}.{name}": short(value) for i, model in enumerate(models)
            for name, value in model.named_parameters()}


def run(name, optimizers=(SGD,), schedule=False, clip=None, max_norm=None, accumulate=1, enabled=True, dtype=torch.float32,
        names=None, own_losses=False):
    generator = torch.Generator().manual_seed(3)
    models = [make_model(generator) for _ in optimizers]
    data = make_data(generator, accumulate, len(models), OVERFLOW[dtype] if enabled else 0)
    start = parameters(models)
    made = [make_optimizer(model, *optimizer) for model, optimizer in zip(models, optimizers)]
    schedules = [torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) for optimizer in made] if schedule else []
    scaler = torch.amp.GradScaler("cpu", **SCALER, enabled=enabled)
    steps = []
    for window in data:
        for optimizer in made:
            optimizer.zero_grad()
        first = 0.0
        for batch in window:
            losses = make_losses(models, batch, dtype)
            first += losses[0].item() / accumulate
            backward(scaler, models, losses, 1 / accumulate, own_losses)
        scale = scaler.get_scale()
        # The first of several is unscaled by hand, as PyTorch's test does.
        stepped = [clip_and_step(scaler, model, optimizer, clip, max_norm, enabled and i < len(made) - 1)
                   for i, (model, optimizer) in enumerate(zip(models, made))]
        scaler.update()
        for scheduler, was_stepped in zip(schedules, stepped):
            if was_stepped:
                scheduler.step()
        steps.append({"inputs": [short(batch) for batch in window], "loss": first, "scale": scale,
                      "growth_tracker": scaler.state_dict()["_growth_tracker"] if enabled else None,
                      "skipped": [not was_stepped for was_stepped in stepped], "parameters": parameters(models)})
    return {"name": name, "models": len(models), "accumulate": accumulate, "start": start, "steps": steps,
            "recipe": recipe(optimizers, schedule, clip, max_norm, accumulate, enabled, dtype, names, own_losses)}


def check(case):
    """Checks that the event that a case is for happens in it."""
    skips = [step["skipped"] for step in case["steps"]]
    if "disabled" in case["name"]:
        assert not any(map(any, skips)), case["name"]
    elif case["models"] == 1:
        assert [i for i, skip in enumerate(skips) if any(skip)] == [6, 7], (case["name"], skips)
    else:
        assert [i for i, skip in enumerate(skips) if skip == [True, False]] == [6], (case["name"], skips)
        assert [i for i, skip in enumerate(skips) if skip == [False, True]] == [2], (case["name"], skips)
        assert [i for i, skip in enumerate(skips) if skip == [True, True]] == [7], (case["name"], skips)
    return case


def goldens():
    """The content of scaler-protocol.json."""
    return {"torch": torch.__version__, "cases": [check(run(name, **settings)) for name, settings in CASES]}
