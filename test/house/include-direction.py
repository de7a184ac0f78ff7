#!/usr/bin/env python3
"""Data flows one way: a folder includes only itself and the folders above it."""

import re
from pathlib import Path

from _house import check, options, sources

# What each folder may include of ours, and which MLIR headers it may not see, even through others.
ALLOWED = {
    "dialect": {"dialect"},
    "passes": {"dialect", "passes"},
    "codegen": {"dialect", "passes", "codegen"},
    "runtime": {"codegen", "runtime"},
    "tools": {"dialect", "passes", "codegen", "runtime", "tools"},
}
# These never see MLIR, directly or through a header of ours.
WITHOUT_MLIR = re.compile(r"runtime/|codegen/Program[^/]*$|codegen/Compile\.h$|examples/[^/]*\.cpp$")
# A graph's meaning depends on no pass and on no machine. (InliningUtils.h is where
# MLIR keeps an interface of dialects.)
NOT_IN_DIALECT = re.compile(
    r'"mlir/(Pass|Transforms(?!/InliningUtils\.h)|Conversion|ExecutionEngine|Target)/|"mlir/Dialect/(LLVMIR|GPU|NVGPU|X86Vector|AMX)/'
    r"|\b(dnnl|onednn|cuda|cublas\w*|cudnn|nvvm|ptx|avx\w*|openmp)\b", re.IGNORECASE)
# The precompiled header serves passes/ and codegen/ too, so it names what they use.
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
    "dialect/Mp.h": '#include "mlir/IR/Dialect.h"\n#include "mlir/Transforms/InliningUtils.h"\n',
    "passes/A.cpp": '#include "dialect/Mp.h"\n',
    "codegen/Program.h": "#include <vector>\n",
    "runtime/A.cpp": '#include "codegen/Program.h"\n',
}
FAULTS = [
    {"dialect/Bad.cpp": '#include "passes/Passes.h"\n'},
    {"dialect/Bad.td": 'include "codegen/Bad.td"\n'},
    {"passes/Bad.cpp": '#include "codegen/Compile.h"\n'},
    {"codegen/cpu/Bad.cpp": '#include "runtime/Session.h"\n'},
    {"runtime/Bad.cpp": '#include "dialect/Mp.h"\n'},
    {"runtime/Bad.cpp": "#include <mlir/IR/Builders.h>\n"},
    {"codegen/Compile.h": '#include "codegen/Other.h"\n', "codegen/Other.h": '#include "mlir/IR/Builders.h"\n'},
    {"dialect/Bad.cpp": 'return "dnnl.matmul";\n'},
    {"dialect/Bad.cpp": '#include "mlir/Pass/Pass.h"\n'},
    {"dialect/Bad.cpp": '#include "mlir/Transforms/Passes.h"\n'},
]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)
