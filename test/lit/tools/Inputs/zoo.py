"""The numbers of parameters of all networks of mp-zoo, and whether each compiles to a step."""

import math
import re
import subprocess


def output(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


images, texts = ([line.split()[0] for line in table.splitlines()[1:]] for table in output("mp-zoo", "list").split("\n\n"))
small = dict.fromkeys(images, ("--image", "32", "--data", "cifar10", "--width", "0.25"))
small |= dict.fromkeys(texts, ("--tokens", "16", "--layers", "2", "--width", "0.25"))
for name in images + texts:
    for options in ((), small[name]):
        module = output("mp-zoo", name, *options)
        output("mp-opt", "--mp-specialize=batch=2", "--mp-train-pipeline=total-steps=10", text=module)
        if not options:
            shapes = re.findall(r"mp\.variable @\S+ : tensor<([\dx]*)x?f32>", module)
            print(name, sum(math.prod(int(size) for size in shape.split("x") if size) for shape in shapes))
print(len(small), "networks compile to a step, in their own size and small")
