//===- Passes.td - every pass, documented ------------------*- tablegen -*-===//
//
// Each group of passes has its own Passes.td. The documentation is generated
// from all of them.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_TD
#define MP_PASSES_TD

include "passes/step/Passes.td"
include "passes/decode/Passes.td"
include "passes/loops/Passes.td"
include "passes/autocast/Passes.td"
include "passes/autodiff/Passes.td"
include "passes/kernels/Passes.td"
include "passes/inspect/Passes.td"

#endif // MP_PASSES_TD
