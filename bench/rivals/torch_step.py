#!/usr/bin/env python3
"""A training step in PyTorch: the same network, batch, precision and optimizer as ours, data on the device.

Reads commands from standard input, one a line, and answers each by one line of JSON, so that whoever asks can measure
something else in between:
  eager N | compile N | graphs N    {"microseconds": median time of a step over N} ; "graphs" is mode="reduce-overhead"
  products-eager N | ...            {"microseconds": time a step spends in products and convolutions, by PyTorch's profiler}
  memory-eager N | ...              {"bytes": the most memory of this process so far, after N steps; on a GPU, of such a step, without
                                    samples; there CUDA graphs are not counted}
  warm-eager N | ...                {} after the steps that warm up
The first command of a kind also warms up, and compiles; one that fails is answered by {"error": why}. --threads N sets PyTorch's
threads on a CPU."""

import argparse
import json
import resource
import statistics
import sys
import time
import traceback
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from rivals import text  # noqa: E402
from rivals.resnet20 import ResNet20  # noqa: E402
from rivals.resnet50 import ResNet50  # noqa: E402
from rivals.vit import VitTiny  # noqa: E402

DTYPES = {"fp32": None, "tf32": None, "fp16": torch.float16, "bf16": torch.bfloat16}
MODES = {"compile": "default", "graphs": "reduce-overhead"}
BLOCK = 20  # steps between two looks at the clock, at most
#: Networks of images of this shape, beside the MLP, which takes 28x28.
IMAGE_NETWORKS = {"resnet20": (lambda: ResNet20(channels=1), (28, 28)), "resnet20-cifar": (lambda: ResNet20(channels=3), (32, 32, 3)),
                  "resnet50-cifar": (ResNet50, (32, 32, 3)), "vit-tiny": (VitTiny, (32, 32, 3))}
PRODUCTS = {"mm", "addmm", "bmm", "linear", "mkl_linear", "_mkl_linear", "_linear_pointwise", "mkldnn_convolution", "convolution_backward",
            "_convolution_pointwise", "_convolution_pointwise_", "_convolution", "convolution", "cudnn_convolution"}


class Mlp(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, images):
        x = images.flatten(1).float() / 255
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


def labelled(shape):
    """Samples of a classifier of images: bytes of this shape, and labels."""
    def make(samples, generator):
        images = torch.randint(0, 256, (samples, *shape), dtype=torch.uint8, generator=generator)
        return images, torch.randint(0, 10, (samples,), generator=generator)
    return make


def prepared(options, device):
    """The network, its optimizer, and what makes its samples: the inputs of each, and the labels last."""
    if options.network in text.NETWORKS:
        model, optimizer, samples = text.NETWORKS[options.network](*(int(size) for size in options.sizes.split(",")))
        return model.to(device), optimizer, samples
    if options.network == "mlp":
        model = Mlp([int(size) for size in options.sizes.split(",")]).to(device)
        return model, torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2, fused=True), labelled((28, 28))
    make, shape = IMAGE_NETWORKS[options.network]
    model = make().to(device, memory_format=torch.channels_last)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True), labelled(shape)


class Trainer:
    """A network and its step; `kind` says how PyTorch runs it."""

    def __init__(self, kind, options):
        self.device, self.dtype = torch.device(options.device), DTYPES[options.precision]
        self.batch, self.replays = options.batch, kind == "graphs" and self.device.type == "cuda"
        self.model, self.optimizer, make = prepared(options, self.device)
        self.clips = options.network in text.NETWORKS
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=options.precision == "fp16")
        self.loss = torch.compile(self.forward, mode=MODES[kind]) if kind in MODES else self.forward
        generator = torch.Generator().manual_seed(1)
        samples = 20 * self.batch if self.clips else max(20 * self.batch, 8192)
        self.samples = [tensor.to(self.device) for tensor in make(samples, generator)]
        self.order = torch.randperm(samples, generator=generator).to(self.device)
        self.position, self.warm, self.warmup = 0, False, options.warmup

    def forward(self, *inputs):
        *inputs, labels = inputs
        with torch.autocast(self.device.type, dtype=self.dtype or torch.bfloat16, enabled=self.dtype is not None):
            logits = self.model(*inputs)
        return F.cross_entropy(logits.float().flatten(0, -2), labels.flatten())

    def step(self):
        if self.position + self.batch > len(self.order):
            self.position = 0
        rows = self.order[self.position:self.position + self.batch]
        self.position += self.batch
        if self.replays:
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(*(tensor[rows] for tensor in self.samples))
        self.scaler.scale(loss).backward()
        if self.clips:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), text.CLIP_NORM)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def warm_up(self):
        if not self.warm:
            for _ in range(self.warmup):
                self.step()
            self.warm = True
            if self.device.type == "cuda":
                torch.cuda.empty_cache()  # for the other processes of a comparison

    def product_microseconds(self, steps):
        """Time inside ops that multiply matrices: aten's and oneDNN's, without the ops that they call in turn."""
        self.warm_up()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            for _ in range(steps):
                self.step()
        products = [event for event in profile.key_averages() if event.key.split("::")[-1] in PRODUCTS]
        return sum(event.self_cpu_time_total for event in products) / steps

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def microseconds(self, steps):
        self.warm_up()
        times, block = [], min(BLOCK, steps)
        for _ in range(max(steps // block, 1)):
            self.synchronize()
            began = time.perf_counter()
            for _ in range(block):
                self.step()
            self.synchronize()
            times.append(1e6 * (time.perf_counter() - began) / block)
        return statistics.median(times)

    def state_bytes(self):
        """Of parameters, buffers, gradients and the optimizer."""
        parameters = list(self.model.parameters())
        tensors = [*parameters, *self.model.buffers(), *(p.grad for p in parameters if p.grad is not None)]
        slots = [value for state in self.optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
        tensors += [slot for slot in slots if slot.is_cuda]
        return sum(tensor.nbytes for tensor in tensors)

    def most_memory(self, steps):
        if self.device.type == "cuda":
            self.warm_up()
            torch.cuda.reset_peak_memory_stats(self.device)
            for _ in range(steps):
                self.step()
            others = torch.cuda.memory_allocated(self.device) - self.state_bytes()  # samples, and networks of other kinds
            return torch.cuda.max_memory_allocated(self.device) - others
        for _ in range(steps):
            self.step()
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answer_to(what, trainer, steps):
    if what == "warm":
        trainer.warm_up()
        return {}
    if what == "memory":
        return {"bytes": trainer.most_memory(steps)}
    return {"microseconds": (trainer.product_microseconds if what else trainer.microseconds)(steps)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or cpu (%(default)s)")
    parser.add_argument("--precision", choices=DTYPES, default="bf16", help="type of the products (%(default)s)")
    parser.add_argument("--batch", type=int, default=128, help="samples a step (%(default)s)")
    parser.add_argument("--sizes", default="784,512,256,10",
                        help="widths of the layers of the MLP (%(default)s); of gpt and bert: tokens,vocabulary,layers,width,heads;"
                             " of lstm: tokens,vocabulary,layers,width,0 or 1 if it is tied and has dropout")
    parser.add_argument("--network", choices=("mlp", *IMAGE_NETWORKS, *text.NETWORKS), default="mlp", help="(%(default)s)")
    parser.add_argument("--warmup", type=int, default=30, help="steps before the first that count (%(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="on a CPU (0: PyTorch's choice)")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    if options.threads:
        torch.set_num_threads(options.threads)
    trainers = {}
    for line in sys.stdin:
        command, steps = line.split()
        what, _, kind = command.rpartition("-")
        try:
            if kind not in trainers:
                trainers[kind] = Trainer(kind, options)
            answer = answer_to(what, trainers[kind], int(steps))
        except Exception as error:  # whatever PyTorch and its compiler raise; the other kinds go on
            traceback.print_exc()
            trainers.pop(kind, None)
            answer = {"error": f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]}
        print(json.dumps({**answer, "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()
