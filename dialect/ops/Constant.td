//===- Constant.td - values from nothing -------------------*- tablegen -*-===//
#ifndef MP_OPS_CONSTANT_TD
#define MP_OPS_CONSTANT_TD

include "dialect/MpBase.td"

def Mp_ConstantOp : Mp_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{Example: `%c = mp.constant dense<2.0> : tensor<f32>`}];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "double":$value)>];
  let hasFolder = 1;
}

def Mp_IotaOp : Mp_Op<"iota", [Pure]> {
  let summary = "index of every element along one dimension";
  let description = [{
    Example: `%i = mp.iota dim(1) : tensor<4x10xi32>`
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "`dim` `(` $dim `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // MP_OPS_CONSTANT_TD
