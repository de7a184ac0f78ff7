#!/usr/bin/env python3
"""What mantissa.h can do, mantissa-c.h can do too: each public function of its classes has one of C, and each number of a
step's results is a field of C."""

import re

from _house import check, options

HEADER, C_HEADER = "api/mantissa.h", "api/mantissa-c.h"
CLASSES = {"Module": "mantissa_module_", "Step": "mantissa_step_", "Results": "mantissa_results_", "Generator": "mantissa_generator_"}
#: Where the name in C is another one; None: C has none.
OTHER_NAMES = {
    "Module::fromGraph": None,  # the graph DSL is C++
    "Module::text": "mantissa_module_text", "Module::name": "mantissa_module_name",
    "Step::fromPrograms": "mantissa_step_load_programs", "Step::readInto": "mantissa_step_read",
    "Step::steps": "mantissa_step_get_counters", "Step::skipped": "mantissa_step_get_counters",
    "Step::device": "mantissa_step_get_counters", "Step::plannedBytes": "mantissa_step_get_counters",
    "Results::size": "mantissa_results_count", "Results::name": "mantissa_results_get",
    "Generator::write": None,  # begin, and next until it has no token
    "Generator::texts": "mantissa_generator_get_facts", "Generator::context": "mantissa_generator_get_facts",
    "Generator::vocabulary": "mantissa_generator_get_facts", "Generator::device": "mantissa_generator_get_facts",
    "Generator::plannedBytes": "mantissa_generator_get_facts",
}
# A function is at the first level of a class: two spaces, a type, a name, an opening parenthesis.
FUNCTION = re.compile(r"^  (?=\S)(?:static |virtual )?[\w:<>,&* ]+?[ &*](\w+)\(", re.MULTILINE)
FIELD = re.compile(r"^  (?:int64_t|double|bool) (\w+) = ", re.MULTILINE)


def snake(name):
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)


def public_part(text, kind, name):
    """The members before `private:`, without comments and bodies; "" if there is no such class."""
    match = re.search(rf"^{kind} {name}\b[^;]*?\{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"//.*", "", match[1].split("\nprivate:")[0]) if match else ""


def findings(root):
    text, in_c = (root / HEADER).read_text(), (root / C_HEADER).read_text()
    in_c = re.sub(r"//.*", "", in_c)
    for name, prefix in CLASSES.items():
        functions = set(FUNCTION.findall(public_part(text, "class", name))) - {name, "operator"}
        if not functions:
            yield f"{HEADER}: no class {name} with functions"
        for function in sorted(functions):
            wanted = OTHER_NAMES.get(f"{name}::{function}", prefix + snake(function))
            if wanted and f"{wanted}(" not in in_c:
                yield f"{C_HEADER}: no {wanted}, for {name}::{function} of {HEADER}"
    facts = in_c.split("typedef struct mantissa_step_facts")[-1].split("} mantissa_step_facts")[0]
    for field in FIELD.findall(public_part(text, "struct", "StepResults")):
        if not re.search(rf"\b{snake(field)};", facts):
            yield f"{C_HEADER}: mantissa_step_facts has no {snake(field)}, for StepResults::{field} of {HEADER}"


CLASS = "class %s {\npublic:\n  void run(int x);\n%sprivate:\n  void hidden();\n};\n"
RESULTS = "struct StepResults : Results {\n  double loss = 0;\n%s};\n"
GOOD = {
    HEADER: "".join(CLASS % (name, "") for name in CLASSES) + RESULTS % "",
    C_HEADER: "".join(f"int {prefix}run(int x);\n" for prefix in CLASSES.values())
    + "typedef struct mantissa_step_facts {\n  double loss;\n} mantissa_step_facts;\n",
}
FAULTS = [
    {HEADER: GOOD[HEADER].replace(CLASS % ("Step", ""), CLASS % ("Step", "  llvm::Error runTwice(int x);\n"))},
    {HEADER: GOOD[HEADER].replace(RESULTS % "", RESULTS % "  double gradientNorm = 0;\n")},
    {HEADER: GOOD[HEADER].replace("class Module", "class Other")},
    {C_HEADER: GOOD[C_HEADER].replace("mantissa_results_run(", "mantissa_results_ran(")},
]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)
