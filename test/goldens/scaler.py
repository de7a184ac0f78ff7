"""GradScaler's update as a state machine: torch._amp_update_scale_ over overflow sequences."""

import random

import torch

# (name, init_scale, growth_factor, backoff_factor, growth_interval, chance of an overflow, steps)
SETTINGS = [
    ("defaults", 65536.0, 2.0, 0.5, 2000, 0.01, 200),
    ("grows every step", 1.0, 2.0, 0.5, 1, 0.0, 140),
    ("interval 2", 65536.0, 2.0, 0.5, 2, 0.2, 200),
    ("interval 3", 1024.0, 2.0, 0.5, 3, 0.3, 200),
    ("interval 10", 65536.0, 2.0, 0.5, 10, 0.1, 200),
    ("interval 50", 65536.0, 2.0, 0.5, 50, 0.02, 300),
    ("factors 4 and 0.25", 256.0, 4.0, 0.25, 5, 0.15, 200),
    ("factors that are no powers of two", 1000.0, 1.5, 0.9, 4, 0.3, 200),
    ("growth stops below infinity", 2.0**120, 2.0, 0.5, 1, 0.1, 100),
    ("collapses to zero", 65536.0, 2.0, 0.5, 2000, 1.0, 180),
]


def sequence(init_scale, growth, backoff, interval, overflows):
    """Scale and tracker after each step."""
    scale = torch.tensor([init_scale], dtype=torch.float32)
    tracker = torch.zeros(1, dtype=torch.int32)
    scales, trackers = [], []
    for overflow in overflows:
        torch._amp_update_scale_(scale, tracker, torch.tensor([float(overflow)]), growth, backoff, interval)
        scales.append(scale.item())
        trackers.append(tracker.item())
    return scales, trackers


def goldens():
    """The content of scaler-updates.json."""
    generator = random.Random(1)
    cases = []
    for name, init_scale, growth, backoff, interval, chance, steps in SETTINGS:
        overflows = [int(generator.random() < chance) for _ in range(steps)]
        scales, trackers = sequence(init_scale, growth, backoff, interval, overflows)
        cases.append({"name": name, "init_scale": init_scale, "growth_factor": growth, "backoff_factor": backoff,
                      "growth_interval": interval, "found_inf": overflows, "scale": scales,
                      "growth_tracker": trackers})
    return {"torch": torch.__version__, "cases": cases}
