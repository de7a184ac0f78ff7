//===- Own.td - a dialect with one op and its gradient -----*- tablegen -*-===//
include "dialect/MpBase.td"

def Own_Dialect : Dialect {
  let name = "own";
  let cppNamespace = "::own";
  let dependentDialects = ["::mp::MpDialect"];
}

/// An elementwise op: its type rule is that of Mantissa's.
class Own_Op<string mnemonic> : Mp_ElementwiseOp<mnemonic> {
  let opDialect = Own_Dialect;
  let cppNamespace = "::own";
  let numericClass = "activation";
  let results = (outs Mp_FloatTensor:$result);
}

def Own_SoftsignOp : Own_Op<"softsign"> {
  let summary = "x / (1 + |x|)";
  let arguments = (ins Mp_FloatTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  // The names by which autocast policies know it: PyTorch runs it in any type.
  let torch = "softsign"; let tensorflow = "Softsign";
}

/// Rounds once, where ops in a row would round several times.
def Own_SoftsignBackwardOp : Own_Op<"softsign_backward"> {
  let summary = "gradient of own.softsign from its operand";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$operand);
  let assemblyFormat = "$gradient `,` $operand attr-dict `:` type($gradient) `,` type($operand)";
  let notDifferentiable = "second derivatives are not built";
}
