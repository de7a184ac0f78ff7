//===- View.td - the same elements in another shape --------*- tablegen -*-===//
#ifndef MP_OPS_VIEW_TD
#define MP_OPS_VIEW_TD

include "dialect/MpBase.td"

class Mp_ViewOp<string mnemonic, list<Trait> traits = []>
    : Mp_Op<mnemonic, !listconcat([Pure, AutocastOpInterface, DifferentiableOpInterface], traits)> {
  string torch = mnemonic;
  string tensorflow = "";
  string relay = "";
  string relax = "";
  let extraClassDeclaration = Mp_PolicyFacts<torch, tensorflow, relay, relax, "movement">.cpp # [{
    static bool copiesElements() { return true; }
    static ::llvm::StringRef whyNotDifferentiable() { return ""; }
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &builder,
                                                      ::mlir::ValueRange gradients);
    static std::vector<::mp::OpSample> sampleInputs();
    ::llvm::LogicalResult retypeResults() {
      getResult().setType(getType().clone(getInput().getType().getElementType()));
      return ::mlir::success();
    }
  }];
}

def Mp_ReshapeOp : Mp_ViewOp<"reshape", [DeclareOpInterfaceMethods<BatchOpInterface>,
                                         DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "same elements in the same order, with another shape";
  let description = [{
    A leading `?` stays the leading dimension. It may be merged with its neighbours, or be split. The elements
    of a row of the operand must then be a multiple of those of a row of the result, or the reverse. The `?` of
    the result stands for the rows that the elements make: 16 times the batch in the second example, and the
    batch again in the third. `mp-specialize` binds it, and refuses a batch that does not divide, and values in
    which `?` stands for different multiples of the batch as operands of one op.

    Example:
    ```mlir
    %r = mp.reshape %x : tensor<?x28x28xf32> to tensor<?x784xf32>
    %m = mp.reshape %y : tensor<?x16x64xf32> to tensor<?x64xf32>
    %s = mp.reshape %m : tensor<?x64xf32> to tensor<?x16x64xf32>
    ```
  }];
  let torch = "reshape"; let tensorflow = "Reshape"; let relay = "reshape"; let relax = "reshape";
  let arguments = (ins Mp_Tensor:$input);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mp_TransposeOp : Mp_ViewOp<"transpose", [InferTypeOpAdaptor, DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "same elements with the dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Example: `%r = mp.transpose %x [1, 0] : tensor<4x3xf32>`
  }];
  let torch = "permute"; let tensorflow = "Transpose"; let relay = "transpose"; let relax = "permute_dims";
  let arguments = (ins Mp_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Mp_BroadcastOp : Mp_ViewOp<"broadcast", [DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "elements repeated to fill a larger shape";
  let description = [{
    Broadcasting follows NumPy: dimensions are aligned at the end, and a dimension of size one is repeated. A
    `?` that the operand does not have is the batch, so that each sample gets a copy of a parameter, as of a
    class token. The gradient of the parameter is the sum over the batch.

    Example:
    ```mlir
    %r = mp.broadcast %x : tensor<4x1xf32> to tensor<4x3xf32>
    %t = mp.broadcast %token : tensor<1x1x64xf32> to tensor<?x1x64xf32>
    ```
  }];
  let torch = "expand"; let tensorflow = "BroadcastTo"; let relay = "broadcast_to_like"; let relax = "broadcast_to";
  let arguments = (ins Mp_Tensor:$input);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // MP_OPS_VIEW_TD
