"""What `mp-run search --json` says beside what `mp-diff --json` says of its policy and of torch.

search.py TABLE DIFF: mp-diff compared the policy that was found with torch, on the same batch."""

import json
import sys

table, diff = (json.load(open(path)) for path in sys.argv[1:])


def worst(side):
    """The greatest error of a parameter's gradient, and whose it is."""
    reads = [op for op in diff["ops"] if op["op"] == "mp.read" and op["policies"][side]["gradient"]]
    return max((op["policies"][side]["gradient"]["error"], "@" + op["variable"]) for op in reads)


rows = {row["name"]: row for row in table["policies"]}
for side, name in enumerate(("found", "torch")):
    error, parameter = worst(side)
    row, step = rows[name], diff["policies"][side]["step"]
    print(name, "error", error == row["error"], "parameter", parameter == row["parameter"],
          "bytes", step["bytes"] == row["bytes"], "launches", step["launches"] == row["launches"],
          "casts", diff["policies"][side]["step_casts"] == row["casts"])
found, torch = rows["found"], rows["torch"]
print("within", found["within"] and found["error"] <= table["tolerance"])
says = "cheaper than torch" if found["bytes"] < torch["bytes"] else "no colouring tried is cheaper than torch"
share = f"{found['bytes'] / torch['bytes']:.3f} of its bytes"
print("verdict", table["verdict"].startswith(says) and share in table["verdict"])
# No measured candidate is cheaper and within the tolerance.
tried = [trial["cost"] for trial in table["trials"] if trial["outcome"] != "beyond" and trial["cost"] is not None]
print("least", min(tried) == found["bytes"])
print("of all", table["counted"] == 2 ** len(table["ops"]), table["proven"])
