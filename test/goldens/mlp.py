"""Training steps of the 784-512-256-10 MLP on Fashion-MNIST, as README.md here describes."""

import math
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F

from files import read_idx

BATCH = 128
SCHEDULE_STEPS = 2345  # 5 epochs of 469 batches
OVERFLOW = {"init_scale": 2.0**24, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 4}
OVERFLOW_STEPS = 40


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(784, 512)
        self.fc2 = torch.nn.Linear(512, 256)
        self.fc3 = torch.nn.Linear(256, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def initial_weights():
    """PyTorch's default initialisation, rounded to f16, by parameter name. The seed is one
    whose overflow sequence keeps clear of the threshold (see `goldens`)."""
    torch.manual_seed(1)
    return {name: value.to(torch.float16) for name, value in Mlp().state_dict().items()}


def batches(data, count):
    images = read_idx(Path(data) / "train-images-idx3-ubyte.gz")
    labels = read_idx(Path(data) / "train-labels-idx1-ubyte.gz")
    for i in range(count):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        x = torch.from_numpy(images[rows].reshape(-1, 784).astype(numpy.float32)) / 255
        yield x, torch.from_numpy(labels[rows].astype(numpy.int64))


def train(weights, data, steps, dtype=None, scaler=None):
    """Runs `steps` steps; `dtype` is autocast's or None. Returns one entry per step."""
    model = Mlp()
    model.load_state_dict({name: value.float() for name, value in weights.items()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1, end_factor=0, total_iters=SCHEDULE_STEPS)
    scaler = scaler or torch.amp.GradScaler("cpu", enabled=False)
    records = []
    for x, target in batches(data, steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), target)
        scale, lr = scaler.get_scale(), optimizer.param_groups[0]["lr"]
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in model.parameters()))
        skipped = not math.isfinite(norm)
        scaler.step(optimizer)
        scaler.update()
        if not skipped:
            schedule.step()
        records.append({"loss": loss.item(), "scale": scale, "skipped": skipped, "lr": lr,
                        "grad_norm": norm if not skipped else None})
    return records


def overflowing(weights, data, nudge=1.0):
    """The fp16 sequence. `nudge` multiplies the scale, which moves the threshold of overflow."""
    settings = {**OVERFLOW, "init_scale": OVERFLOW["init_scale"] * nudge}
    scaler = torch.amp.GradScaler("cpu", **settings)
    return train(weights, data, OVERFLOW_STEPS, torch.float16, scaler)


def columns(records):
    return {key: [record[key] for record in records] for key in records[0]}


def goldens(data):
    """(weights as numpy arrays, the content of mlp-steps.json)."""
    weights = initial_weights()
    fp16 = overflowing(weights, data)
    skipped = [record["skipped"] for record in fp16]
    for nudge in (1.03, 1 / 1.03):
        moved = [record["skipped"] for record in overflowing(weights, data, nudge)]
        if moved != skipped:
            raise SystemExit(f"the overflow sequence hangs on rounding: at {nudge:.3f} it is\n{moved}\nnot\n{skipped}")
    steps = {
        "torch": torch.__version__,
        "batch": BATCH,
        "schedule_steps": SCHEDULE_STEPS,
        "scaler": OVERFLOW,
        "fp32": columns(train(weights, data, 10)),
        "bf16": columns(train(weights, data, 10, torch.bfloat16)),
        "fp16": columns(fp16),
    }
    return {name: value.numpy() for name, value in weights.items()}, steps
