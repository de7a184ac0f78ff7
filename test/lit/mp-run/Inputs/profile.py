"""Prints what of a profile does not depend on the clock."""

import json
import sys

PARAMETERS = 10762
KEYS = {"copy_gbps", "graph_nodes", "host_microseconds", "launches"}
LAUNCH_KEYS = {"kernel", "summary", "microseconds", "bytes", "flops", "sources"}

profile = json.load(open(sys.argv[1]))
launches = profile["launches"]
print("keys", set(profile) == KEYS and all(set(launch) == LAUNCH_KEYS for launch in launches))
print("measured", min(profile[key] for key in KEYS - {"launches"}) > 0 and sum(launch["microseconds"] for launch in launches) > 0)
print("nodes", profile["graph_nodes"] >= len(launches) > 0)
print("bytes", all(launch["bytes"] > 0 for launch in launches))
# Smaller kernels check before the update whether its result fits into f16.
update = max(launch["bytes"] for launch in launches if "adamw" in launch["summary"])
print(f"adamw {update / PARAMETERS:.2f} bytes a parameter")
