//===- UpdateRules.td - what the updates of all optimizers share *- tablegen -*-===//
#ifndef MP_UPDATERULES_TD
#define MP_UPDATERULES_TD

include "dialect/MpBase.td"

/// A parameter, its gradient, or state of an optimizer.
def Mp_StateTensor : RankedTensorOf<[F32, F64]>;

class Mp_UpdateOp<string mnemonic> : Mp_ElementwiseOp<mnemonic> {
  let notDifferentiable = "it is the end of a step";
}

/// What `#mp.name<...>` of a recipe says. The file of an optimizer holds it and its update.
class Mp_OptimizerAttr<string name, string mnemonic, dag arguments, list<string> methods = []>
    : Mp_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<OptimizerAttrInterface, methods>]> {
  let parameters = !con(arguments, (ins "bool":$maximize));
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
/// Of an optimizer that says what an update can do at most.
defvar Mp_Bounded = ["getMeasures", "buildMeasures", "buildBounds"];

#endif // MP_UPDATERULES_TD
