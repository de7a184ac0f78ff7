#!/usr/bin/env python3
"""PyTorch's convolutions, products and attention, one at a time. Each line of standard input is JSON with "runs" and

  "op": "conv2d" with kind (forward, input, weight: the result, and its gradients), images, side, in, out, window, stride, padding
  "op": "matmul" with size and form ("nn", or "nt" where B is stored as [n, k])
  "op": "attention" with kind (forward, backward), batch, tokens, heads, depth, causal: by its flash kernel, whose tensors
        are [batch, heads, tokens, depth], each head by itself

and "type" (f32, bf16). Each is answered by a line of JSON: {"seconds": [CPU time of each run], "torch": version}. Images and
windows are channels_last. The same request again keeps its tensors."""

import json
import sys
import time

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def tensor(*shape, dtype):
    return torch.empty(shape).uniform_(-1, 1).to(dtype)


def convolution(case):
    dtype, window, side = DTYPES[case["type"]], case["window"], case["side"]
    images = tensor(case["images"], case["in"], side, side, dtype=dtype).to(memory_format=torch.channels_last)
    weight = tensor(case["out"], case["in"], window, window, dtype=dtype).to(memory_format=torch.channels_last)
    numbers = {"stride": [case["stride"]] * 2, "padding": [case["padding"]] * 2}
    if case["kind"] == "forward":
        return lambda: torch.nn.functional.conv2d(images, weight, **numbers)
    gradient = torch.ones_like(torch.nn.functional.conv2d(images, weight, **numbers))
    wanted = [case["kind"] == "input", case["kind"] == "weight", False]
    return lambda: torch.ops.aten.convolution_backward(gradient, images, weight, None, **numbers, dilation=[1, 1], transposed=False,
                                                       output_padding=[0, 0], groups=1, output_mask=wanted)


def product(case):
    a, b = (tensor(case["size"], case["size"], dtype=DTYPES[case["type"]]) for _ in range(2))
    return lambda: torch.mm(a, b if case["form"] == "nn" else b.t())


def attention(case):
    dtype, causal = DTYPES[case["type"]], case["causal"]
    shape = (case["batch"], case["heads"], case["tokens"], case["depth"])
    query, key, value, gradient = (tensor(*shape, dtype=dtype) for _ in range(4))
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    if case["kind"] == "forward":
        return lambda: forward(query, key, value, 0.0, causal)
    result, log_sum_exp = forward(query, key, value, 0.0, causal)
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    return lambda: backward(gradient, query, key, value, result, log_sum_exp, 0.0, causal)


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    ready, run = None, None
    for line in sys.stdin:
        case = json.loads(line)
        runs = case.pop("runs")
        if case != ready:
            run = {"conv2d": convolution, "matmul": product, "attention": attention}[case["op"]](case)
            ready = case
            run()
        seconds = []
        for _ in range(runs):
            began = time.process_time()
            run()
            seconds.append(time.process_time() - began)
        print(json.dumps({"seconds": seconds, "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()
