#!/usr/bin/env python3
"""PyTorch's scaled_dot_product_attention on a GPU, one question a line of standard input, an answer a line of JSON.

  {"ask": "time", "batch", "tokens", "heads", "depth", "causal"}   {"forward": us, "backward": us}, of bf16
  {"ask": "draw", "folder", "shape"}     {}: writes q.npy, k.npy, v.npy and a gradient, g.npy, exact in bf16
  {"ask": "right", "folder", "causal"}   {"forward": distance, "backward": [distances]} of y.npy, dq.npy, dk.npy and
                                         dv.npy there from what attention in f32 makes of those

Tensors are [batch, tokens, heads, depth] in memory, as ours are. A time is the least of five rounds."""

import json
import sys
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

NAMES = ("q", "k", "v", "g")


def heads_first(tensor):
    return tensor.transpose(1, 2)


def microseconds(run):
    """A call's time on the device, without that of launching it."""
    run()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    calls = max(3, min(50, round(5 / max(begin.elapsed_time(end), 1e-3))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    rounds = []
    for _ in range(5):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        rounds.append(1e3 * begin.elapsed_time(end) / calls)
    return min(rounds)


def times(case):
    shape = (case["batch"], case["tokens"], case["heads"], case["depth"])
    q, k, v, g = (heads_first(torch.randn(shape, device="cuda").bfloat16()) for _ in NAMES)
    aten, causal = torch.ops.aten, case["causal"]
    y, lse, *lengths, seed, offset, _ = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
    backward = aten._scaled_dot_product_flash_attention_backward
    with torch.no_grad(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return {"forward": microseconds(lambda: scaled_dot_product_attention(q, k, v, is_causal=causal)),
                "backward": microseconds(lambda: backward(g, q, k, v, y, lse, *lengths, 0.0, causal, seed, offset))}


def draw(case):
    import numpy
    torch.manual_seed(1)
    for name in NAMES:
        numpy.save(Path(case["folder"]) / f"{name}.npy", torch.randn(case["shape"]).bfloat16().float().numpy())
    return {}


def distances(case):
    import numpy

    def load(name):
        return torch.from_numpy(numpy.load(Path(case["folder"]) / f"{name}.npy")).cuda()
    q, k, v, g = (load(name) for name in NAMES)
    for tensor in (q, k, v):
        tensor.requires_grad_()
    with sdpa_kernel(SDPBackend.MATH):
        y = scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v), is_causal=case["causal"])
    y = y.transpose(1, 2)
    y.backward(g)
    off = [((load(name) - theirs).norm() / theirs.norm()).item()
           for name, theirs in (("y", y), ("dq", q.grad), ("dk", k.grad), ("dv", v.grad))]
    return {"forward": off[0], "backward": off[1:]}


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"time": times, "draw": draw, "right": distances}[case["ask"]](case)), flush=True)


if __name__ == "__main__":
    main()
