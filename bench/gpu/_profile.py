"""mp-run train --profile: what one step's launches cost. bench/gpu/README.md says what the file holds."""

import json

from _stage import Failed

KEYS = ("copy_gbps", "graph_nodes", "host_microseconds", "launches")


def profile(stage, module, precision, batch):
    """The profile of a step of `module`, as `mp-run train --profile` writes it."""
    path = stage.work / f"profile-{module.stem}-{precision}.json"
    stage.ask("train", module, "--data", stage.data, "--batch", batch, "--precision", precision, "--max-steps", 40,
              "--device", stage.device, "--profile", path)
    found = json.loads(path.read_text())
    missing = [key for key in KEYS if key not in found]
    if missing:
        raise Failed(f"the profile lacks {', '.join(missing)}")
    return found


def gbps(launch):
    """Bytes moved, read and written together, over time; 0 if the launch took no measurable time."""
    return launch["bytes"] / launch["microseconds"] / 1e3 if launch["microseconds"] else 0.0
