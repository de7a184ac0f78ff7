#!/usr/bin/env python3
"""Trains classifiers of the literature in each precision, and writes their table and a page; literature.sh describes it."""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from _machine import ROOT, circumstances

#: name: width, epochs, and another value for a field of mp-zoo's recipe. All layers are there, with as many channels as two cores
#: train in a minute or two an epoch.
NETWORKS = {
    "resnet20": (0.5, 2, "optimizer.lr=0.1"),
    "googlenet": (0.125, 2, "optimizer.lr=0.05"),
    "vgg16": (0.125, 6, "optimizer.lr=0.02"),
    "inception-v3": (0.125, 2, "optimizer.lr=0.05"),
}
FORMATS = {
    "fp32": ("--precision", "fp32"),
    "fp16 without scaling": ("--precision", "fp16", "--scaler", "none"),
    "fp16 with scaling": ("--precision", "fp16", "--scaler", "torch"),
    "bf16": ("--precision", "bf16"),
}
#: A short run for what f16 makes of gradients without scaling. It takes a step in f32 beside, whose memory is none of the others'.
LEDGER = (*FORMATS["fp16 without scaling"], "--max-steps", 100, "--ledger", 25)
APART = 0.005  # how far the accuracies of fp16 with scaling and of bf16 may be from that of fp32


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "release" / "bin", help="folder of mp-run")
    parser.add_argument("--data", type=Path, default=Path("/usr/share/datasets/fashion-mnist"), help="folder of Fashion-MNIST")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "literature", help="folder of the runs' folders")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--epochs", type=int, help="of each network (as many as the script has for each)")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="accuracies are means over the runs with these seeds")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="file to write the results to")
    return parser.parse_args()


def images():
    """The name of the images, and their folder if it is not that of --data."""
    folder = os.environ.get("MP_CIFAR10")
    return ("cifar10", Path(folder)) if folder else ("fashion-mnist", None)


def train(arguments, name, kind, seed, flags):
    """The folder of a run, which is made unless it has ended."""
    data, folder = images()
    out = arguments.runs / f"{data}-{name}-{kind.replace(' ', '-')}-{seed}"
    width, epochs, setting = NETWORKS[name]
    if not (out / "summary.json").exists():
        command = [arguments.tools / "mp-run", "train", f"zoo:{name},width={width},image=32,data={data}", "--data",
                   folder or arguments.data, "--batch", arguments.batch, "--epochs", arguments.epochs or epochs, "--seed", seed,
                   "--device", "cpu", "--threads", arguments.threads, "--set", setting, "--out", out, *flags]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # A run without scaling may skip all its steps, or end in NaN: that is what the table shows.
        if done.returncode and not (out / "metrics.jsonl").exists():
            sys.exit(f"{name}, {kind}: {done.stdout}")
        if done.returncode:
            (out / "failed.txt").write_text(done.stdout.splitlines()[-1] + "\n")
    return out


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def weights_bytes(arguments, out, kind):
    """The size of the exported weights, in the type that the format computes in."""
    file = out / "weights.safetensors"
    dtype = ("--dtype", "f16") if "fp16" in kind else ("--dtype", "bf16") if kind == "bf16" else ()
    subprocess.run([str(word) for word in (arguments.tools / "mp-run", "export", out, "--weights", file, *dtype)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    size = file.stat().st_size
    file.unlink()
    return size


def facts(arguments, out, kind):
    """What the table says of a run."""
    summary = json.loads((out / "summary.json").read_text()) if (out / "summary.json").exists() else {}
    steps = lines(out / "metrics.jsonl")
    failed = out / "failed.txt"
    found = {
        "accuracy": summary.get("test_accuracy"), "loss": summary.get("test_loss"), "skipped": summary.get("skipped_steps"),
        "steps": len(steps), "final_scale": summary.get("final_scale"),
        "step_milliseconds": 1000 * statistics.median(arguments.batch / step["samples_per_second"] for step in steps[1:]),
        "planned_bytes": summary.get("planned_bytes"), "peak_rss_bytes": summary.get("peak_rss_bytes"),
        "weights_bytes": weights_bytes(arguments, out, kind),
        "failed": failed.read_text().strip() if failed.exists() else None,
    }
    return found


def of_seeds(runs):
    """The facts of the first run, with the mean of the accuracies of all."""
    accuracies = [run["accuracy"] for run in runs]
    mean = None if None in accuracies else statistics.mean(accuracies)
    return {**runs[0], "accuracy": mean, "accuracies": accuracies, "skipped": [run["skipped"] for run in runs]}


def flushed(out):
    """The share of the gradients' elements that f16 makes zero, of those that are not zero in f32."""
    ledger = [line["all"] for line in lines(out / "ledger.jsonl")]
    return sum(line["flushed"] for line in ledger) / sum(line["elements"] - line["zero"] for line in ledger)


def mib(count):
    return f"{count / 2 ** 20:.1f}" if count else ""


def table(results):
    """The table in Markdown, a line for each network and format."""
    text = ["| network | format | accuracy, % | gradients that become zero | skipped steps | weights, MiB | planned, MiB | resident, MiB "
            "| step, ms |", "|---|---|---|---|---|---|---|---|---|"]
    for name, formats in results.items():
        for kind, run in formats.items():
            accuracy = f"{100 * run['accuracy']:.2f}" if run["accuracy"] is not None else "fails"
            flushed = f"{100 * run['flushed_share']:.2f} %" if "flushed_share" in run else ""
            text.append(f"| {name} | {kind} | {accuracy} | {flushed} | {', '.join(map(str, run['skipped']))} | {mib(run['weights_bytes'])} | "
                        f"{mib(run['planned_bytes'])} | {mib(run['peak_rss_bytes'])} | {run['step_milliseconds']:.0f} |")
    return "\n".join(text)


def apart(formats):
    """How far the formats that should train as fp32 does are from it."""
    full = formats["fp32"]["accuracy"]
    return max(abs((formats[kind]["accuracy"] or 0) - full) for kind in ("fp16 with scaling", "bf16"))


def main():
    arguments = options()
    arguments.runs.mkdir(parents=True, exist_ok=True)
    results, folders = {}, []
    for name in arguments.networks:
        results[name] = {}
        for kind in FORMATS:
            made = [train(arguments, name, kind, seed, FORMATS[kind]) for seed in arguments.seeds]
            folders.append(made[0])
            results[name][kind] = of_seeds([facts(arguments, out, kind) for out in made])
            print(f"{name}, {kind}: accuracies {results[name][kind]['accuracies']}", flush=True)
        results[name]["fp16 without scaling"]["flushed_share"] = flushed(train(arguments, name, "ledger", arguments.seeds[0], LEDGER))
    print(table(results))
    page = arguments.runs / "literature.html"
    subprocess.run([str(word) for word in (arguments.tools / "mp-run", "compare", *folders, "--html", page)], check=True,
                   stdout=subprocess.DEVNULL)
    print(page)
    if arguments.json:
        settings = {key: getattr(arguments, key) for key in ("epochs", "batch", "seeds", "threads")}
        arguments.json.write_text(json.dumps({**circumstances(arguments.tools), "images": images()[0], "networks": NETWORKS,
                                              **settings, "results": results}, indent=1) + "\n")
    far = [f"{name}: {100 * apart(formats):.2f} points" for name, formats in results.items() if apart(formats) > APART]
    if far:
        sys.exit(f"further from fp32 than {100 * APART} points: {', '.join(far)}")


if __name__ == "__main__":
    main()
