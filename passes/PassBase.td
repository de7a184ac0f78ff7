//===- PassBase.td - what all passes share -----------------*- tablegen -*-===//
#ifndef MP_PASSES_PASSBASE_TD
#define MP_PASSES_PASSBASE_TD

include "mlir/Pass/PassBase.td"

/// A pass may build ops of the dialect even if the input contains none.
class Mp_Pass<string argument, string operation> : Pass<argument, operation> {
  let dependentDialects = ["::mp::MpDialect"];
}

#endif // MP_PASSES_PASSBASE_TD
