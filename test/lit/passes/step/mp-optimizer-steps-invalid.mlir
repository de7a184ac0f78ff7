// RUN: mp-opt %s -mp-optimizer=total-steps=-3 -verify-diagnostics

// expected-error@below {{total-steps is -3, expected the length of the run, or 0 where it is not known}}
module {
}
