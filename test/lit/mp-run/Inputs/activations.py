"""Prints whether the activations of the first plan take at most a share of those of the second: activations.py SHARE A B."""

import json
import sys

some, all_of_them = (dict(json.load(open(path))["bytes"])["activations"] for path in sys.argv[2:4])
share = some / all_of_them
print(f"activations within {sys.argv[1]}" if share <= float(sys.argv[1]) else f"activations take {share:.3f}")
