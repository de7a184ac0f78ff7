"""Whether two searches, or two comparisons, under different scalers say the same: first-scale.py search|diff A B."""

import json
import sys

kind, *paths = sys.argv[1:]
tables = [json.load(open(path)) for path in paths]
policies = [{row["name"]: row for row in table["policies"]} for table in tables]


def steps(rows, skipped):
    timed = all(row.get("median_microseconds", 0) > 0 for row in rows)
    print("timed," if timed else "not timed,", "some skipped" if any(map(skipped, rows)) else "none skipped")


if kind == "search":
    within = [{name: row.get("within") for name, row in table.items()} for table in policies]
    print("policies within", "the same" if within[0] == within[1] else within)
    shares = [table["found"]["bytes"] / table["torch"]["bytes"] for table in policies]
    print("cheaper than torch:", "the same" if abs(shares[0] - shares[1]) < 0.02 else shares)
    steps([row for table in policies for row in table.values() if "no_step" not in row], lambda row: row["non_finite"])
else:
    beyond = [[(row["first_beyond"], row["first_gradient_beyond"]) for row in table.values()] for table in policies]
    print("first beyond", "the same" if beyond[0] == beyond[1] else beyond)
    steps([row["step"] for table in policies for row in table.values()], lambda row: row["skipped"])
