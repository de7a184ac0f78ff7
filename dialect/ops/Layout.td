//===- Layout.td - elements moved, repeated, summed in place --------------===//
#ifndef MP_OPS_LAYOUT_TD
#define MP_OPS_LAYOUT_TD

include "dialect/MpBase.td"

def Mp_IndexTensor : RankedTensorOf<[I32, I64, UI8, UI16, UI32]>;

/// An op that a permutation of dimensions does not describe. It has its own main loop,
/// which only moves bytes, so the ops that follow it are better fused with one another.
class Mp_LayoutOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat([AnchorOpInterface], traits)> {
  let numericClass = "movement";
  code layoutDeclarations = "";
  code terms = [{
    std::optional<int64_t> getTermCount() { return 1; }
  }];
  let extraDeclarations = [{
    bool takesEpilogue() { return false; }
  }] # terms # layoutDeclarations;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

def Mp_SliceOp : Mp_LayoutOp<"slice", [DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "every stride-th element of a box";
  let description = [{
    Element i of dimension d of the result is element `offsets[d] + i * strides[d]` of that dimension of the
    operand. A size of -1 takes all elements that are left. The batch dimension can only be taken as a whole,
    with `offsets[0, ...] sizes[-1, ...]`. Without `strides`, all strides are one.

    Example: `%r = mp.slice %x offsets[0, 2] sizes[-1, 4] strides[1, 2] : tensor<?x10xf32>`
  }];
  let torch = "slice"; let tensorflow = "StridedSlice"; let relay = "strided_slice"; let relax = "strided_slice";
  let arguments = (ins Mp_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes,
    OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = [{
    $input `offsets` `` $offsets `sizes` `` $sizes (`strides` `` $strides^)? attr-dict `:` type($input)
  }];
  let layoutDeclarations = [{
    static bool copiesElements() { return true; }
    /// The stride of a dimension, given or default.
    int64_t strideOf(unsigned dim) {
      return getStrides() ? (*getStrides())[dim] : 1;
    }
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Mp_PadOp : Mp_LayoutOp<"pad"> {
  let summary = "padding with a constant around and between the elements";
  let description = [{
    Dimension d gets `low[d]` elements before its first, `high[d]` after its last and `interior[d]` between
    two neighbours. All of them are `value`, rounded to the element type. Padding is not negative, and the
    batch dimension has none. The op is `torch.nn.functional.pad` with mode "constant", with one entry per
    dimension and with the interior padding of XLA.

    Example: `%r = mp.pad %x low[0, 1] high[0, 1] interior[0, 2] value(1.0) : tensor<?x10xf32>`
  }];
  let torch = "constant_pad_nd"; let tensorflow = "PadV2"; let relay = "nn.pad"; let relax = "nn.pad";
  let arguments = (ins Mp_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
    OptionalAttr<DenseI64ArrayAttr>:$interior, DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = [{
    $input `low` `` $low `high` `` $high (`interior` `` $interior^)? (`value` `(` $value^ `)`)?
    attr-dict `:` type($input)
  }];
  let layoutDeclarations = [{
    bool copiesElements() { return getValue().isZero(); }
    /// The padding between neighbours of a dimension, given or default.
    int64_t interiorOf(unsigned dim) {
      return getInterior() ? (*getInterior())[dim] : 0;
    }
    /// The padding as an element of the tensor; a float is rounded to its type.
    ::mlir::TypedAttr getElement();
    std::optional<double> getFill() { return getValue().convertToDouble(); }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Mp_ConcatOp : Mp_LayoutOp<"concat", [DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "tensors joined along a dimension";
  let description = [{
    The op is `torch.cat`. The other dimensions must agree. The batch dimension cannot be joined, because its
    size is not known at this point.

    Example: `%r = mp.concat %x, %y dim(1) : tensor<?x10xf32>, tensor<?x4xf32>`
  }];
  let torch = "cat"; let tensorflow = "ConcatV2"; let relay = "concatenate"; let relax = "concat";
  let arguments = (ins Variadic<Mp_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$inputs `dim` `(` $dim `)` attr-dict `:` type($inputs)";
  let layoutDeclarations = [{ static bool copiesElements() { return true; } }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

def Mp_GatherOp : Mp_LayoutOp<"gather", [DeclareOpInterfaceMethods<IndexOperandOpInterface>,
                                        DeclareOpInterfaceMethods<BatchOpInterface>,
                                        DeclareOpInterfaceMethods<RowOpInterface>]> {
  let summary = "rows of a table at the given indices of a dimension";
  let description = [{
    The op is `torch.index_select` and `torch.nn.functional.embedding`. The result has the table's shape, with
    dimension `dim` replaced by the shape of the indices. Indices that are data are checked before the first
    step. A computed index that is out of range gets zeros.

    With `batched`, the indices begin with the table's dimensions before `dim`, and each of these rows has indices of
    its own, as in `tf.gather` with `batch_dims`. Along the last dimension, that is `torch.gather`.

    Example: `%r = mp.gather %table, %tokens dim(0) : tensor<1000x64xf32>, tensor<?x16xi32>`,
    `%r = mp.gather %logits, %best dim(1) batched : tensor<?x1000xf32>, tensor<?x5xi32>`
  }];
  let torch = "index_select"; let tensorflow = "GatherV2"; let relay = "take"; let relax = "take";
  let arguments = (ins Mp_Tensor:$table, Mp_IndexTensor:$indices, I64Attr:$dim, UnitAttr:$batched);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = [{
    $table `,` $indices `dim` `(` $dim `)` (`batched` $batched^)? attr-dict `:` type($table) `,` type($indices)
  }];
  let layoutDeclarations = [{
    /// The number of leading dimensions that table and indices share.
    int64_t getBatchDims() { return getBatched() ? getDim() : 0; }
    std::optional<double> getFill() { return 0; }
    static bool copiesElements() { return true; }
  }];
}

def Mp_ScatterAddOp : Mp_LayoutOp<"scatter_add", [DeclareOpInterfaceMethods<IndexOperandOpInterface>,
                                                  DeclareOpInterfaceMethods<BatchOpInterface>]> {
  let summary = "rows added up at their indices along a dimension";
  let description = [{
    The op is the adjoint of mp.gather, or `torch.index_add` with indices of any rank. Row i of the updates is
    added to row `indices[i]` of `base`. Without `base`, it is added to a tensor of zeros with `size` rows.
    Equal indices are added in their order, beginning with the base, whatever the number of threads. 16-bit
    updates accumulate in f32, and an element is rounded once. Integers wrap. An index that is out of range,
    and is not checked as data, adds nothing. With `batched`, the indices begin with the dimensions before `dim`, as in
    mp.gather. Along the last dimension, that is `torch.scatter_add`.

    Example: `%r = mp.scatter_add %u, %i dim(0) size(100) : tensor<?x6x4xf32>, tensor<?x6xi32>`,
    `%r = mp.scatter_add %u, %i into %x dim(0) : tensor<?x4xf32>, tensor<?xi32>, tensor<9x4xf32>`,
    `%r = mp.scatter_add %u, %i dim(1) batched size(9) : tensor<?x4xf32>, tensor<?x4xi32>`
  }];
  let torch = "scatter_add"; let tensorflow = "ScatterNd"; let relay = "scatter_elements";
  let arguments = (ins Mp_NumberTensor:$updates, Mp_IndexTensor:$indices,
    Optional<Mp_NumberTensor>:$base, I64Attr:$dim, OptionalAttr<I64Attr>:$size, UnitAttr:$batched);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices (`into` $base^)? `dim` `(` $dim `)` (`batched` $batched^)? (`size` `(` $size^ `)`)?
    attr-dict `:`
    type($updates) `,` type($indices) (`,` type($base)^)?
  }];
  let terms = [{
    /// All updates may have one index.
    std::optional<int64_t> getTermCount() {
      auto own = getIndices().getType().getShape().drop_front(getBatchDims());
      return ::mlir::ShapedType::isDynamicShape(own) ? std::nullopt : std::optional(::llvm::product_of(own) + 1);
    }
    /// The number of leading dimensions that updates and indices share before those of the indices alone.
    int64_t getBatchDims() { return getBatched() ? getDim() : 0; }
  }];
  let layoutDeclarations = [{
    std::optional<double> getFill() { return 0; }
    /// An element of the base is read where that of the result is written.
    bool mayReplace(unsigned operand, unsigned) { return operand == 2; }
  }];
  let hasCanonicalizeMethod = 1;
}

def Mp_ScatterRowsOp : Mp_LayoutOp<"scatter_rows"> {
  let summary = "rows of a table replaced at the given indices";
  let description = [{
    The op is `torch.index_copy` along the first dimension: the result is the table, with row i of the rows in place of
    row `indices[i]`. An index that is out of range replaces nothing. Indices that are in range differ from one another.
    Where the table is a variable and the result its new value, and nothing reads the old one later, only these rows are
    written: see mp-sparse-gradients.

    Example: `%r = mp.scatter_rows %rows, %indices into %table : tensor<?x64xf32>, tensor<?xi32>, tensor<1000x64xf32>`
  }];
  let torch = "index_copy"; let tensorflow = "TensorScatterUpdate";
  let notDifferentiable = "it is the end of a step";
  let arguments = (ins Mp_Tensor:$rows, Mp_IndexTensor:$indices, Mp_Tensor:$table);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = [{
    $rows `,` $indices `into` $table attr-dict `:` type($rows) `,` type($indices) `,` type($table)
  }];
  let layoutDeclarations = [{
    static bool copiesElements() { return true; }
    /// A row of the table that is not replaced stays where it is.
    bool mayReplace(unsigned operand, unsigned) { return operand == 2; }
  }];
}

def Mp_OneHotOp : Mp_CompositeOp<"one_hot", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "one at an index, zero elsewhere, along a new last dimension";
  let description = [{
    The op is `torch.nn.functional.one_hot`, with elements of the given type. An index that is out of range,
    and is not checked as data, has only zeros.

    Example: `%r = mp.one_hot %labels classes(10) as f32 : tensor<?xui8>`
  }];
  let torch = "one_hot"; let tensorflow = "OneHot";
  let notDifferentiable = "the operand is an index";
  let arguments = (ins Mp_IndexTensor:$indices, I64Attr:$classes, TypeAttr:$element);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$indices `classes` `(` $classes `)` `as` $element attr-dict `:` type($indices)";
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

def Mp_CumsumOp : Mp_LayoutOp<"cumsum"> {
  let summary = "running sum along a dimension";
  let description = [{
    The op is `torch.cumsum`, in the operand's type: each element of the result is the sum of all elements up
    to it. With `reverse`, it is the sum of all elements from it on. 16-bit elements accumulate in f32, and
    each sum is rounded once. Integers wrap. The order of additions depends on the shape alone.

    Example: `%r = mp.cumsum %x dim(1) reverse : tensor<?x10xf32>`
  }];
  let torch = "cumsum"; let tensorflow = "Cumsum"; let relax = "cumsum";
  let arguments = (ins Mp_NumberTensor:$input, I64Attr:$dim, UnitAttr:$reverse);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = "$input `dim` `(` $dim `)` (`reverse` $reverse^)? attr-dict `:` type($input)";
  let terms = [{
    std::optional<int64_t> getTermCount() {
      auto type = getInput().getType();
      return type.isDynamicDim(getDim()) ? std::nullopt : std::optional(type.getDimSize(getDim()));
    }
  }];
  let hasFolder = 1;
}

#endif // MP_OPS_LAYOUT_TD
