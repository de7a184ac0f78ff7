"""Checkpoints: saved under every failure of the system, killed at any time, damaged, resumed."""

import json
import re
import shutil
import signal
import struct
import time

from _context import lines, sha, step_of, temporaries
from _existing import ctest, lit, unit
from _registry import Severity, also, fault, require

KEPT = "checkpoint.safetensors"


def whole(context, steps, name="whole", *options):
    """A run without faults, to which others are compared."""
    run = context.work / name
    context.train("--max-steps", steps, "--out", run, *options)
    return run


def resume(run, steps):
    return ("--resume", run, "--out", run, "--checkpoint-every", 1, "--max-steps", steps)


def check_killed(context, run, before):
    """What a kill leaves: a whole checkpoint, no older than that of the step before the last line of metrics."""
    done = context.verify(run)
    require(done.returncode == 0, f"the checkpoint is not whole after a kill: {done.stdout}")
    saved = step_of(run / KEPT)
    written = [line["step"] for line in lines(run / "metrics.jsonl")]
    require(saved >= before, f"step {before} was saved, and the checkpoint is of step {saved}")
    require(saved >= written[-1] - 1, f"step {written[-1]} was done, and the checkpoint is of step {saved}")
    require(written == list(range(1, written[-1] + 1)), "metrics.jsonl lacks steps")
    return saved


@fault(1, "killed during a save", Severity.LOSS,
       "a run that is killed at any moment goes on from the last step that it saved, to the bits of a run that was not "
       "killed; the next save removes what was left over",
       by=[unit("metrics-test", "OutputFile.RemovesWhatKilledProcessesLeft"), lit("mp-run/run-folder.test")])
def killed_at_random_times(context):
    """one run that saves each step is killed 40 times (1,000 with --long), 0 to 50 ms after a save, and resumed each time"""
    context.net()
    kills, steps, left, seen = context.either(40, 1000), 0, 0, 0
    run = context.work / "run"
    context.train("--max-steps", 1, "--out", run)
    while kills > 0:
        before, stamp = step_of(run / KEPT), (run / KEPT).stat().st_mtime_ns
        process = context.start(*context.training(*resume(run, 2400)))
        while process.poll() is None and (run / KEPT).stat().st_mtime_ns == stamp:
            time.sleep(0.001)
        time.sleep(context.random.uniform(0, 0.05))
        process.kill()
        said, _ = process.communicate()
        if process.returncode == 0 or before > 2300:
            # All steps are done: from the beginning, with the next kill.
            shutil.rmtree(run)
            context.train("--max-steps", 1, "--out", run)
            continue
        require(process.returncode == -signal.SIGKILL, f"ends with {process.returncode}: {said[-500:]}")
        kills, steps = kills - 1, steps + check_killed(context, run, before) - before
        left = max(left, len(temporaries(run)))
        seen += bool(temporaries(run))
    last = step_of(run / KEPT) + 1
    context.train(*resume(run, last))
    require(not temporaries(run), f"files are left after the next save: {temporaries(run)}")
    require(sha(run / KEPT) == sha(whole(context, last) / KEPT), "the resumed run differs from one that was not killed")
    return (f"{context.either(40, 1000)} kills, {seen} of them within a write, over {steps} steps: none lost, at most "
            f"{left} temporary files at a time, 0 in the end")


@also(1)
def killed_at_each_call(context):
    """a save is killed at each open, write, fsync and rename in turn, and the run resumed"""
    context.net()
    start, end = whole(context, 2, "start"), whole(context, 4, "end")
    run = context.work / "run"
    shutil.copytree(start, run)
    count = len(context.calls(f"{run}*", *context.training(*resume(run, 3))))
    for nth in range(1, count + 1):
        shutil.rmtree(run)
        shutil.copytree(start, run)
        process = context.start(*context.training(*resume(run, 3)), environment=context.shim(f"{run}*", fail=f"@{nth}:kill"))
        process.communicate()
        require(process.returncode == -signal.SIGKILL, f"call {nth} of {count} was not reached")
        require(context.verify(run).returncode == 0, f"killed at call {nth}: the checkpoint is not whole")
        context.train(*resume(run, 4))
        require(sha(run / KEPT) == sha(end / KEPT), f"killed at call {nth}: the resumed run is another one")
        require(not temporaries(run), f"killed at call {nth}: {temporaries(run)} are left")
    return f"{count} calls"


@fault(2, "disk full at a save", Severity.LOSS,
       "the message says which step is not saved, what it needs and what is free; the checkpoint before stays, byte for byte",
       by=[lit("mp-run/full-disk.test"), unit("checkpoint-test", "CheckpointTest.AFullDiskLeavesTheOldOne"),
           unit("trainer-test", "TrainerTest.AFullDiskEndsTheRunAndKeepsTheCheckpoint")])
def full_after_any_number_of_bytes(context):
    """the disk is full after 0 to all bytes of a save"""
    context.net()
    run = whole(context, 2, "run")
    size, good = (run / KEPT).stat().st_size, sha(run / KEPT)
    places = [0, 1, 7, 8, 9, size // 3, size // 2, size - 1]
    for room in places:
        said = context.refused(*context.training(*resume(run, 3)), environment=context.shim(f"{run}/{KEPT}.tmp*", room=room),
                               says="step 3 is not saved: cannot write ")
        require("No space left on device (it takes " in said and " are free)" in said, f"the message is {said[-300:]}")
        require(sha(run / KEPT) == good and not temporaries(run), f"with room for {room} bytes: {temporaries(run)}")
    context.train(*resume(run, 3), environment=context.shim(f"{run}/{KEPT}.tmp*", room=2 * size))
    return f"{len(places)} sizes of a disk"


@fault(3, "short, interrupted and failing writes", Severity.LOSS,
       "part of a write is written on; an error of any call means that the save failed, is said, and leaves the file of "
       "before, byte for byte, and no other",
       by=[unit("metrics-test", "OutputFile.AnErrorLeavesTheOldFileAndNoTemporary")])
def each_call_of_a_save_fails(context):
    """each open, write, fsync and rename of checkpoint and summary fails in turn, with EIO and ENOSPC; all writes are short or interrupted"""
    context.net()
    start = whole(context, 2, "start")
    end, run = whole(context, 3, "end"), context.work / "run"
    shutil.copytree(start, run)
    good, better = sha(start / KEPT), sha(end / KEPT)
    calls = context.calls(f"{run}*", *context.training(*resume(run, 3)))
    tried, unheard = 0, set()
    for nth, call in enumerate(calls, 1):
        name, path = call.split(" ", 1)
        for code in ("EIO", "ENOSPC") if name == "write" else ("EIO",):
            shutil.rmtree(run)
            shutil.copytree(start, run)
            done = context.run(*context.training(*resume(run, 3)), environment=context.shim(f"{run}*", fail=f"@{nth}:{code}"))
            tried += 1
            where = f"call {nth} of {len(calls)}, {call} with {code}"
            heard = done.returncode != 0 or re.search(r"(note|warning): .*cannot ", done.stdout)
            # Without links, a run keeps one checkpoint: the one before, and the folder after it, do not count.
            if not heard and "checkpoint.previous." not in "".join(calls[nth - 2:nth]):
                unheard.add((name, path.rsplit("/", 1)[-1]))
            require(done.returncode in (0, 1), f"{where}: exits with {done.returncode}")
            require(not temporaries(run), f"{where}: {temporaries(run)} are left")
            require(sha(run / KEPT) in (good, better), f"{where}: the checkpoint is neither the old nor the new one")
            require(done.returncode == 1 or sha(run / KEPT) == better, f"{where}: exits with 0 and has saved nothing")
            lines(run / "metrics.jsonl")
    # Locks, and who holds one, are for other processes: without them, files are the same.
    silent = {(name, path) for name, path in unheard if name != "flock" and not path.startswith(".lock")}
    require(not silent, f"without a word fail {sorted(silent)}")
    for how in ("short", "EINTR"):
        shutil.rmtree(run)
        shutil.copytree(start, run)
        context.train(*resume(run, 3), environment=context.shim(f"{run}*", fail=f"write:0:{how}"))
        require(sha(run / KEPT) == better, f"where writes are {how}, the checkpoint is another one")
    return f"{tried} failing calls, of which {len(calls)} different"


def exports(context, run):
    """Commands that write one file: (file, command)."""
    out, net = context.work / "out", context.work / "net.mlir"
    return [(out / "weights.safetensors", ("mp-run", "export", run, "--weights", out / "weights.safetensors")),
            (out / "net.mlir", ("mp-opt", net, "-o", out / "net.mlir")),
            (out / "net.program", ("mp-translate", "--mp-to-program", "--mp-batch=8", "--mp-total-steps=9", net, "-o", out / "net.program")),
            (out / "y.npy", ("mp-run", "run", context.work / "affine.mlir", "--input", "2", f"--output=@{out / 'y.npy'}")),
            (run / "report.html", ("mp-run", "report", run)),
            (out / "bench.json", ("mp-run", "bench", net, "--batch", "8", "--steps", "2", "--warmup", "0", "--device", "cpu",
                                  "--json", out / "bench.json"))]


@also(3)
def each_call_of_an_output_fails(context):
    """each open, write, fsync and rename of mp-opt -o, mp-translate -o, exports, results, reports and measurements fails in turn"""
    context.net()
    (context.work / "affine.mlir").write_text(
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  %y = mp.add %x, %x : tensor<f32>, tensor<f32>\n  return %y : tensor<f32>\n}\n")
    (context.work / "out").mkdir()
    run, tried = whole(context, 2, "run"), 0
    for file, command in exports(context, run):
        # Old and new content differ, so that it shows which one is there.
        calls = context.calls(f"{file}*", *command)
        require(calls, f"{command[0]} writes nothing to {file}")
        good = file.read_bytes()
        for nth, call in enumerate(calls, 1):
            file.write_text("old")
            done = context.run(*command, environment=context.shim(f"{file}*", fail=f"@{nth}:EIO"))
            tried += 1
            # The lock of a temporary file, and mp-opt's first open for that lock, are for other processes.
            if call.split()[0] in ("flock", "open") and done.returncode == 0:
                same = file.read_bytes() == good or file.suffix in (".html", ".json") and file.read_text() != "old"
                require(same and not temporaries(file.parent), f"{' '.join(map(str, command))}: {call} fails, and the output is another one")
                continue
            require(done.returncode != 0, f"{' '.join(map(str, command))}: {call} fails, and the exit code is 0")
            require(file.read_text() == "old" and not temporaries(file.parent),
                    f"{' '.join(map(str, command))}: after {call} failed, {file.name} has {file.stat().st_size} bytes, left are {temporaries(file.parent)}")
    return f"{tried} failing calls"


def header_size(checkpoint):
    return 8 + struct.unpack_from("<Q", checkpoint.read_bytes())[0]


@fault(4, "truncated checkpoint", Severity.LOSS,
       "a checkpoint that is cut off anywhere is refused by name, and the one before it is offered",
       by=[lit("mp-run/checkpoint-before.test")])
def cut_off_anywhere(context):
    """cut off at each percent and at 60 places of the header (--long: at each byte of it), and read by verify; by train, eval and export at some"""
    context.net()
    run = whole(context, 2, "run")
    good = (run / KEPT).read_bytes()
    header = header_size(run / KEPT)
    places = {len(good) * percent // 100 for percent in range(100)} | {len(good) - 1}
    places |= set(range(header)) if context.long else {*range(10), header - 1, header, *context.random.sample(range(header), 48)}
    cut = context.work / "cut.safetensors"
    for place in sorted(places):
        cut.write_bytes(good[:place])
        context.refused("mp-run", "verify", cut, says="cut.safetensors: ")
    for place in (0, 7, header // 2, header, len(good) // 2, len(good) - 1):
        cut.write_bytes(good[:place])
        kept = sha(run / KEPT)
        context.refused(*context.training("--resume", cut, "--out", run), says="cut.safetensors: ")
        context.refused("mp-run", "export", cut, "--weights", context.work / "w.safetensors", says="cut.safetensors: ")
        context.refused(*context.training("--init", cut), says="cut.safetensors: ")
        require(sha(run / KEPT) == kept, "another checkpoint was overwritten")
    return f"{len(places)} places"


@fault(5, "bit rot in a checkpoint", Severity.LOSS,
       "digests of the metadata and of each tensor find every changed bit; the message names the tensor",
       by=[unit("checkpoint-test", "CheckpointTest.EveryFlippedBitIsNoticed"), lit("mp-run/verify.test")])
def flipped_bits(context):
    """100 bits (1,000 with --long) at random places flip, one at a time, and verify reads the file"""
    context.net()
    run = whole(context, 2, "run")
    good, flips = (run / KEPT).read_bytes(), context.either(100, 1000)
    header, bad, named = header_size(run / KEPT), context.work / "bad.safetensors", 0
    for nth in range(flips):
        # Every tenth is in the header, which is small.
        place = context.random.randrange(header if nth % 10 == 0 else len(good))
        changed = bytearray(good)
        changed[place] ^= 1 << context.random.randrange(8)
        bad.write_bytes(changed)
        said = context.refused("mp-run", "verify", bad, says="bad.safetensors: ")
        if place >= header:
            require("tensor '" in said, f"byte {place}: no tensor is named: {said}")
            named += 1
    return f"{flips} of {flips} found, the tensor named for {named} of {named} in tensors"


@fault(6, "checkpoint of another run", Severity.LOSS,
       "variables, settings and recipe are compared with those of the checkpoint, and each difference is named; nothing is overwritten",
       by=[lit("mp-run/mismatch.test"), lit("mp-run/another-graph.test"), unit("graph-record-test"), unit("checkpoint-test", "CheckpointTest.OfAnotherGraphNamesTheVariables"),
           unit("trainer-test", "TrainerTest.ResumesOnlyTheSameRun")])
def another_graph_leaves_the_checkpoint(context):
    """a run is resumed with another layer size, optimizer, precision, batch and seed"""
    net = context.net()
    run = whole(context, 2, "run")
    good = sha(run / KEPT)
    wide = context.work / "wide.mlir"
    wide.write_text(net.read_text().replace("64x", "32x").replace("x64", "x32").replace("<64xf32>", "<32xf32>"))
    other = context.work / "sgd.mlir"
    other.write_text(net.read_text().replace("#mp.adamw<lr = 1.0e-2>", "#mp.sgd<lr = 1.0e-2>"))
    for module, words, says in ((wide, (), "checkpoint of another graph"), (other, (), "checkpoint of another graph"),
                                (net, ("--precision", "bf16"), "cannot resume with another precision"),
                                (net, ("--batch", "4"), "cannot resume with another batch"),
                                (net, ("--seed", "5"), "cannot resume with another seed")):
        command = ("mp-run", "train", module, "--data", context.work, "--resume", run, "--out", run, "--epochs", "200",
                   "--max-steps", "3", *words)
        context.refused(*command, says=says)
        require(sha(run / KEPT) == good, f"{' '.join(words) or module.name}: the checkpoint was overwritten")
    return "5 differences"


@fault(7, "exact resume on the CPU", Severity.LOSS,
       "a run that is stopped within an epoch and resumed has the bits of one that was not, with dropout, shuffled data and "
       "a loss scaler, at any number of threads",
       by=[ctest("acceptance/resume"), unit("trainer-test", "TrainerTest.StoppedAndResumedIsTheSameRun"),
           unit("trainer-test", "TrainerTest.ResumesBetweenWindows")])
def resumed_at_any_step_and_number_of_threads(context):
    """40 steps, and 17, 1 and 22 more, on 1, 2 and 8 threads: equal checkpoints and losses; in fp16, fp8 and with micro-batches"""
    context.net()
    for name, words in (("fp16", ()), ("fp8", ("--precision", "fp8")), ("micro", ("--accumulate", "2"))):
        run = whole(context, 40, name, "--threads", 1, *words)
        skipped = [line["skipped"] for line in lines(run / "metrics.jsonl")]
        require(name == "fp8" or (any(skipped[:17]) and not all(skipped)), f"{name}: the scaler skips {sum(skipped)} of 40 steps")
        for threads in (1, 2, 8):
            part = context.work / f"{name}-{threads}"
            for steps in (17, 18, 40):
                before = ("--resume", part) if part.exists() else words
                context.train("--max-steps", steps, "--threads", threads, "--out", part, *before)
            require(sha(run / KEPT) == sha(part / KEPT), f"{name} on {threads} threads: checkpoints differ")
            losses = [[(line["loss"], line["scale"]) for line in lines(each / "metrics.jsonl")] for each in (run, part)]
            require(losses[0] == losses[1], f"{name} on {threads} threads: losses or scales differ")
    other = whole(context, 40, "other", "--seed", 8)
    require(sha(other / KEPT) != sha(context.work / "fp16" / KEPT), "another seed gives the same bits, so nothing is shown")
    return "9 resumed runs"


@fault(8, "exact resume on a GPU", Severity.LOSS,
       "a run that is stopped and resumed on a CUDA device has the bits of one that was not",
       by=[unit("cuda-session-test", "CudaSession.StepsOverlap")])
def resumed_on_the_emulated_device(context):
    """6 steps, and 2, 1 and 3 more, in the emulator, in two orders of its threads"""
    context.net()
    device = ("--device", "cuda")
    environment = {"MP_CUDA_PATH": str(context.build / "test" / "emulator" / "lib")}
    run, part = context.work / "whole", context.work / "part"
    context.train("--max-steps", 6, "--out", run, *device, environment=environment)
    for steps, seed in ((2, 0), (3, 5), (6, 0)):
        before = ("--resume", part) if part.exists() else ()
        context.train("--max-steps", steps, "--out", part, *device, *before, environment={**environment, "MP_EMULATOR_SEED": str(seed)})
    require(sha(run / KEPT) == sha(part / KEPT), "checkpoints differ")
    require(json.loads((run / "summary.json").read_text())["device"].startswith("cuda"), "the run was not on the device")
    return "equal"
