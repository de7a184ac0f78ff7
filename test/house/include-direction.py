#!/usr/bin/env python3
"""Data flows one way: a folder includes only itself and the folders above it."""

import re
from pathlib import Path

from _house import check, options, sources

# The folders whose headers each folder may include. "passes/*/" is every group of passes.
ALLOWED = {
    "support": {"support"},
    "program": {"support", "program"},
    "dialect": {"support", "program", "dialect"},
    "passes": {"support", "program", "dialect", "passes"},
    "codegen": {"support", "program", "dialect", "passes", "codegen"},
    "runtime": {"support", "program", "runtime"},
    "dsl": {"support", "program", "dialect", "dsl"},
    "api": {"support", "program", "runtime", "codegen", "dsl", "api"},
    "precision": {"support", "program", "dialect", "passes", "codegen", "runtime", "precision"},
    "tools": {"support", "program", "dialect", "passes", "codegen", "runtime", "precision", "tools"},
}
# A group of passes includes itself and the shared analyses of a graph.
GROUP = re.compile(r"passes/(\w+)/")
SHARED_GROUP = "analysis"
# These never see MLIR, directly or through a header of the repository.
WITHOUT_MLIR = re.compile(r"(support|program|runtime|api)/|codegen/Compile\.h$|dsl/(?!GraphState)\w+\.h$|examples/[^/]*\.cpp$")
# A graph's meaning depends on no pass and on no machine. (InliningUtils.h is where
# MLIR keeps an interface of dialects.)
NOT_IN_DIALECT = re.compile(
    r'"mlir/(Pass|Transforms(?!/InliningUtils\.h)|Conversion|ExecutionEngine|Target)/|"mlir/Dialect/(LLVMIR|GPU|NVGPU|X86Vector|AMX)/'
    r"|\b(dnnl|onednn|cuda|cublas\w*|cudnn|nvvm|ptx|avx\w*|openmp)\b", re.IGNORECASE)
# The precompiled header serves passes/ and codegen/ too, so it names the headers that they use.
SHARED_BY_ALL = "dialect/Pch.h"
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
SUFFIXES = (".h", ".cpp", ".td", ".cuh")


def includes(root, path):
    return INCLUDE.findall((root / path).read_text())


def chain_to_mlir(root, path, seen):
    """The chain of includes from `path` to an MLIR header, or None."""
    for name in includes(root, path):
        if name.startswith("mlir/"):
            return [str(path), name]
        # A header written by the build (`.inc`) exists in no source folder.
        if name not in seen and (root / name).is_file():
            seen.add(name)
            chain = chain_to_mlir(root, Path(name), seen)
            if chain:
                return [str(path), *chain]
    return None


def findings(root):
    for path in sources(root, *SUFFIXES):
        folder = path.parts[0]
        for name in includes(root, path):
            target = name.split("/")[0]
            if folder in ALLOWED and target in ALLOWED and target not in ALLOWED[folder]:
                yield f"{path}: includes {name}, but {folder}/ may only know {', '.join(sorted(ALLOWED[folder]))}"
            own, other = GROUP.match(str(path)), GROUP.match(name)
            if own and other and other[1] not in (own[1], SHARED_GROUP):
                yield f"{path}: includes {name}, but passes/{own[1]}/ may only know itself and passes/{SHARED_GROUP}/"
        if WITHOUT_MLIR.match(str(path)):
            chain = chain_to_mlir(root, path, set())
            if chain:
                yield f"{path}: sees MLIR: {' -> '.join(chain)}"
        if folder == "dialect" and str(path) != SHARED_BY_ALL:
            for number, line in enumerate((root / path).read_text().splitlines(), 1):
                named = NOT_IN_DIALECT.search(line.split("//")[0])
                if named:
                    yield f"{path}:{number}: dialect/ names a pass or a target: {named.group(0)}"


GOOD = {
    "support/A.h": "#include <vector>\n",
    "program/Program.h": '#include "support/A.h"\n',
    "dialect/Mp.h": '#include "mlir/IR/Dialect.h"\n#include "mlir/Transforms/InliningUtils.h"\n',
    "passes/analysis/Recipe.h": '#include "dialect/Mp.h"\n',
    "passes/step/A.cpp": '#include "passes/analysis/Recipe.h"\n#include "passes/step/B.h"\n',
    "runtime/A.cpp": '#include "program/Program.h"\n',
}
FAULTS = [
    {"support/Bad.h": '#include "program/Program.h"\n'},
    {"program/Bad.h": '#include "codegen/Compile.h"\n'},
    {"program/Bad.h": '#include "mlir/IR/Builders.h"\n'},
    {"dialect/Bad.cpp": '#include "passes/Passes.h"\n'},
    {"dialect/Bad.td": 'include "codegen/Bad.td"\n'},
    {"passes/Bad.cpp": '#include "codegen/Compile.h"\n'},
    {"passes/step/Bad.cpp": '#include "passes/autocast/Policy.h"\n'},
    {"passes/analysis/Bad.cpp": '#include "passes/step/A.h"\n'},
    {"codegen/cpu/Bad.cpp": '#include "runtime/Session.h"\n'},
    {"runtime/Bad.cpp": '#include "dialect/Mp.h"\n'},
    {"runtime/Bad.cpp": '#include "codegen/Compile.h"\n'},
    {"runtime/Bad.cpp": "#include <mlir/IR/Builders.h>\n"},
    {"codegen/Compile.h": '#include "codegen/Other.h"\n', "codegen/Other.h": '#include "mlir/IR/Builders.h"\n'},
    {"dialect/Bad.cpp": 'return "dnnl.matmul";\n'},
    {"dialect/Bad.cpp": '#include "mlir/Pass/Pass.h"\n'},
    {"dialect/Bad.cpp": '#include "mlir/Transforms/Passes.h"\n'},
]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)
