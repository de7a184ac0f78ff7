"""Modules: text and bytecode from anyone, versions, passes that fail or run twice."""

import re

from _existing import ctest, lit, unit
from _registry import Severity, fault, require, shown

shown(33, "modules that are too deep or too large", Severity.CRASH,
      "nesting, size of text, dimensions and ranks have limits, with an error at the place",
      by=[lit("tools/nesting.test"), lit("tools/nesting-allowed.test"), lit("tools/mp-lsp-server-deep.test"), lit("dialect/size-invalid.mlir"),
          unit("module-text-test"), unit("deep-modules-test")])
shown(34, "malformed bytecode", Severity.CRASH,
      "mp-run takes text alone unless bytecode is trusted; a reader that crashes or hangs is an error",
      by=[lit("tools/bytecode.test")])
shown(35, "too many elements", Severity.CRASH,
      "a tensor of more elements than an address space is an error at its op",
      by=[lit("dialect/size-invalid.mlir")])
shown(36, "unknown op or newer version", Severity.MISLED,
      "an unknown op is named with the nearest ones; a module of a newer dialect says so",
      by=[lit("dialect/unknown-op-invalid.mlir"), lit("tools/version.test")])

MODES = ("train", "eval")


def modules(context):
    """Modules of the repository that parse by themselves."""
    for folder in ("examples", "test/models", "test/lit"):
        for path in sorted((context.source / folder).rglob("*.mlir")):
            text = path.read_text()
            if "mp." in text and "not mp-" not in text and "verify-diagnostics" not in text and "expected-error" not in text:
                yield path, "split-input-file" in text


# What a mutant may get in the place of a word: numbers at limits, and words of other places.
WORDS = ("0", "-1", "1", "4294967296", "9223372036854775807", "-9223372036854775808", "1.0e+39", "0x7FF0000000000000", "?", "*", "x", "[", "]",
         "{", "}", "<", ">", "->", "tensor<?xf32>", "tensor<f32>", "tensor<0xf32>", "tensor<4x4x4x4x4xf16>", "f64", "f8E4M3FN", "i1", "dense<[]>",
         "loc(unknown)", "@nothing", "%x", "mp.linear", "mp.sum", "mp.reshape", "mp.kernel", "mp.train", '""', '"\\00"', "\xff")


def mutant(random, text, other):
    """A module with one to four places changed."""
    for _ in range(random.randint(1, 4)):
        tokens = re.findall(r"\w+|\s+|.", text, re.DOTALL)
        at, end = sorted(random.choices(range(len(tokens)), k=2))
        end = min(end, at + 12)
        lines_ = other.splitlines(keepends=True)
        kind = random.randrange(6)
        if kind == 0:
            tokens[at] = random.choice(WORDS)
        elif kind == 1:
            del tokens[at:end]
        elif kind == 2:
            tokens[at:at] = tokens[at:end]
        elif kind == 3:
            tokens[at], tokens[-1 - at] = tokens[-1 - at], tokens[at]
        elif kind == 4:
            tokens.insert(at, random.choice(lines_))
        else:
            numbers = [place for place, token in enumerate(tokens) if token.isdigit()]
            tokens[random.choice(numbers or [at])] = random.choice(WORDS[:6])
        text = "".join(tokens)
    return text


@fault(32, "random changes of a module", Severity.CRASH,
       "no text makes a tool crash or hang: it is read, or refused with its place, and so it is by every pass",
       by=[lit("tools/nesting.test"), lit("tools/control-characters.test"), unit("module-text-test"),
           unit("program-test", "Program.SurvivesEveryTruncation", "Program.SurvivesFlippedBytes", "Program.SurvivesSwappedWords")])
def mutants_of_modules(context):
    """400 mutants of the repository's modules (20,000 with --long): words, numbers and lines changed, and read, verified, trained and run by every pass"""
    texts = [path.read_text() for path, split in modules(context) if not split and path.stat().st_size < 20_000]
    file, accepted, count = context.work / "mutant.mlir", 0, context.either(400, 20_000)
    pipelines = [("--mp-train-pipeline=batch=8 total-steps=9",), ("--mp-train-pipeline=batch=8 total-steps=9 precision=fp8",),
                 ("--mp-evaluate-pipeline=batch=8",), ("--mp-autocast", "--mp-autodiff"), ("--canonicalize", "--cse", "--mp-lint")]
    for nth in range(count):
        file.write_text(mutant(context.random, context.random.choice(texts), context.random.choice(texts)), errors="surrogateescape")
        # A crash ends `run` with the message; the mutant stays in the folder.
        done = context.run("mp-opt", file, "-o", "/dev/null", *pipelines[nth % len(pipelines)], timeout=60)
        require(done.returncode == 0 or "error: " in done.stdout, f"mutant {nth} fails without a word: {done.stdout[:300]}")
        accepted += done.returncode == 0
    require(accepted > count / 50, f"only {accepted} mutants were accepted, so passes saw none")
    return f"{count} mutants, {accepted} of them accepted"


@fault(37, "text that is not read back", Severity.LOSS,
       "what is printed, as text, in generic form and as bytecode, parses and prints the same; so does what each pass makes",
       by=[ctest("house/passes-twice"), unit("registry-test")])
def all_modules_of_the_repository(context):
    """each module of examples, models and lit tests: text, generic text and bytecode are read back and print the same"""
    count = 0
    for path, split in modules(context):
        options = ("--split-input-file",) if split else ()
        text = context.run("mp-opt", path, "--verify-roundtrip", *options)
        if text.returncode:
            # Some tests are of errors of passes, and some of files that do not parse.
            require("roundtrip" not in text.stdout.lower(), f"{path}: {text.stdout[:600]}")
            continue
        if split or count % context.either(3, 1):
            count += 1
            continue
        once, bytecode, generic = (context.work / name for name in ("once.mlir", "once.mlirbc", "generic.mlir"))
        context.succeeds("mp-opt", path, "-o", once)
        context.succeeds("mp-opt", once, "--emit-bytecode", "-o", bytecode)
        context.succeeds("mp-opt", once, "--mlir-print-op-generic", "-o", generic)
        first = once.read_text()
        for form in (once, bytecode, generic):
            trust = ("--trust-bytecode",) if form == bytecode else ()
            require(context.succeeds("mp-opt", *trust, form) == first, f"{path}: {form.suffix} prints another text")
        count += 1
    require(count > 100, f"only {count} modules were found")
    return f"{count} modules"


@fault(38, "a pass that fails or crashes", Severity.CRASH,
       "its input and the command that runs it again are kept, errors stay, and no IR floods the screen",
       by=[lit("mp-run/reproducer.mlir"), lit("mp-run/crash.test"), unit("reproducer-test")])
def the_printed_command_fails_again(context):
    """a module with nothing to train: at most 50 lines, exit code 1, and the command of the reproducer fails in the same way"""
    path, kept = context.net(), context.work / "failed.mlir"
    said = context.refused("mp-run", "plan", path, "--batch", "8", "--device", "cpu", "--recompute", "some", "--reproducer", kept)
    require(said.count("\n") <= 50, f"{said.count(chr(10))} lines")
    command = kept.read_text().splitlines()[0]
    require(command == f"// mp-opt --run-reproducer {kept}", command)
    again = context.refused("mp-opt", "--run-reproducer", kept)
    error = re.search(r"error: .*", said)[0]
    require(error in again, f"{error} became {again[:300]}")
    return error


@fault(39, "passes twice or in another order", Severity.LOSS,
       "a pass that runs again changes nothing or refuses with a located error; so do passes in an order that is not supported",
       by=[ctest("house/passes-twice"), lit("passes/autocast/mp-autocast-twice.mlir"), lit("passes/step/mp-random-order-invalid.mlir"),
           lit("passes/step/mp-verify-step-invalid.mlir"), lit("passes/kernels/mp-fuse-invalid.mlir")])
def neighbours_exchanged(context):
    """each two passes of the pipeline of training exchange places: the same module, other IR that verifies, or an error of one place"""
    net = context.net()
    dumped = context.run("mp-run", "plan", net, "--batch", "8", "--device", "cpu", "--dump-pass-pipeline").stdout
    inner = re.search(r"builtin\.module\((mp-inline.*)\)\s*$", dumped, re.MULTILINE)[1]
    passes = re.findall(r"(?:func\.func\([^()]*\)|[a-z0-9-]+)(?:\{[^{}]*\})?", inner)
    require(",".join(passes) == inner, f"the pipeline is not understood: {inner}")
    errors = same = 0
    straight = context.succeeds("mp-opt", net, f"--pass-pipeline=builtin.module({inner})")
    for at in range(len(passes) - 1):
        order = passes[:at] + [passes[at + 1], passes[at]] + passes[at + 2:]
        done = context.run("mp-opt", net, f"--pass-pipeline=builtin.module({','.join(order)})")
        if done.returncode:
            require(re.search(r":\d+:\d+: error: ", done.stdout), f"{passes[at]} after {passes[at + 1]}: {done.stdout[:500]}")
            errors += 1
        elif done.stdout == straight:
            same += 1
    return f"{len(passes) - 1} exchanges: {errors} errors, {same} without effect"
