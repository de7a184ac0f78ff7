"""Compares evaluations of runs with those of others, and with what mp-run eval printed."""

import csv
import json
import sys


def lines_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def printed(path):
    with open(path) as file:
        return {line.split()[1]: float(line.split()[2]) for line in file}


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found}, expected {wanted}")


def near(found, wanted, what):
    if abs(found - wanted) > 1e-5 * abs(wanted):
        sys.exit(f"{what}: {found}, expected {wanted}")


def tensors(run):
    with open(f"{run}/checkpoint.safetensors", "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        header.pop("__metadata__")
        return header, file.read()


match sys.argv[1:]:
    case ["--best", summary, best]:
        with open(summary) as file:
            found = json.load(file)
        near(found["best_score"], printed(best)[found["monitor"].split(".")[-1]], "best_score")
    case ["--same-weights", one, other]:
        expect(tensors(one), tensors(other), "tensors")
    case ["--csv", run, path]:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        expect([int(row["step"]) for row in rows], [line["step"] for line in lines_of(f"{run}/metrics.jsonl")], "steps")
        tests = {line["step"]: line for line in lines_of(f"{run}/evaluations.jsonl")}
        for row, line in zip(rows, lines_of(f"{run}/metrics.jsonl")):
            expect({key: float(row[key]) for key in line}, {key: float(value) for key, value in line.items()}, row["step"])
            test = tests.get(line["step"], {})
            expect({key: float(value) for key, value in row.items() if key.startswith("test_") and value},
                   {f"test_{key}": float(value) for key, value in test.items() if key not in ("step", "epoch")}, row["step"])
    case ["--same-lines", one, other]:
        found, wanted = ([{**line, "seconds": 0} for line in lines_of(f"{run}/evaluations.jsonl")] for run in (other, one))
        expect(found, wanted, other)
    case [path, count, last, averaged]:
        lines = lines_of(path)
        expect(len(lines), int(count), "lines")
        expect([line["epoch"] for line in lines], [*range(1, len(lines) + 1)], "epochs")
        for name, value in printed(last).items():
            near(lines[-1][name], value, name)
        for name, value in printed(averaged).items():
            near(lines[-1][f"ema.{name}"], value, f"ema.{name}")
    case _:
        sys.exit(f"unexpected arguments: {sys.argv[1:]}")
