// RUN: mp-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'mp.records' is 1 : i64, expected a list}}
func.func @number() attributes {mp.records = 1} { return }

// -----

// expected-error @below {{'mp.records' has 1 : i64, expected op, source, phase, type and the numbers of earlier records as operands}}
func.func @fields() attributes {mp.records = [1]} { return }

// -----

// expected-error @below {{expected op, source, phase, type and the numbers of earlier records as operands}}
func.func @later() attributes {mp.records = [{op = "mp.exp", source = loc("a"), phase = "forward", type = tensor<4xf32>, operands = array<i64: 0>}]} {
  return
}
