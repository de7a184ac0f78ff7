"""Bytes that a step's launches move and that the run plans, of each bench in argv."""

import json
import sys

sizes = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        bench = json.load(file)
    sizes.append((sum(launch["bytes"] for launch in bench["launches"]), bench["planned_bytes"]))
    print(f"{path.removesuffix('.json')}: {sizes[-1][0]} bytes, {sizes[-1][1]} planned")
if all(first > other for first, other in zip(sizes[0], sizes[1])):
    print("f32 moves more and takes more")
