// RUN: not mp-opt %s -mp-clip-gradients=clip-norm=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mp-opt %s -mp-clip-gradients='clip-norm=1 clip-value=1' 2>&1 | FileCheck %s --check-prefix=BOTH
// NEGATIVE: error: gradients are to be clipped to -1.000000e+00, expected more than 0
// BOTH: error: gradients are to be clipped by norm and by value: choose one
module {}
