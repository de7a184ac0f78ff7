#!/usr/bin/env python3
"""Adds to mlir-tblgen's text about a dialect what it leaves out: which arguments may be absent, and their defaults.

    scripts/add-defaults.py RECORDS.json <dialect.md

RECORDS.json is what `llvm-tblgen --dump-json` makes of the same files."""

import json
import re
import sys
from pathlib import Path

HEAD = re.compile(r"### `?(?:mp\.)?(\w+)`?( |$)")
ATTRIBUTE = re.compile(r"(<tr><td><code>(\w+)</code></td>.*)(</tr>)$")
OPERAND = re.compile(r"(\| `(\w+)` \| )(.*)$")
PARAMETER = re.compile(r"(\| (\w+) \| `[^`]+` \|.*\|)$")


def written(default):
    """A default as the text of a module has it: ::mp::LossReduction::mean is mean."""
    made = re.fullmatch(r'::mlir::StringAttr::get\(\$_ctxt, (".*")\)', default)
    if made:
        return made.group(1)
    if default.startswith("{"):
        return f"[{default[1:-1]}]"
    return default if default.startswith('"') else default.split("::")[-1]


def absence(records, argument):
    """Returns the text about an absent argument, or that it may not be absent."""
    record = records[argument["def"]] if isinstance(argument, dict) else {"!superclasses": []}
    default, classes = record.get("initial") or record.get("defaultValue"), record["!superclasses"]
    if record.get("isOptional") or {"Optional", "OptionalParameter"} & set(classes):
        return "optional"
    return f"`{written(default)}`" if default and default != "kRequired" else "required"


def arguments(records):
    """Returns {heading: {argument: meaning of absence}} of every op and attribute of the dialect."""
    found = {}
    for name in records["!instanceof"]["Op"]:
        op = records[name]
        both = op["arguments"]["args"] + op["results"]["args"]
        found[op["opName"]] = {argument: absence(records, what) for what, argument in both}
    for name in records["!instanceof"]["AttrDef"]:
        attribute = records[name]
        if not attribute["hasCustomAssemblyFormat"] or "Mp_FieldsAttr" in attribute["!superclasses"]:
            found[attribute["cppClassName"]] = {argument: absence(records, what)
                                                for what, argument in attribute["parameters"]["args"]}
    return found


def extended(lines, known):
    """The lines, each with the default of the argument that it is about."""
    current = {}
    for line in lines:
        if head := HEAD.match(line):
            current = known.get(head.group(1), {})
        if line.startswith("<tr><th>Attribute</th>"):
            line = line.replace("</tr>", "<th>Default</th></tr>")
        elif current and line.startswith("| Parameter |"):
            line += " Default |"
        elif current and line.startswith("| :-------: | :-------: |"):
            line += " ------- |"
        elif match := ATTRIBUTE.match(line):
            default = re.sub(r"`(.*)`", r"<code>\1</code>", current[match.group(2)])
            line = f"{match.group(1)}<td>{default}</td>{match.group(3)}"
        elif (match := OPERAND.match(line)) and current.get(match.group(2)) == "optional":
            line = f"{match.group(1)}optional {match.group(3)}"
        elif current and (match := PARAMETER.match(line)):
            line = f"{match.group(1)} {current[match.group(2)]} |"
        yield line


def main():
    records = json.loads(Path(sys.argv[1]).read_text())
    print("\n".join(extended(sys.stdin.read().splitlines(), arguments(records))))


if __name__ == "__main__":
    main()
