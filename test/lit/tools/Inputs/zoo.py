"""The numbers of parameters of all networks of mp-zoo, and whether each compiles to a step."""

import math
import re
import subprocess


def output(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


names = [line.split()[0] for line in output("mp-zoo", "list").splitlines()[1:]]
for name in names:
    for options in ((), ("--image", "32", "--data", "cifar10", "--width", "0.25")):
        module = output("mp-zoo", name, *options)
        output("mp-opt", "--mp-specialize=batch=2", "--mp-train-pipeline=total-steps=10", text=module)
        if not options:
            shapes = re.findall(r"mp\.variable @\S+ : tensor<([\dx]*)x?f32>", module)
            print(name, sum(math.prod(int(size) for size in shape.split("x") if size) for shape in shapes))
print(len(names), "networks compile to a step, in their own size and narrow for small images")
