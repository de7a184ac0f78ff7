"""The cache of compiled kernels: shared, damaged, stale, planted, full, and large."""

import hashlib
import os
import re
import shutil
import signal
import struct
import time

from _context import sha, temporaries
from _existing import lit, unit
from _registry import Severity, also, fault, require

KEPT = "checkpoint.safetensors"


def train(context, cache, run, *options, **how):
    """(output, hash of the checkpoint) of five steps with this cache."""
    environment = {"MP_CACHE_DIR": str(cache), **how.pop("environment", {})}
    said = context.train("--max-steps", 5, "--threads", 1, "--out", context.work / run, *options, environment=environment, **how)
    return said, sha(context.work / run / KEPT)


def filled(context):
    """A cache with the kernels of a run, and the hash of its checkpoint."""
    context.net()
    cache = context.work / "cache"
    _, good = train(context, cache, "first")
    return cache, good


def entries(cache):
    return sorted(cache.glob("*.o"))


@fault(23, "many processes on one cache", Severity.LOSS,
       "processes that share a cache, some of them killed, run the kernels of their own sources and nothing else",
       by=[unit("kernel-cache-test", "KernelCacheFiles.WritersOfOneEntryDoNotMeet")])
def raced_and_killed(context):
    """8 processes at a time with 2 kinds of module, 3 rounds from an empty cache (--long: 32 with 4 kinds, 100 rounds), a third killed"""
    context.net()
    processes, rounds, kinds = context.either((8, 3, 2), (32, 100, 4))
    words = [("--precision", precision) for precision in ("fp16", "bf16", "fp32", "fp8")][:kinds]
    expected = [train(context, "off", f"good-{kind}", *words[kind])[1] for kind in range(kinds)]
    killed = done = 0
    for number in range(rounds):
        cache = context.work / f"cache-{number}"
        running = []
        for nth in range(processes):
            kind, run = nth % kinds, context.work / f"run-{nth}"
            shutil.rmtree(run, ignore_errors=True)
            command = context.training("--max-steps", 5, "--threads", 1, "--out", run, *words[kind])
            running.append((kind, run, nth % 3 == 2, context.start(*command, environment={"MP_CACHE_DIR": str(cache)})))
        time.sleep(context.random.uniform(0.1, 0.6))
        for _, _, dies, process in running:
            if dies and process.poll() is None:
                process.kill()
        for kind, run, dies, process in running:
            said, _ = process.communicate()
            if dies and process.returncode == -signal.SIGKILL:
                killed += 1
                continue
            require(process.returncode == 0, f"round {number}: exits with {process.returncode}: {said[-500:]}")
            require(sha(run / KEPT) == expected[kind], f"round {number}: a run has the kernels of another")
            done += 1
        # What is left is right, or a miss.
        for kind in range(kinds):
            require(train(context, cache, "after", *words[kind])[1] == expected[kind], f"round {number}: a wrong entry is left")
        shutil.rmtree(cache)
    require(killed, "no process was killed in time, so nothing is shown")
    return f"{done} runs with the right bits, {killed} killed"


def damages(entry, other):
    """Ways to damage an entry: (name, function)."""
    good = entry.read_bytes()

    def flipped():
        changed = bytearray(good)
        changed[len(changed) * 2 // 3] ^= 16
        entry.write_bytes(changed)

    def replaced(make):
        entry.unlink()
        make()
    return [("is empty", lambda: entry.write_bytes(b"")), ("is truncated", lambda: entry.write_bytes(good[:len(good) // 2])),
            ("has a flipped bit", flipped), ("is another's", lambda: entry.write_bytes(other.read_bytes())),
            ("is longer", lambda: entry.write_bytes(good + b"x")), ("is a folder", lambda: replaced(entry.mkdir)),
            ("is a link to nothing", lambda: replaced(lambda: entry.symlink_to("nothing"))),
            ("is a link to another entry", lambda: replaced(lambda: entry.symlink_to(other))),
            ("is a pipe", lambda: replaced(lambda: os.mkfifo(entry))),
            ("is a link to a device", lambda: replaced(lambda: entry.symlink_to("/dev/zero")))]


@fault(24, "damaged entries of the cache", Severity.LOSS,
       "what is not a whole entry of its name is compiled again, and the run has the same bits",
       by=[unit("kernel-cache-test", "KernelCacheFiles.ADamagedEntryIsAMissAndGone"), lit("mp-run/cache.test")])
def each_entry_is_damaged(context):
    """all entries are empty, cut off, flipped, exchanged, longer, folders, links, pipes or devices; the next run but one finds whole ones"""
    cache, good = filled(context)
    kept = context.work / "kept"
    shutil.copytree(cache, kept)
    kinds = len(damages(*entries(cache)[:2]))
    for kind in range(kinds):
        shutil.rmtree(cache)
        shutil.copytree(kept, cache)
        files = entries(cache)
        ways = [damages(entry, other)[kind] for entry, other in zip(files, files[1:] + files[:1])]
        for _, damage in ways if "another's" not in ways[0][0] else ways[:-1]:
            damage()
        name = ways[0][0]
        said, bits = train(context, cache, "next", timeout=60)
        require(bits == good, f"where each entry {name}, the run is another one")
        require(", kernels 0 new" not in said, f"where each entry {name}, it was loaded")
        said, _ = train(context, cache, "again", timeout=60)
        require("folder" in name or ", kernels 0 new" in said or "another's" in name, f"where each entry {name}, it is not mended: {said[:300]}")
    return f"{kinds} kinds of damage to {len(entries(kept))} entries"


def hash_of(text):
    """As KernelCache names facts: SHA-256 over the length and the text."""
    return hashlib.sha256(struct.pack("<Q", len(text)) + text).hexdigest()


def write_entry(cache, name, content):
    """An entry with its checksum, which includes the name."""
    (cache / name).write_bytes(hashlib.sha256(name.encode() + content).digest() + content)


@fault(25, "stale entries of the cache", Severity.LOSS,
       "an entry is found only for the same source, version of the lowering, LLVM or NVRTC, options, headers and CPU or GPU; "
       "MP_CACHE_LOG says what differs",
       by=[unit("kernel-cache-test", "KernelCacheFiles.TheKeyIsEverythingThatDecides", "KernelCacheFiles.WhatDecidesOnACubin",
                "KernelCacheFiles.AMissIsExplained")])
def upgraded(context):
    """all entries become those of another LLVM, CPU, set of features or lowering, with right names and checksums: each is a miss that says so"""
    cache, good = filled(context)
    originals = {path.name: path.read_bytes() for path in entries(cache)}
    for fact in ("lowering", "LLVM", "cpu", "features"):
        for path in entries(cache):
            path.unlink()
        for name, content in originals.items():
            facts, code = content[32:].split(b"\0", 1)
            known = re.search(rf"^{fact}=(.*)$", facts.decode(), re.MULTILINE)
            require(known, f"an entry does not say its {fact}: {facts}")
            forged = facts.replace(known[0].encode(), f"{fact}=of-yesterday".encode())
            write_entry(cache, f"{name.split('-')[0]}-{hash_of(forged)[:32]}.o", forged + b"\0" + code)
            # Even where a name is that of today, the facts of an entry count.
            if fact == "cpu":
                write_entry(cache, name, forged + b"\0" + code)
        log = context.work / f"log-{fact}"
        said, bits = train(context, cache, "next", environment={"MP_CACHE_LOG": str(log)})
        require(bits == good and "and 0 from the cache" in said, f"another {fact}: {said[:400]}")
        require(log.read_text().count(f": made anew: known with {fact} 'of-yesterday', and this is '") == len(originals),
                f"another {fact}: {log.read_text()[:500]}")
    return f"4 facts of {len(originals)} entries"


@fault(26, "a planted cache", Severity.BREACH,
       "a folder of another user, or one that others may write to, is not used: one warning says why, and the run goes on",
       by=[unit("kernel-cache-test", "KernelCacheFiles.RefusesAFolderThatOthersMayWriteTo", "KernelCacheFiles.RefusesAFolderOfAnotherUser")])
def prepared_by_another(context):
    """folders of modes 0777, 0770 and 01777, of another user, links to such, and a link as an entry: nothing is read or written there"""
    cache, good = filled(context)
    kept, tried = context.work / "victim", 0
    shutil.copytree(cache, kept)

    def refused(folder, why, **how):
        before = sorted((path.name, path.stat().st_mtime_ns) for path in folder.resolve().iterdir())
        said, bits = train(context, folder, "next", **how)
        require(said.count("warning: compiled kernels are not kept: ") == 1 and why in said, f"{folder.name}: {said[:500]}")
        require(", kernels 0 new" not in said and bits == good, f"{folder.name}: kernels of the folder were used")
        require(before == sorted((path.name, path.stat().st_mtime_ns) for path in folder.resolve().iterdir()), "the folder was written to")
    for mode in (0o777, 0o770, 0o1777):
        cache.chmod(mode)
        refused(cache, "can be written by others")
        tried += 1
    link = context.work / "link"
    link.symlink_to(cache)
    refused(link, "can be written by others")
    cache.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(cache, 54321, 54321)
        refused(cache, "belongs to another user")
        refused(link, "belongs to another user")
        os.chown(cache, 0, 0)
        tried += 2
    else:
        context.skip("a folder of another user", "only root can give one away")
    # An entry that is a link leads out of the folder: it is neither followed nor written through.
    for entry in entries(cache):
        entry.unlink()
        entry.symlink_to(kept / entry.name)
    before = {path.name: sha(path) for path in entries(kept)}
    _, bits = train(context, cache, "next")
    require(bits == good and before == {path.name: sha(path) for path in entries(kept)}, "a link was written through")
    return f"{tried + 2} folders"


@fault(27, "a cache that cannot be written", Severity.CRASH,
       "a run without a cache, or whose cache is read-only, full or odd, is warned once and goes on",
       by=[lit("mp-run/cache.test"), unit("kernel-cache-test", "KernelCacheFiles.AFolderThatCannotBeIsAnError",
                                          "KernelCacheFiles.AFullDiskLeavesNothingBehind", "CacheFolder.FollowsTheEnvironment")])
def read_only_full_and_homeless(context):
    """each call on an entry fails in turn with EROFS, ENOSPC, EDQUOT, EBUSY and EIO; no HOME; a user without a name and with a HOME of another"""
    context.net()
    _, good = train(context, "off", "good")
    cache, tried = context.work / "cache", 0
    for code in ("EROFS", "ENOSPC", "EDQUOT", "EBUSY", "EIO"):
        for call in ("open", "write", "rename", "mkdir"):
            shutil.rmtree(cache, ignore_errors=True)
            said, bits = train(context, cache, "next", environment=context.shim(f"{cache}*", fail=f"{call}:0:{code}"))
            require(bits == good, f"{call} with {code}: other bits")
            require(said.count("warning: compiled kernels are not kept: ") == 1, f"{call} with {code}: {said[:400]}")
            require(temporaries(cache) == [], f"{call} with {code}: {temporaries(cache)} are left")
            tried += 1
    shutil.rmtree(cache, ignore_errors=True)
    said, bits = train(context, cache, "next", environment=context.shim(f"{cache}*", room=20000))
    require(bits == good and said.count("warning: ") == 1 and not temporaries(cache), f"a full disk: {said[:400]}")
    for name, environment in (("no HOME", {"HOME": ""}), ("a HOME that is a file", {"HOME": "/etc/hostname"}), ("a HOME that is not there", {"HOME": "/proc/none"})):
        _, bits = train(context, "", "next", environment={"XDG_CACHE_HOME": "", **environment})
        require(bits == good, f"{name}: other bits")
        tried += 1
    return f"{tried} ways"


@also(27)
def a_user_without_a_name(context):
    """a user who is not in /etc/passwd, and may not write HOME"""
    context.net()
    home = context.work / "home"
    home.mkdir(mode=0o755)
    others = context.work / "others"
    others.mkdir()
    if os.geteuid() != 0:
        return context.skip("another user", "only root can become one")
    os.chown(others, 54321, 54321)
    user = ("setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups")
    if context.run(*user, "test", "-r", context.work / "net.mlir", "-a", "-x", context.tools / "mp-run").returncode:
        return context.skip("another user", f"they may not read {context.work}")
    said = context.succeeds(*user, *context.training("--max-steps", 5, "--out", others / "run"),
                            environment={"HOME": str(home), "XDG_CACHE_HOME": "", "MP_CACHE_DIR": ""})
    require(said.count("warning: compiled kernels are not kept: ") == 1, said[:400])
    return "one warning"


@fault(28, "a cache that grows", Severity.CRASH,
       "the cache stays below 1 GiB: what was used longest ago is removed, and what killed writers left, after an hour",
       by=[unit("kernel-cache-test", "KernelCacheFiles.DropsWhatWasUsedLongestAgo")])
def ten_thousand_entries(context):
    """10,000 old entries of 1 MiB and 1,000 files of killed writers: a run that adds entries leaves less than 1 GiB, its own, and no old rest"""
    cache, good = filled(context)
    own = {path.name for path in entries(cache)}
    long_ago = time.time() - 10_000_000
    for nth in range(10_000):
        path = cache / f"{nth:032x}-{0:032x}.o"
        with open(path, "wb") as file:
            file.truncate(1 << 20)  # a hole, which takes no room
        os.utime(path, (long_ago + nth, long_ago + nth))
    for nth in range(1_000):
        (cache / f".partial-{nth}-0").write_bytes(b"x")
        os.utime(cache / f".partial-{nth}-0", (long_ago, long_ago))
    (cache / ".partial-1-1").write_bytes(b"x")
    begin = time.monotonic()
    said, _ = train(context, cache, "next", "--precision", "bf16")
    seconds = time.monotonic() - begin
    left = [path for path in cache.iterdir() if path.name.endswith(".o")]
    size = sum(path.stat().st_size for path in left)
    require(size <= 1 << 30, f"{size >> 20} MiB are left")
    require(own <= {path.name for path in left}, "entries that were used last are gone")
    require(f"{9_999:032x}-{0:032x}.o" in {path.name for path in left}, "the newest of the old ones is gone")
    require(temporaries(cache) == [".partial-1-1"], f"left are {temporaries(cache)[:5]}")
    require(train(context, cache, "again")[1] == good, "the run is another one")
    require(", kernels 0 new" not in said, said[:300])
    return f"{len(left)} entries and {size >> 20} MiB are left, in {seconds:.1f} s"
