"""Files of data and weights that are not what they should be, and metrics that cannot be written."""

import shutil
import signal
import time

from _context import lines, sha
from _existing import ctest, lit, unit
from _registry import Severity, fault, require, shown

KEPT = "checkpoint.safetensors"

shown(29, "malformed safetensors", Severity.CRASH,
      "a file is read or refused as the Python package does it, in memory of at most four times its header",
      by=[unit("data-test", "Safetensors.NamesEveryFault"), unit("reader-verdicts-test"), unit("reader-limits-test")])
shown(30, "malformed npy, npz and idx", Severity.CRASH,
      "a header is read or refused as NumPy does it; nothing is inflated beyond what the header says",
      by=[unit("data-test", "Npy.NamesEveryFault", "Idx.NamesEveryFault", "Idx.NamesEveryFaultOfGzip"), unit("reader-verdicts-test"),
          unit("reader-limits-test")])
shown(31, "random bytes as a file", Severity.CRASH,
      "no bytes make a reader crash, hang or read beyond a file",
      by=[ctest(f"faults/replay-{target}") for target in ("safetensors", "npy", "idx", "picture", "json", "checkpoint", "program", "tokenizer", "rows", "policy", "command-line")])


@fault(47, "metrics that cannot be written", Severity.MISLED,
       "a reader that is gone and a full disk cost no step: a note says so, lines are kept until there is room, and every "
       "line of the file is whole, after a kill too",
       by=[lit("mp-run/broken-pipe.test"), lit("mp-run/full-disk.test"), unit("metrics-test", "Metrics.AFullDiskIsAnError"),
           unit("metrics-test", "Metrics.AResumedRunCutsOffWhatItWillWriteAgain")])
def metrics_fail_for_a_while(context):
    """writes of metrics.jsonl fail once, are short, or find a full disk; the file is renamed in a run; the run is killed 15 times (100 with --long)"""
    context.net()
    run, whole = context.work / "run", context.work / "whole"
    context.train("--max-steps", 60, "--out", whole)
    rules = ({"fail": "write:1:EIO"}, {"fail": "write:0:short"}, {"fail": "write:2:ENOSPC"}, {"fail": "write:0:EINTR"})
    for rule in rules:
        shutil.rmtree(run, ignore_errors=True)
        context.run(*context.training("--max-steps", 60, "--out", run), environment=context.shim(f"{run}/metrics.jsonl", **rule))
        require([line["step"] for line in lines(run / "metrics.jsonl")] == list(range(1, 61)), f"{rule}: lines are missing")
        require(sha(run / KEPT) == sha(whole / KEPT), f"{rule}: the run is another one")
    shutil.rmtree(run)
    done = context.run(*context.training("--max-steps", 60, "--out", run), environment=context.shim(f"{run}/metrics.jsonl", room=3000))
    require("No space left on device" in done.stdout and sha(run / KEPT) == sha(whole / KEPT), done.stdout[-400:])
    require(len(lines(run / "metrics.jsonl")) < 60, "the disk was not full")
    # A tool that rotates logs.
    shutil.rmtree(run)
    process = context.start(*context.training("--out", run))
    while process.poll() is None and not ((run / "metrics.jsonl").exists() and (run / "metrics.jsonl").stat().st_size):
        time.sleep(0.005)
    (run / "metrics.jsonl").rename(run / "metrics.jsonl.1")
    said, _ = process.communicate()
    require(process.returncode == 0 and len(lines(run / "metrics.jsonl.1")) == 2400, said[-300:])
    killed = 0
    for nth in range(context.either(15, 100)):
        shutil.rmtree(run, ignore_errors=True)
        process = context.start(*context.training("--out", run, "--checkpoint-every", 3))
        time.sleep(context.random.uniform(0.1, 0.5))
        process.kill()
        process.communicate()
        if (run / "metrics.jsonl").exists():
            lines(run / "metrics.jsonl")
        killed += process.returncode == -signal.SIGKILL
    require(killed > nth / 2, f"only {killed} runs were killed before their end")
    return f"{len(rules) + 2} ways, {killed} kills"


@fault(48, "data that is wrong or changes", Severity.LOSS,
       "what does not fit is refused before training, with the file and the sample; files that change in a run are noticed, "
       "and named",
       by=[lit("mp-run/data-errors.test"), lit("mp-run/mismatch.test"), unit("dataset-test", "DatasetTest.ChecksTheRangeOfEveryRecord"),
           lit("mp-run/changing-data.test"), unit("mapped-file-test")])
def unreadable_and_empty(context):
    """data that is empty, a folder, unreadable, absent, or of no samples, and labels beyond the classes at the first and last sample"""
    context.net()
    good = (context.work / "label.npy").read_bytes()
    label, tried = context.work / "label.npy", 0

    def refused(says):
        said = context.refused(*context.training("--max-steps", 1, "--out", context.work / "run"), says=says)
        require(len(said.splitlines()) < 10 and not (context.work / "run" / KEPT).exists(), said[:500])
    for content, says in ((b"", "label.npy: "), (good[:-1], "label.npy: "), (good[:-96] + b"\4" + good[-95:], "sample 0 holds 4"),
                          (good[:-1] + b"\xff", "sample 95 holds 255"), (good.replace(b"(96,)", b"(0,) "), "label.npy"),
                          (good.replace(b"(96,)", b"(95,)")[:-1], "differ in length")):
        label.write_bytes(content)
        refused(says)
        tried += 1
    label.unlink()
    refused("no file in ")
    label.mkdir()
    refused("label.npy")
    label.rmdir()
    label.write_bytes(good)
    context.train("--max-steps", 1)
    return f"{tried + 2} files"
