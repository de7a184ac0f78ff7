//===- State.td - variables and their reads and writes -----*- tablegen -*-===//
#ifndef MP_OPS_STATE_TD
#define MP_OPS_STATE_TD

include "dialect/MpBase.td"

def Mp_VariableOp : Mp_Op<"variable", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "tensor that persists between steps";
  let description = [{
    The kind determines which steps write the variable (see `#mp.kind`). Without a kind it is a trainable
    parameter. A `derived` variable is computed from others by the function `@derive`: it is a cast of the
    variable that it comes `from` or, with rank 0, a number about several variables. It has no initialiser and
    is never saved. A `window` variable holds what micro-batches gather until their step is applied (see
    `mp-accumulate`). It is never saved either. The role says what the variable is for (see `#mp.role`).

    `dims_in_files` says in which order files hold the dimensions: dimension i in a file is dimension
    `dims_in_files[i]` of the variable, as in `mp.transpose`. Weights that are loaded are permuted from this
    order, and checkpoints and exported weights have it, so that a convolution whose channels come last has the
    `state_dict` of PyTorch, `[out, in, height, width]`. What an optimizer keeps for a parameter lies as the
    parameter does.

    With `part_of`, every rank has a part of the tensor of that type (see mp-shard-optimizer): of its elements in
    order, padded with zeros to as many for each rank, rank r has the r-th part. Files hold the whole tensor.

    Example:
    ```mlir
    mp.variable @fc1.weight : tensor<256x784xf32> = #mp.init<kaiming_uniform>
    mp.variable @conv.weight : tensor<16x3x3x8xf32> dims_in_files[0, 3, 1, 2] = #mp.init<kaiming_uniform>
    mp.variable buffer @bn.running_mean : tensor<256xf32> = #mp.init<zeros>
    mp.variable derived @fc1.weight.f16 : tensor<256x784xf16> from @fc1.weight
    mp.variable derived @step.magnitude : tensor<f32>
    mp.variable slot @fc1.weight.exp_avg : tensor<256x784xf32> = #mp.init<zeros>
      as <slot of @fc1.weight named "exp_avg">
    mp.variable slot @fc2.weight.exp_avg : tensor<640xf32> part_of tensor<10x256xf32> = #mp.init<zeros>
      as <slot of @fc2.weight named "exp_avg">
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Mp_Tensor>:$type,
    DefaultValuedAttr<Mp_VariableKindAttr, "::mp::StateKind::parameter">:$kind,
    OptionalAttr<Mp_InitAttr>:$init, OptionalAttr<FlatSymbolRefAttr>:$source,
    OptionalAttr<Mp_RoleAttr>:$role, OptionalAttr<DenseI64ArrayAttr>:$dims_in_files,
    OptionalAttr<TypeAttrOf<Mp_Tensor>>:$part_of);
  let assemblyFormat = [{
    custom<KindAndName>($kind, $sym_name) `:` $type (`part_of` $part_of^)? (`dims_in_files` `` $dims_in_files^)?
    (`=` qualified($init)^)? (`from` $source^)? (`as` $role^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraDeclarations = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// The type of the tensor that files hold.
    ::mlir::RankedTensorType getWholeType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getPartOf().value_or(getType()));
    }
  }];
}

def Mp_ReadOp : Mp_Op<"read", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "value of a variable at the beginning of the function";
  let description = [{
    Writes of the same function are not visible to reads. Reads are therefore pure, and commute with writes.

    Example: `%w = mp.read @fc1.weight : tensor<256x784xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Mp_WriteOp : Mp_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemWrite]>]> {
  let summary = "new value of a variable after the function";
  let description = [{
    With `if`, the op writes only if the flag is set: a skipped step writes nothing. A function writes a
    variable at most once.

    Example: `mp.write @fc1.weight, %w1 if %ok : tensor<256x784xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Mp_Tensor:$value, Optional<Mp_Flag>:$predicate);
  let assemblyFormat = "$variable `,` $value (`if` $predicate^)? attr-dict `:` type($value)";
}

def Mp_StopGradientOp : Mp_PureOp<"stop_gradient", [DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let typeRule = Mp_InferFirst;
  let summary = "identity that no gradient passes";
  let description = [{
    Example: `%y = mp.stop_gradient %x : tensor<4xf32>`
  }];
  let torch = "detach"; let tensorflow = "StopGradient";
  let notDifferentiable = "it stops gradients";
  let extraDeclarations = [{ static bool stopsGradient() { return true; } }];
  let arguments = (ins Mp_Tensor:$input);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif // MP_OPS_STATE_TD
