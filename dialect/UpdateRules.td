//===- UpdateRules.td - base of all optimizer updates -------*- tablegen -*-===//
#ifndef MP_UPDATERULES_TD
#define MP_UPDATERULES_TD

include "dialect/MpBase.td"

/// A parameter, its gradient, or the state of an optimizer.
def Mp_StateTensor : RankedTensorOf<[F32, F64]>;

class Mp_UpdateOp<string mnemonic> : Mp_ElementwiseOp<mnemonic> {
  let notDifferentiable = "it is the end of a step";
}

/// The attribute `#mp.name<...>` of a recipe. The file of an optimizer holds this attribute and the update op.
class Mp_OptimizerAttr<string name, string mnemonic, dag arguments, list<string> methods = []>
    : Mp_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<OptimizerAttrInterface, methods>]> {
  let parameters = !con(arguments, (ins "bool":$maximize));
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
/// The interface methods of an optimizer that bounds its updates.
defvar Mp_Bounded = ["getMeasures", "buildMeasures", "buildBounds"];

#endif // MP_UPDATERULES_TD
