// Networks that are known to train have no findings under the casts of their recipes.
// RUN: bash -c 'for file in %S/../../../../examples/*/*.mlir %S/../../../models/*.mlir; do mp-opt $file -mp-lint -o /dev/null; mp-opt $file -mp-lint=batch=64 -o /dev/null; done' 2>&1 | count 0
