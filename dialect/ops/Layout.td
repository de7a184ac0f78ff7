//===- Layout.td - elements moved, repeated, summed in place -*- tablegen -*-===//
#ifndef MP_OPS_LAYOUT_TD
#define MP_OPS_LAYOUT_TD

include "dialect/MpBase.td"

def Mp_IndexTensor : RankedTensorOf<[I32, I64, UI8]>;

/// An op that a permutation of dimensions does not describe: it has a main loop of its
/// own, which does nothing but move bytes, so that what follows it is better fused with
/// what follows that.
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

def Mp_SliceOp : Mp_LayoutOp<"slice"> {
  let summary = "every stride-th element of a box";
  let description = [{
    Element i of dimension d of the result is element `offsets[d] + i * strides[d]` of
    the operand's. A size of -1 takes all that is left; the batch dimension can only be
    taken whole, `offsets[0, ...] sizes[-1, ...]`. Without `strides` all are one.

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
    /// The stride of a dimension, stated or not.
    int64_t strideOf(unsigned dim) {
      return getStrides() ? (*getStrides())[dim] : 1;
    }
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Mp_PadOp : Mp_LayoutOp<"pad"> {
  let summary = "a constant around the elements, and between them";
  let description = [{
    Dimension d gets `low[d]` elements in front, `high[d]` behind and `interior[d]`
    between two neighbours, all of them `value`, rounded to the element type. Padding is
    not negative; the batch dimension has none. `torch.nn.functional.pad` with mode
    "constant", by dimension and with XLA's interior.

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
    /// The padding between neighbours of a dimension, stated or not.
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

def Mp_ConcatOp : Mp_LayoutOp<"concat"> {
  let summary = "tensors one behind the other along a dimension";
  let description = [{
    `torch.cat`. The other dimensions agree. The batch dimension cannot grow: its size is
    not known here.

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
// Rows by number
//===----------------------------------------------------------------------===//

def Mp_GatherOp : Mp_LayoutOp<"gather", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "rows of a table, by their indices along a dimension";
  let description = [{
    `torch.index_select` and `torch.nn.functional.embedding`: the result has the table's
    shape with dimension `dim` replaced by the shape of the indices. Indices that are data
    are checked before the first step; one that is computed and out of range gets zeros.

    Example: `%r = mp.gather %table, %tokens dim(0) : tensor<1000x64xf32>, tensor<?x16xi32>`
  }];
  let torch = "index_select"; let tensorflow = "GatherV2"; let relay = "take"; let relax = "take";
  let arguments = (ins Mp_Tensor:$table, Mp_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs Mp_Tensor:$result);
  let assemblyFormat = "$table `,` $indices `dim` `(` $dim `)` attr-dict `:` type($table) `,` type($indices)";
  let layoutDeclarations = [{
    std::optional<double> getFill() { return 0; }
    static bool copiesElements() { return true; }
  }];
}

def Mp_ScatterAddOp : Mp_LayoutOp<"scatter_add", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "rows added up at their indices along a dimension";
  let description = [{
    The adjoint of mp.gather, `torch.index_add` with indices of any rank: row i of the
    updates is added to row `indices[i]` of `base`, or of zeros that are `size` rows.
    Equal indices add in their order, from the base on, whatever the number of threads.
    16-bit updates accumulate in f32, and an element is rounded once; integers wrap. An
    index out of range, where it is no data that is checked, adds nothing.

    Example: `%r = mp.scatter_add %u, %i dim(0) size(100) : tensor<?x6x4xf32>, tensor<?x6xi32>`,
    `%r = mp.scatter_add %u, %i into %x dim(0) : tensor<?x4xf32>, tensor<?xi32>, tensor<9x4xf32>`
  }];
  let torch = "scatter_add"; let tensorflow = "ScatterNd"; let relay = "scatter_elements";
  let arguments = (ins Mp_NumberTensor:$updates, Mp_IndexTensor:$indices,
    Optional<Mp_NumberTensor>:$base, I64Attr:$dim, OptionalAttr<I64Attr>:$size);
  let results = (outs Mp_NumberTensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices (`into` $base^)? `dim` `(` $dim `)` (`size` `(` $size^ `)`)? attr-dict `:`
    type($updates) `,` type($indices) (`,` type($base)^)?
  }];
  let terms = [{
    /// All updates may have one index.
    std::optional<int64_t> getTermCount() {
      auto type = getIndices().getType();
      return type.hasStaticShape() ? std::optional(type.getNumElements() + 1) : std::nullopt;
    }
  }];
  let layoutDeclarations = [{
    std::optional<double> getFill() { return 0; }
  }];
  let hasCanonicalizeMethod = 1;
}

def Mp_OneHotOp : Mp_CompositeOp<"one_hot", [DeclareOpInterfaceMethods<IndexOperandOpInterface>]> {
  let summary = "one at an index, zero elsewhere, along a new last dimension";
  let description = [{
    `torch.nn.functional.one_hot` with elements of the type that is asked for. An index
    out of range, where it is no data that is checked, has no one.

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
  let summary = "sum of all elements up to each, along a dimension";
  let description = [{
    `torch.cumsum`, in the operand's type; with `reverse`, of all elements from each on.
    16-bit elements accumulate in f32, and each sum is rounded once; integers wrap. The
    order of additions follows from the shape alone.

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
