"""names JSON TENSORS: whether a calibration's tensors are the file's. show LEDGER: prints its lines. same JSON LEDGER:
whether a calibration has what the first line has. follow RUN: compares a run's ledger with its metrics."""

import json
import struct
import sys


def lines(path):
    return [json.loads(line) for line in open(path)]


def names(calibration, tensors):
    data = open(tensors, "rb").read()
    header = json.loads(data[8:8 + struct.unpack_from("<Q", data)[0]])
    gradients = json.load(open(calibration))["gradients"]
    sizes = {name: (entry["data_offsets"][1] - entry["data_offsets"][0]) // 4 for name, entry in header.items()}
    print("tensors", sizes == {gradient["tensor"]: gradient["elements"] for gradient in gradients})


def show(path):
    for line in lines(path):
        flushed, zero = line["all"]["flushed"], line["all"]["zero"]
        share = 100 * flushed // (line["all"]["elements"] - zero)
        print(line["step"], "scale", line["scale"], "records", line["records"], f"flushed {share}%")


def same(calibration, path):
    one, other = json.load(open(calibration)), lines(path)[0]
    print("same", one["gradients"] == other["gradients"] and one["all"] == other["all"])


def follow(run):
    ledger, metrics = lines(f"{run}/ledger.jsonl"), lines(f"{run}/metrics.jsonl")
    print("steps", [line["step"] for line in ledger])
    print("records", [line["records"] for line in ledger])
    scales = [step["scale"] for step in metrics]
    print("scales as the steps had", [line["scale"] for line in ledger][:len(scales)] == scales)


if __name__ == "__main__":
    {"names": names, "show": show, "same": same, "follow": follow}[sys.argv[1]](*sys.argv[2:])
