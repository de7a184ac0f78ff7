"""The tensors of a safetensors file, and whether another file has the same: export.py FILE OTHER."""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    metadata = header.pop("__metadata__")
    return metadata, {
        name: (tensor["dtype"], tensor["shape"], data[slice(*tensor["data_offsets"])]) for name, tensor in header.items()
    }


metadata, weights = read(sys.argv[1])
_, run = read(sys.argv[2])
print(*(word for item in metadata.items() for word in item))
for name, tensor in sorted(weights.items()):
    print(name, tensor[0], tensor[1], "as in the run" if run[name] == tensor else "another")
