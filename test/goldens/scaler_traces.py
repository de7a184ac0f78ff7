"""Loss scales of every system over sequences of overflows.

Each class is one system's update, in that system's own terms and in its own arithmetic, so that what they have in common
in `mp.update_scale` is not presupposed here. Nothing of them is run: README.md here says which versions were read.
"""

import random

import numpy

F32 = numpy.float32


class Raised(Exception):
    """The system ends the run."""


class Torch:
    """torch.amp.GradScaler: a tensor of f32 on the device; products in f64, and no floor."""

    def __init__(self, init=65536.0, growth=2.0, backoff=0.5, interval=2000):
        self.scale, self.tracker = F32(init), 0
        self.growth, self.backoff, self.interval = growth, backoff, interval

    def step(self, overflow):
        if overflow:
            self.scale, self.tracker = F32(float(self.scale) * self.backoff), 0
            return
        self.tracker += 1
        if self.tracker == self.interval:
            grown = F32(float(self.scale) * self.growth)
            if numpy.isfinite(grown):
                self.scale = grown
            self.tracker = 0


class Apex:
    """apex.amp's LossScaler, dynamic: a Python float with a ceiling, and a floor if one is given."""

    def __init__(self, init=2.0**16, factor=2.0, window=2000, floor=None, ceiling=2.0**24):
        self.scale, self.tracker = min(ceiling, init), 0
        self.factor, self.window, self.floor, self.ceiling = factor, window, floor, ceiling

    def step(self, overflow):
        if overflow:
            lowered = self.scale / self.factor
            self.scale = max(self.floor, lowered) if self.floor else lowered
            self.tracker = 0
        else:
            self.tracker += 1
        if self.tracker == self.window:
            self.scale = min(self.ceiling, self.scale * self.factor)
            self.tracker = 0


class ApexHysteresis:
    """apex's kernel update_scale_hysteresis: every clean step restores the hysteresis."""

    def __init__(self, init=65536.0, growth=2.0, backoff=0.5, interval=2000, hysteresis=2):
        self.scale, self.tracker, self.hysteresis = F32(init), 0, hysteresis
        self.growth, self.backoff, self.interval, self.full = growth, backoff, interval, hysteresis

    def step(self, overflow):
        if overflow:
            self.hysteresis -= 1
            self.tracker = 0
            if self.hysteresis <= 0:
                self.scale = F32(float(self.scale) * self.backoff)
            return
        if self.tracker + 1 == self.interval:
            grown = F32(float(self.scale) * self.growth)
            if numpy.isfinite(grown):
                self.scale = grown
            self.tracker = 0
        else:
            self.tracker += 1
        self.hysteresis = self.full


class Keras:
    """Keras 3's LossScaleOptimizer: neither floor nor ceiling."""

    def __init__(self, init=2.0**15, interval=2000):
        self.scale, self.tracker, self.interval = F32(init), 0, interval

    def step(self, overflow):
        if overflow:
            self.tracker, self.scale = 0, self.scale / F32(2)
        elif self.tracker == self.interval - 1:
            self.tracker, self.scale = 0, self.scale * F32(2)
        else:
            self.tracker += 1


class Keras2:
    """tf.keras' DynamicLossScale: at least 1, and assigned only if finite."""

    def __init__(self, init=2.0**15, interval=2000, multiplier=2.0):
        self.scale, self.tracker, self.interval, self.multiplier = F32(init), 0, interval, F32(multiplier)

    def step(self, overflow):
        if overflow:
            self.tracker, self.scale = 0, max(self.scale / self.multiplier, F32(1))
            return
        if self.tracker + 1 >= self.interval:
            grown = self.scale * self.multiplier
            if numpy.isfinite(grown):
                self.scale = grown
            self.tracker = 0
        else:
            self.tracker += 1


class DeepSpeed:
    """DeepSpeed's DynamicLossScaler for ZeRO: iterations are numbered, and growth looks one back."""

    def __init__(self, init=2.0**16, factor=2.0, window=1000, floor=1.0, hysteresis=2, consecutive=False):
        self.scale, self.factor, self.window, self.floor = init, factor, window, floor
        self.hysteresis = self.full = hysteresis
        self.consecutive = consecutive
        self.iteration, self.last_overflow = 0, -1

    @property
    def tracker(self):
        """Steps that count for growth, by Mantissa's counter: -1 right after an overflow."""
        stable = self.iteration - 1 - self.last_overflow - 1
        return stable % self.window if stable >= 0 else stable

    def step(self, overflow):
        if overflow:
            if self.full == 1 or self.hysteresis == 1:
                if self.scale == self.floor:
                    raise Raised
                self.scale = max(self.scale / self.factor, self.floor)
            else:
                self.hysteresis -= 1
            self.last_overflow = self.iteration
        else:
            if self.consecutive:
                self.hysteresis = self.full
            stable = self.iteration - self.last_overflow - 1
            if stable > 0 and stable % self.window == 0:
                if not self.consecutive:
                    self.hysteresis = self.full
                self.scale *= self.factor
        self.iteration += 1


class Megatron:
    """Megatron-LM's DynamicGradScaler: tensors of f32; growth alone restores the hysteresis."""

    def __init__(self, init=2.0**32, growth=2.0, backoff=0.5, interval=1000, floor=1.0, hysteresis=2):
        self.scale, self.tracker, self.hysteresis = F32(init), 0, hysteresis
        self.growth, self.backoff, self.interval = F32(growth), F32(backoff), interval
        self.floor, self.full = F32(floor), hysteresis

    def step(self, overflow):
        if overflow:
            self.tracker = 0
            self.hysteresis -= 1
            if self.hysteresis <= 0:
                self.scale = max(self.scale * self.backoff, self.floor)
            return
        self.tracker += 1
        if self.tracker == self.interval:
            self.tracker, self.hysteresis = 0, self.full
            self.scale = self.scale * self.growth


class Fairseq:
    """fairseq's DynamicLossScaler: lowers the scale if enough of the steps since the last change overflowed."""

    def __init__(self, init=2.0**7, factor=2.0, window=2**14, tolerance=0.0, floor=1e-4):
        self.scale, self.factor, self.window, self.tolerance, self.floor = init, factor, window, tolerance, floor
        self.iteration, self.last_overflow, self.last_rescale, self.overflows = 0, -1, -1, 0

    @property
    def tracker(self):
        return (self.iteration - 1 - self.last_overflow) % self.window

    def step(self, overflow):
        if overflow:
            before = self.scale
            since = self.iteration - self.last_rescale
            self.last_overflow = self.iteration
            self.overflows += 1
            if self.overflows / float(since) >= self.tolerance:
                self.scale /= self.factor
                self.last_rescale, self.overflows = self.iteration, 0
            if self.scale <= self.floor:
                self.scale = before
                raise Raised
        elif (self.iteration - self.last_overflow) % self.window == 0:
            self.scale *= self.factor
            self.last_rescale = self.iteration
        self.iteration += 1


class Jmp:
    """jmp's DynamicLossScale: a counter modulo the period."""

    def __init__(self, init=2.0**15, period=2000, factor=2, floor=1.0):
        self.scale, self.tracker, self.period, self.factor, self.floor = F32(init), 0, period, F32(factor), F32(floor)

    def step(self, overflow):
        if overflow:
            self.scale = max(self.floor, self.scale / self.factor)
            self.tracker = 0
            return
        if self.tracker == self.period - 1:
            grown = self.scale * self.factor
            if numpy.isfinite(grown):
                self.scale = grown
        self.tracker = (self.tracker + 1) % self.period


# The steps by which systems differ: growth on the Nth or the (N+1)th clean step, overflows before and after one, a
# burst after a burst, and a clean step in the middle of one.
TELLING = "0000000011000001010001101110000000000110000000000010000101100000"
# name of the field in mp.scaler -> its name in the class
GROWTH = {"torch": "interval", "apex": "window", "apex-hysteresis": "interval", "keras": "interval", "keras2": "interval",
          "deepspeed": "window", "deepspeed-consecutive": "window", "megatron": "interval", "fairseq": "window",
          "jmp": "period"}
SYSTEMS = {"torch": Torch, "apex": Apex, "apex-hysteresis": ApexHysteresis, "keras": Keras, "keras2": Keras2,
           "deepspeed": DeepSpeed, "deepspeed-consecutive": lambda **how: DeepSpeed(consecutive=True, **how),
           "megatron": Megatron, "fairseq": Fairseq, "jmp": Jmp}
INFINITY = "0x7FF0000000000000"
# (preset, the tested extreme, fields of mp.scaler as text, the same for the class, overflows)
EXTREMES = [
    ("torch", "collapses to zero where no floor is asked for", {"min_scale": "0.0"}, {}, "1" * 170),
    ("torch", "factors that are no powers of two", {"init_scale": "1000.0", "growth_factor": "1.5", "backoff_factor": "0.9",
                                                    "growth_interval": "4"},
     {"init": 1000.0, "growth": 1.5, "backoff": 0.9, "interval": 4}, TELLING),
    ("torch", "growth stops below infinity", {"growth_interval": "1"}, {"interval": 1}, "0" * 120 + "10010"),
    ("apex", "grows to its ceiling", {"growth_interval": "2"}, {"window": 2}, "0" * 30 + "1101"),
    ("apex", "a floor of its own", {"min_scale": "128.0", "growth_interval": "3"}, {"floor": 128.0, "window": 3},
     "1" * 20 + "0" * 12),
    ("apex-hysteresis", "three overflows in a row", {"hysteresis": "3", "growth_interval": "4"},
     {"hysteresis": 3, "interval": 4}, TELLING),
    # torch and Megatron assert more than 1; the kernel accepts any factor.
    ("apex-hysteresis", "never grows", {"growth_factor": "1.0", "growth_interval": "3"}, {"growth": 1.0, "interval": 3}, TELLING),
    ("keras", "grows to infinity where no ceiling is asked for", {"max_scale": INFINITY, "growth_interval": "1"},
     {"interval": 1}, "0" * 113 + "1111"),
    ("keras2", "stays at 1", {"growth_interval": "3"}, {"interval": 3}, "1" * 20 + "0" * 12),
    ("deepspeed", "ends at its minimum", {"init_scale": "16.0", "growth_interval": "3"}, {"init": 16.0, "window": 3},
     "1" * 40),
    ("deepspeed", "no hysteresis", {"hysteresis": "1", "growth_interval": "4"}, {"hysteresis": 1, "window": 4}, TELLING),
    ("deepspeed-consecutive", "ends at its minimum", {"init_scale": "4.0"}, {"init": 4.0},
     "00110101011" + "0" * 20 + "1" * 9),
    ("megatron", "stays at its minimum", {"init_scale": "8.0", "growth_interval": "5"}, {"init": 8.0, "interval": 5},
     "1" * 12 + "0" * 30),
    ("fairseq", "ends before its minimum", {"growth_interval": "3"}, {"window": 3}, "1" * 40),
    ("fairseq", "tolerates a quarter", {"tolerance": "0.25", "growth_interval": "6"}, {"tolerance": 0.25, "window": 6},
     TELLING + "1000100000001000" * 4),
    ("jmp", "stays at 1", {"init_scale": "8.0", "growth_interval": "3"}, {"init": 8.0, "period": 3},
     "1" * 12 + "0" * 20),
]


def trace(preset, name, fields, how, flags):
    """The state after every step, until the system ends the run."""
    system = SYSTEMS[preset](**how)
    scales, trackers, hysteresis, raised = [], [], [], False
    with numpy.errstate(over="ignore"):
        for flag in flags:
            try:
                system.step(flag == "1")
            except Raised:
                raised = True
            scales.append("inf" if numpy.isinf(system.scale) else float(system.scale))
            trackers.append(system.tracker)
            hysteresis.append(getattr(system, "hysteresis", 1))
            if raised:
                break
    case = {"preset": preset, "name": name, "fields": fields, "overflows": flags[:len(scales)], "raised": raised,
            "scale": scales}
    if not raised:
        case["growth_tracker"] = trackers
        # DeepSpeed's tracker stays at 1 while others count on.
        case["hysteresis_tracker"] = hysteresis
    return case


def changes(preset):
    """Two growths at the preset's own interval, as [step, scale] where the scale changes."""
    system = SYSTEMS[preset]()
    interval = getattr(system, GROWTH[preset])
    overflow = 7
    found = [[-1, float(system.scale)]]
    steps = 2 * interval + overflow + 5
    for step in range(steps):
        system.step(step == overflow)
        if float(system.scale) != found[-1][1]:
            found.append([step, float(system.scale)])
    return {"preset": preset, "overflow": overflow, "steps": steps, "scale": found}


def goldens():
    """The content of scaler-traces.json."""
    generator = random.Random(3)
    cases = []
    for preset in SYSTEMS:
        cases.append(trace(preset, "growth interval 4", {"growth_interval": "4"}, {GROWTH[preset]: 4}, TELLING))
        flags = "".join(str(int(generator.random() < 0.15)) for _ in range(150))
        cases.append(trace(preset, "random", {"growth_interval": "5"}, {GROWTH[preset]: 5}, flags))
    cases += [trace(*case) for case in EXTREMES]
    return {"cases": cases, "defaults": [changes(preset) for preset in SYSTEMS]}
