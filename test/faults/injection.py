"""Text of the user's in generated code, reports and terminals."""

import base64
import json
import re
import shutil

from _context import TRAIN
from _existing import ctest, lit, unit
from _registry import Severity, also, fault, require

MARK = "Zqxmark"
# What a compiler, a shell, a page or a terminal would take for its own.
NASTY = ['"; system("touch x"); "', "*/ int x; /*", "\n#include \"/etc/passwd\"\n", "??/\n", "$(touch x)", "`touch x`", "\\\nint x;",
         "\u202eltr", "\x1b[31mred", "\r\nint x;", "<script>alert(1)</script>", "'=cmd()|", "../../x", "x" * 65536]


def quoted(text):
    """An MLIR string."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}" for byte in text.encode()) + '"'


def module(context, text):
    """`net` with the text in the names of module, variables, functions, arguments, results, recipe and places."""
    net = context.net()
    name = f"{MARK}{text}{MARK}"
    changed = net.read_text()
    for symbol in ("net", "w1", "b1", "w2", "loss", "step", "scaler"):
        changed = re.sub(rf"@{symbol}\b", lambda _, symbol=symbol: "@" + quoted(name + symbol), changed)
    changed = changed.replace("tensor<?x64xf32>\n    %d", f"tensor<?x64xf32> loc({quoted(name)}:3:4)\n    %d")
    path = context.work / "nasty.mlir"
    path.write_text(changed)
    return path


def codes(program):
    """The code of each kernel in a Program's text: source, or an object."""
    for block in re.finditer(r"^kernel (\S+).*\n((?:  .*\n)*)", program, re.MULTILINE):
        encoded = "".join(line[3:] for line in block[2].splitlines() if line.startswith("  |"))
        yield block[1], base64.b64decode(encoded)


def without_comments(cuda):
    return "\n".join(line.split("//", 1)[0] for line in cuda.splitlines())


@fault(21, "names that are code", Severity.BREACH,
       "generated sources have no byte of the user's text; names of kernels are hashes; printed CUDA has names in comments, "
       "which they cannot end",
       by=[lit("codegen/cuda-comments.mlir"), lit("mp-run/odd-files.test"), lit("dialect/state-invalid.mlir")])
def names_of_everything(context):
    """14 texts (quotes, comments, includes, trigraphs, escapes, 64 KiB, ...) as names of module, variables, functions, recipe and places"""
    refused, kernels = 0, 0
    for text in NASTY:
        path = module(context, text)
        common = ("--mp-batch=8", "--mp-total-steps=9", path)
        done = context.run("mp-translate", "--mp-to-program", "--mp-target=cuda", "--mp-arch=sm_80", *common)
        if done.returncode:
            require(len(done.stdout) < 4 * len(text) + 4000 and "error: " in done.stdout, done.stdout[:500])
            refused += 1
            continue
        objects = context.succeeds("mp-translate", "--mp-to-program", "--mp-code", *common)
        for program in (done.stdout, objects):
            found = list(codes(program))
            require(len(found) > 5, "the Program has no kernels")
            for name, code in found:
                require(re.fullmatch(r"k?_?[0-9a-f]+|k_[0-9a-f]{32}", name), f"a kernel is named {name}")
                require(MARK.encode() not in code, f"{text[:30]!r} is in the code of {name}")
                kernels += 1
        cuda = context.succeeds("mp-translate", "--mp-to-cuda", *common)
        require(MARK not in without_comments(cuda), f"{text[:30]!r} leaves its comment")
        (context.work / "printed.cu").write_text(cuda)
        context.succeeds("clang++-22", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-Werror",
                         "-Wno-unknown-cuda-version", "-fsyntax-only", context.work / "printed.cu")
    require(kernels, "every name was refused, so nothing is shown")
    return f"{len(NASTY) - refused} texts in {kernels} kernels, {refused} refused"


def printable(said):
    return all(c in "\n\t" or (ord(c) >= 32 and ord(c) != 127 and not "\u202a" <= c <= "\u202e") for c in said)


@also(21)
def names_on_the_terminal(context):
    """the same names in runs, messages and files named by them, on the CPU and the emulated device: no control character is printed"""
    ran = 0
    for text in NASTY:
        path = module(context, text)
        for device in ("cpu", "cuda") if text in NASTY[:2] else ("cpu",):
            environment = {"MP_CUDA_PATH": str(context.build / "test" / "emulator" / "lib")}
            done = context.run("mp-run", "train", path, "--data", context.work, *TRAIN, "--device", device, "--max-steps", 2, environment=environment)
            require(printable(done.stdout), f"{text[:30]!r}: {done.stdout[:600]!r}")
            require(done.returncode == 0 or "error: " in done.stdout, done.stdout[:500])
            ran += done.returncode == 0
        policy = context.work / "policy.json"
        policy.write_text(json.dumps({"extends": "torch", "allow": [f"mp.{text}"]}))
        for command in (("mp-run", "policies", policy), ("mp-run", "policies", text[:200]), ("mp-run", text[:200] or "x"),
                        (*context.training("--max-steps", 1), f"--{text[:200]}")):
            said = context.run(*command).stdout
            require(printable(said), f"{' '.join(map(str, command[:3]))}: {said[:300]!r}")
    require(ran, "every name was refused, so nothing is shown")
    require(not list(context.work.rglob("x")) and not (context.source / "x").exists(), "a text was run")
    return f"{ran} runs"


@fault(22, "names that are HTML or commands", Severity.BREACH,
       "reports, pictures and JSON escape names; no process is started, and no name leads out of the folder of a run",
       by=[unit("report-test"), lit("passes/inspect/mp-view-graph-names.mlir"), ctest("acceptance/report-page")])
def reports_of_nasty_names(context):
    """reports, graphs and all files of runs whose names are scripts, formulas, commands and paths"""
    written = 0
    for text in ("<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "=cmd()|'/c calc'!A0", "../../../x", "a,\"b", "]]>-->"):
        path, run = module(context, text), context.work / "run"
        shutil.rmtree(run, ignore_errors=True)
        run.mkdir()
        context.succeeds("mp-run", "train", path, "--data", context.work, *TRAIN, "--max-steps", 8, "--ledger", 2, "--nan-check=step", "--out", run,
                         "--profile", run / "profile.json", "--trace", run / "trace.json")
        context.succeeds("mp-run", "report", run)
        context.succeeds("mp-opt", path, f"--mp-view-graph=file={run / 'graph.html'}", "-o", "/dev/null")
        context.succeeds("mp-run", "calibrate", path, "--data", context.work, "--batch", "8", "--device", "cpu", "--batches", "2",
                         "--picture", run / "picture.svg", "--json", run / "calibration.json")
        for file in run.iterdir():
            content = file.read_text(errors="replace") if file.suffix != ".safetensors" else ""
            if file.suffix in (".html", ".svg"):
                for tag in ("<script>alert", "<img", "</style><"):
                    require(f"{MARK}{tag}" not in content, f"{file.name} has {tag} of a name")
                require(MARK in content or file.suffix == ".svg", f"{file.name} does not name the module, so nothing is shown")
            if file.suffix == ".json":
                json.loads(content)
            if file.suffix == ".jsonl":
                [json.loads(line) for line in content.splitlines()]
            written += 1
        require({path.name for path in context.work.iterdir()} == {"net.mlir", "nasty.mlir", "x.npy", "label.npy", "run"},
                f"files outside of the run: {sorted(path.name for path in context.work.iterdir())}")
    return f"{written} files"


@also(22)
def no_process_is_started(context):
    """strace sees no execve in runs, reports, exports and translations but that of the tool"""
    if not shutil.which("strace"):
        return context.skip("strace", "it is not installed")
    module(context, "$(touch x)")
    run, log = context.work / "run", context.work / "execs"
    environment = {"MP_CUDA_PATH": ""}
    for command in (("mp-run", "train", context.work / "nasty.mlir", "--data", context.work, *TRAIN, "--max-steps", 3, "--out", run),
                    ("mp-run", "report", run), ("mp-run", "export", run, "--weights", context.work / "w.safetensors"),
                    ("mp-run", "info"), ("mp-opt", context.work / "nasty.mlir", "--mp-train-pipeline=batch=8 total-steps=9")):
        done = context.run("strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", log, *command, environment=environment)
        if "ptrace" in done.stdout and done.returncode:
            return context.skip("strace", "this machine does not allow it")
        require(done.returncode == 0, done.stdout[-400:])
        calls = [line for line in log.read_text().splitlines() if "exec" in line]
        require(len(calls) == 1, f"{' '.join(map(str, command[:2]))} starts {calls[1:3]}")
    return "5 commands"
