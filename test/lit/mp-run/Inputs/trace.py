"""Reads a trace as Chrome does, and prints what of it does not depend on the clock."""

import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"]
threads = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
spans = [event for event in events if event["ph"] == "X"]
assert len(threads) + len(spans) == len(events) and trace["otherData"]["dropped_events"] == 0
assert all(span["dur"] >= 0 and span["ts"] >= 0 and span["pid"] == 1 and span["tid"] in threads for span in spans)


def nested(spans):
    """Whether of any two spans of a thread one holds the other, or they are apart; a nanosecond is rounded."""
    open_until = []
    for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
        end = span["ts"] + span["dur"]
        while open_until and open_until[-1] <= span["ts"] + 0.01:
            open_until.pop()
        if open_until and end > open_until[-1] + 0.01:
            return False
        open_until.append(end)
    return True


print("threads", *sorted(set(threads.values())))
print("categories", *sorted({span["cat"] for span in spans}))
print("steps", sum(span["cat"] == "step" and span["name"] == "step" for span in spans))
print("nested", all(nested([span for span in spans if span["tid"] == thread]) for thread in threads))
print("placed", any("perceptron.mlir:" in span.get("args", {}).get("detail", "") for span in spans if span["cat"] == "kernel"))
