//===- ReductionRules.td - base of all reductions ----------*- tablegen -*-===//
#ifndef MP_REDUCTIONRULES_TD
#define MP_REDUCTIONRULES_TD

include "dialect/MpBase.td"

defvar Mp_ReductionArguments = (ins Mp_Tensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
defvar Mp_ReductionFormat = "$input `dims` `` $dims (`keepdim` $keepdim^)? attr-dict `:` type($input)";

defvar Mp_InferReduction = [{
      return inferReduction(location, adaptor.getInput(), adaptor.getDims(), adaptor.getKeepdim(), types);}];
defvar Mp_InferReductionBackward = [{
      return inferReductionBackward(location, adaptor.getGradient(), adaptor.getInput(), adaptor.getDims(),
                                    adaptor.getKeepdim(), types);}];

class Mp_ReductionOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<ReductionOpInterface, ["getNeutral", "buildCombiner"]>], traits)> {
  let numericClass = "reduction";
  let typeRule = Mp_InferReduction;
  let arguments = Mp_ReductionArguments;
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = Mp_ReductionFormat;
}

/// The gradient of a reduction's operand, with the operand's shape, computed from the
/// gradient of the result and from the operand.
class Mp_ReductionBackwardOp<string mnemonic> : Mp_CompositeOp<mnemonic> {
  let numericClass = "reduction";
  let typeRule = Mp_InferReductionBackward;
  defvar forward = !subst("_backward", "", mnemonic);
  let summary = "gradient of mp." # forward # " from its operand";
  let description = "Example: `%d = mp." # mnemonic # " %g, %x dims[1] : tensor<4xf32>, tensor<4x3xf32>`";
  let arguments = (ins Mp_FloatTensor:$gradient, Mp_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keepdim);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = [{
    $gradient `,` $input `dims` `` $dims (`keepdim` $keepdim^)? attr-dict `:`
    type($gradient) `,` type($input)
  }];
}

#endif // MP_REDUCTIONRULES_TD
