"""The networks of the goldens of mp-zoo: their weights and images, by a formula, and their modules without what differs from
step to step. Needs NumPy; zoo.py makes the goldens, and test/acceptance/zoo.py compares with them."""

import re
import subprocess

import numpy as np

#: Options of mp-zoo, samples a step, and the learning rate. All layers are there, with fewer channels. The rates are such that
#: PyTorch's own losses in f32 stay within 1e-5 of those in double. The seed of inception-v3's images is one with which no window
#: of its later poolings has two largest values that f32 cannot tell apart: which one gets the gradient decides about all before.
CASES = {
    "alexnet": {"name": "alexnet", "width": 0.25, "image": 64, "batch": 16, "rate": 1e-3},
    "vgg16": {"name": "vgg16", "width": 0.125, "image": 64, "batch": 16, "rate": 1e-4},
    "googlenet": {"name": "googlenet", "width": 0.25, "image": 64, "batch": 32, "rate": 1e-4},
    "inception-v3": {"name": "inception-v3", "width": 0.25, "image": 299, "batch": 16, "rate": 1e-4, "offset": 3, "seed": 5},
    "resnet50": {"name": "resnet50", "width": 0.25, "image": 64, "batch": 32, "rate": 1e-4},
    "resnet50-cifar": {"name": "resnet50-cifar", "width": 0.25, "image": 32, "batch": 32, "rate": 1e-4},
    "mobilenet-v2": {"name": "mobilenet-v2", "width": 0.5, "image": 64, "batch": 32, "rate": 1e-3},
    "vit-tiny": {"name": "vit-tiny", "width": 0.5, "image": 64, "batch": 16, "rate": 1e-3},
}
STEPS, CLASSES = 10, 10
MEAN, DEVIATION = 0.4490, 0.2260  # of mp-zoo's "imagenet"
SAMPLES = 12  # elements of each gradient that are compared
DATA = """  mp.data @train {image = #mp.column<"images.npy" as npy, ui8>, label = #mp.column<"labels.npy" as npy, ui8>}"""


def without_dropout(text):
    for result, operand in re.findall(r"(%\w+) = mp\.dropout (%[\w.#]+)", text):
        text = re.sub(rf"{result}\b", operand, text)
    text = re.sub(r" dropout\(%\w+, [^)]*\)", "", text)
    left_out = "mp.dropout", "mp.random_key", "mp.data"
    return "\n".join(line for line in text.splitlines() if not any(op in line for op in left_out)) + "\n"


def optimizer(case):
    return f"optimizer = #mp.sgd<lr = {case['rate']:e}, momentum = 0.9>"


def module(tools, case):
    """The text of the network without dropout, with a learning rate that stays, and arrays of NumPy as data."""
    text = subprocess.run([tools / "mp-zoo", case["name"], "--image", str(case["image"]), "--classes", str(CLASSES), "--width",
                           str(case["width"]), "--data", "arrays"], check=True, capture_output=True, text=True).stdout
    text = re.sub(r"optimizer = #mp\.sgd<.*", lambda _: optimizer(case) + "}", without_dropout(text))
    return text[:text.rindex("}")] + DATA + "\n}\n"


def shapes(text):
    """{name: shape} of the variables, in PyTorch's order of dimensions."""
    found = {}
    for name, sizes, dims in re.findall(r'mp\.variable (?:buffer )?@"?([\w.]+)"? : tensor<([\dx]*)xf32>(?: dims_in_files\[([\d, ]+)\])?',
                                        text):
        shape = [int(size) for size in sizes.split("x")]
        found[name] = [shape[int(dim)] for dim in dims.split(",")] if dims else shape
    return found


def weight(name, shape, random, offset):
    """Numbers of a size that keeps that of the activations: uniform, by a generator that NumPy has promised not to change.

    What a batch norm adds keeps most activations away from the kink of relu: an activation that rounding moves across zero
    moves all gradients before it, and over ten steps that is more than any arithmetic."""
    numbers = 2 * random.random_sample(shape) - 1
    if offset and name.endswith("bias"):
        return offset + 0.5 * numbers
    if name.endswith("running_var") or (len(shape) == 1 and name.endswith("weight")):
        return 1 + 0.1 * numbers
    if len(shape) == 1 or name.endswith(("class_token", "pos_embedding")):
        return 0.05 * numbers
    return numbers * np.sqrt(6 / np.prod(shape[1:]))


def weights(text, case):
    random = np.random.RandomState(1)
    found = shapes(text)
    offsets = {name: case.get("offset", 2) if name.rpartition(".")[0] + ".running_mean" in found else 0 for name in found}
    return {name: weight(name, shape, random, offsets[name]).astype(np.float32) for name, shape in found.items()}


def arrays(case):
    """The inputs of all steps, by the names of their files: noise around a shade that differs from sample to sample, and classes."""
    random = np.random.RandomState(case.get("seed", 2))
    count, side = case["batch"] * STEPS, case["image"]
    pixels = random.randint(0, 128, (count, side, side, 3)) + random.randint(0, 128, (count, 1, 1, 3))
    return {"images": pixels.astype(np.uint8), "labels": random.randint(0, CLASSES, count).astype(np.uint8)}


def places(name, size):
    """The elements of a gradient that are compared: some of all, evenly, from a place that depends on the name."""
    return (sum(name.encode()) + np.arange(min(SAMPLES, size)) * max(1, size // SAMPLES)) % size


def size_of(name, largest):
    """The largest element of a gradient, of those of all. What a batch norm adds before another one is taken out again, so that
    its gradient is zero but for rounding: a bias counts with a tenth of the weight beside it."""
    beside = largest.get(name.removesuffix("bias") + "weight", 0) if name.endswith(".bias") else 0
    return max(largest[name], beside / 10)


def fingerprint(name, gradient):
    """The largest magnitude of a gradient, its norm, and some of its elements."""
    flat = np.asarray(gradient, np.float64).ravel()
    return [float(f"{number:.6e}") for number in (np.abs(flat).max(), np.sqrt((flat * flat).sum()), *flat[places(name, flat.size)])]
