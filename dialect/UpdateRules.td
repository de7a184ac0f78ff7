//===- UpdateRules.td - base of all optimizer updates ------*- tablegen -*-===//
#ifndef MP_UPDATERULES_TD
#define MP_UPDATERULES_TD

include "dialect/Fields.td"
include "dialect/MpBase.td"

/// A parameter, its gradient, or the state of an optimizer.
def Mp_StateTensor : RankedTensorOf<[F32, F64]>;

class Mp_UpdateOp<string mnemonic> : Mp_ElementwiseOp<mnemonic> {
  let notDifferentiable = "it is the end of a step";
}

/// The attribute `#mp.name<...>` of a recipe. The file of an optimizer holds this attribute and the update op.
class Mp_OptimizerAttr<string name, string mnemonic, dag fields, list<string> methods = []>
    : Mp_FieldsAttr<name, mnemonic, !con(fields, (ins Mp_Switch:$maximize)),
                    [DeclareAttrInterfaceMethods<OptimizerAttrInterface, methods>]>;
/// The interface methods of an optimizer that bounds its updates.
defvar Mp_Bounded = ["getMeasures", "buildMeasures", "buildBounds"];

/// One step of the optimizer that an attribute describes: `mp.name<field = value> TENSORS, SCALARS, SLOTS`. The
/// first two tensors are the parameter and its gradient, and the last slots may be `optional`. All but the
/// scalars have the parameter's type. The learning rate is an operand, so an update reads neither the field `lr` nor
/// `maximize`, by which the gradient has been negated. Slots stand among the tensors or follow the scalars; those that
/// only some fields need come last.
class Mp_OptimizerOp<string mnemonic, Attr attribute, dag tensors, dag scalars, dag slots = (ins),
                     dag optional = (ins)> : Mp_UpdateOp<mnemonic> {
  let arguments = !con(tensors, scalars, slots, optional, (ins attribute:$optimizer));
  defvar always = !con(tensors, scalars, slots);
  defvar names = !foreach(i, !range(!size(always)), "$" # !getdagname(always, i));
  defvar types = !foreach(name, names, "type(" # name # ")");
  defvar others = !foreach(i, !range(!size(optional)), "$" # !getdagname(optional, i));
  let assemblyFormat = "`` custom<FieldsOf>($optimizer) " # !interleave(names, " `,` ")
      # !interleave(!foreach(name, others, " (`,` " # name # "^)?"), "") # " attr-dict `:`\n"
      # !interleave(types, " `,` ") # !interleave(!foreach(name, others, " (`,` type(" # name # ")^)?"), "");
  let hasVerifier = 1;
  let typeRule = [{
      return inferUpdate(location, adaptor.getOperands(), }] # !size(tensors) # ", " # !size(scalars) # ", types);";
  let extraDefinitions = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifySlots(*this, getOptimizer()); }
  }];
}

#endif // MP_UPDATERULES_TD
