//===- LossRules.td - base of all losses -------------------*- tablegen -*-===//
#ifndef MP_LOSSRULES_TD
#define MP_LOSSRULES_TD

include "dialect/MpBase.td"

def Mp_LossReduction : Mp_Enum<"LossReduction", "reduction of the losses of elements or rows to the result", [
  I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"none", 2>,
  I32EnumAttrCase<"batchmean", 3>, // the sum divided by the leading dimension, for kl_div
]>;
def Mp_LossReductionAttr : EnumAttr<Mp_Dialect, Mp_LossReduction, "loss_reduction"> {
  let assemblyFormat = "`(` $value `)`";
}
defvar Mp_ReductionOfLoss = DefaultValuedAttr<Mp_LossReductionAttr, "::mp::LossReduction::mean">;

/// A loss of `input` against `target`, element by element. Either may be broadcast.
class Mp_ElementLossOp<string mnemonic, dag settings = (ins)> : Mp_CompositeOp<mnemonic> {
  let numericClass = "loss";
  let typeRule = [{
      auto each = inferElementwise(location, adaptor.getOperands());
      if (failed(each))
        return ::mlir::failure();
      types.push_back(lossType(*each, reductionOf(adaptor)));
      return ::mlir::success();}];
  let torch = mnemonic;
  let arguments = !con((ins Mp_FloatTensor:$input, Mp_FloatTensor:$target, Mp_ReductionOfLoss:$reduction), settings);
  let results = (outs Mp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $target (`reduction` `` $reduction^)? attr-dict `:` type($input) `,` type($target)";
  let hasVerifier = 1;
}

#endif // MP_LOSSRULES_TD
