"""FILE [OTHER]: prints what holds of an mp-diff's JSON, and whether another's errors are others."""

import json
import sys

found = json.load(open(sys.argv[1]))
ops, names = found["ops"], [policy["name"] for policy in found["policies"]]
under = [op["policies"] for op in ops]
print("same", all(row[0] == other for row in under for other in row))
print("ops", [op["number"] for op in ops] == sorted(op["number"] for op in ops) and all(
    [side["name"] for side in row] == names for row in under) and all(op["reference"] == "f64" for op in ops))
reads = [op for op in ops if op["op"] == "mp.read"]
print("read exactly", sorted(op["variable"] for op in reads) == ["b1", "b2", "w1", "w2"] and all(
    side["value"]["error"] == 0 for op in reads for side in op["policies"]))
print("gradients", all(side["gradient"]["error"] >= 0 and side["gradient"]["non_finite"] == 0
                       for op in reads for side in op["policies"]))
print("casts", all(sum(not cast["shared"] for row in under for cast in row[i]["casts"]) == policy["casts"]
                   and (policy["cast_bytes"] > 0) == (policy["casts"] > 0) for i, policy in enumerate(found["policies"])))
print("steps", all(len(policy["step"]["microseconds"]) == 3 and policy["step"]["launches"] > 0 and policy["step"]["bytes"] > 0
                   for policy in found["policies"]))
if len(sys.argv) > 2:
    other = [op["policies"] for op in json.load(open(sys.argv[2]))["ops"]]
    print("other errors", any(a["value"] != b["value"] for mine, its in zip(under, other) for a, b in zip(mine, its)))
