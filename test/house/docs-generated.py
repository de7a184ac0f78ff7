#!/usr/bin/env python3
"""docs/dialect.md and docs/passes.md are what ODS says, every op has a summary, every attribute of an op
a default or that it is optional or required, and every `Example:` of an op or attribute parses.

An example is a statement or a block of them. What it uses without defining it is
declared around it, with the types that the example itself writes."""

import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from _house import options

SECTION = re.compile(r"^### `?(mp\.\w+)`?$|^### (\w+Attr)$", re.MULTILINE)
EXAMPLE = re.compile(r"^Example: ((?:`[^`]+`(?:,\s*)?)+)|^Example:\n```mlir\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"%\w+")
TYPE = re.compile(r"(?:tensor<[^>]*>)")
ROW = re.compile(r"^<tr><td><code>(\w+)</code></td>.*</tr>$", re.MULTILINE)
DEFAULT = re.compile(r"<td>(optional|required|<code>[^<]+</code>)</td></tr>$")

LOSS = """func.func private @loss() -> tensor<f32>
func.func private @losses() -> (tensor<f32>, tensor<f32>)
mp.scaler @scaler
"""


def differences(generated, committed):
    """A diff of the two folders' files, as lines."""
    for path in sorted(generated.glob("*.md")):
        old = committed / path.name
        before = old.read_text().splitlines() if old.is_file() else []
        yield from difflib.unified_diff(before, path.read_text().splitlines(), f"docs/{path.name}", "ODS", lineterm="")


def sections(text):
    """(name, body) of every op and attribute."""
    heads = list(SECTION.finditer(text))
    for head, following in zip(heads, heads[1:] + [None]):
        yield head.group(1) or head.group(2), text[head.end():following.start() if following else len(text)]


def examples(body):
    for match in EXAMPLE.finditer(body):
        if match.group(2):
            yield match.group(2)
        else:
            yield from re.findall(r"`([^`]+)`", match.group(1))


def operands(example):
    """{name: type} of the values that statements use and do not define."""
    used, defined = {}, set()
    # The ops of a region that reads values from outside are statements too.
    between = r"\n\s*(?=%|mp\.)" if "mp.autocast" in example else r"\n(?=%|mp\.)"
    for statement in re.split(between, example):
        used.update((name, kind) for name, kind in statement_operands(statement).items() if name not in defined)
        defined.update(NAME.findall(statement.split("=", 1)[0]) if statement.lstrip().startswith("%") else ())
    return used


def statement_operands(statement):
    """{name: type} of the values that a statement uses, by the types that it writes."""
    if re.match(r"(.* = )?mp\.(kernel|scan)\b", statement.lstrip()):
        header = statement[:statement.index("{\n")]
        used = dict(re.findall(r"= (%\w+) : (tensor<[^>]*>)", header))
    elif re.match(r"(%\w+ = )?mp\.autocast", statement.lstrip()):
        return {}
    else:
        right = statement.split("=", 1)[1] if statement.lstrip().startswith("%") else statement
        flags = re.findall(r" if (%\w+)", right)
        # Operands that only some calls have include their types: weight(%w : tensor<4xf32>).
        typed = dict(re.findall(r"\((%\w+) : (tensor<[^>]*>)\)", right))
        names = [name for name in NAME.findall(right) if name not in flags and name not in typed]
        used = dict(zip(dict.fromkeys(names), TYPE.findall(right.rpartition(" : ")[2])))
        used.update(typed)
        header = right
    used.update((flag, "tensor<i1>") for flag in re.findall(r" if (%\w+)", header))
    return used


def module(name, example):
    """A module around an example."""
    if example.startswith("func.func"):
        return example
    if example.startswith("#"):
        return f"func.func private @f() attributes {{a = {example}}}"
    if name in ("mp.variable", "mp.data", "mp.scaler", "mp.policy"):
        return example
    if name == "mp.train":
        return LOSS + example
    if name == "mp.minimize":
        return LOSS + f"mp.train @step of @loss {{\n{example}\n}}"
    used = operands(example)
    if name == "mp.yield":
        (value, kind), = used.items()
        return (f"func.func @f(%x: {kind}) {{\n%r = mp.kernel({value} = %x : {kind}) -> {kind} {{\n{example}\n}}\n"
                "return\n}")
    variables = dict(re.findall(r"mp\.(?:read|write) (@[\w.]+).* : (tensor<[^>]*>)", example))
    state = "".join(f"mp.variable {symbol} : {kind} = #mp.init<zeros>\n" for symbol, kind in variables.items())
    arguments = ", ".join(f"{value}: {kind}" for value, kind in used.items())
    return f"{state}func.func @f({arguments}) {{\n{example}\nreturn\n}}"


def faults(text, tools):
    """One message for every op without a summary or example, and every example that fails."""
    for name, body in sections(text):
        found = list(examples(body))
        if name.startswith("mp.") and not re.match(r"\s*_\S.*_$", body, re.MULTILINE):
            yield f"{name} has no summary"
        if name.startswith("mp.") and not found:
            yield f"{name} has no example"
        for row in ROW.finditer(body):
            if not DEFAULT.search(row.group()):
                yield f"{name}: {row.group(1)} says neither its default nor whether it is optional"
        for example in found:
            try:
                source = module(name, example)
            except ValueError as error:
                yield f"{name}: cannot wrap '{example}': {error}"
                continue
            run = subprocess.run([tools / "mp-opt"], input=source, text=True, capture_output=True, check=False)
            if run.returncode:
                yield f"{name}: its example does not parse:\n{source}\n{run.stderr}"


PLANTED = "### `mp.relu`\n\n_A summary_\n\nExample: `%r = mp.relu %x : {}`\n"
PLANTED_ROW = PLANTED.format("tensor<4xf32>") + "<tr><td><code>eps</code></td><td>float</td>{}</tr>\n"


def self_test(tools):
    for text, wanted in ((PLANTED.format("tensor<4xf32>"), 0), (PLANTED.format("tensor<4xi32>"), 1),
                         ("### `mp.relu`\n\n_A summary_\n", 1),
                         (PLANTED_ROW.format("<td><code>1e-5</code></td>"), 0), (PLANTED_ROW.format(""), 1),
                         ("### `mp.relu`\n\nExample: `%r = mp.relu %x : tensor<4xf32>`\n", 1)):
        found = list(faults(text, tools))
        if len(found) != wanted:
            sys.exit(f"the check itself is broken: {text!r} gives {found}")


def main():
    arguments = options(__doc__)
    self_test(arguments.tools)
    generated = (arguments.work / "generated-docs").resolve()
    shutil.rmtree(generated, ignore_errors=True)
    subprocess.run([arguments.source / "scripts" / "update-docs.sh", generated], check=True)
    found = list(differences(generated, arguments.source / "docs"))
    if found:
        print("\n".join(found), "\ndocs/ differ from ODS: run scripts/update-docs.sh")
    text = (generated / "dialect.md").read_text()
    if len(list(sections(text))) < 60:
        sys.exit("the check itself is broken: it finds few ops in the docs")
    bad = list(faults(text, arguments.tools))
    print("\n".join(bad))
    sys.exit(1 if found or bad else 0)


if __name__ == "__main__":
    main()
