//===- MpInterfaces.td - what passes and targets ask of an op -*- tablegen -*-===//
#ifndef MP_INTERFACES_TD
#define MP_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op that autodiff may meet. Every op of the dialect that yields a float
    implements it: with a rule, or by stating that it has none.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the adjoint: one value an operand, null where no gradient flows.
        `gradients` holds one value a result, null where none arrived. A rule
        leaves broadcasting and element types alone: the walker sums a gradient
        back to its operand's shape and casts it to its operand's type, once.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildGradients",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$gradients)>,
    StaticInterfaceMethod<[{
        Why the op has no gradient; empty where it has one.
      }],
      "::llvm::StringRef", "whyNotDifferentiable", (ins), [{}], [{ return {}; }]>,
    StaticInterfaceMethod<[{
        Whether the op is there to keep gradients from passing: none flows, and that is
        no error.
      }],
      "bool", "stopsGradient", (ins), [{}], [{ return false; }]>,
    StaticInterfaceMethod<[{
        Valid f64 inputs away from kinks, for the tests that compare the rule with
        central differences.
      }],
      "std::vector<::mp::OpSample>", "sampleInputs", (ins), [{}], [{ return {}; }]>,
  ];
}

def AutocastOpInterface : OpInterface<"AutocastOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    Facts that autocast policies judge by. Which category an op falls into is the
    policy's decision, keyed by the op's name in another system.
  }];
  let methods = [
    StaticInterfaceMethod<"The op's name in `system` (\"torch\", \"tensorflow\"), or \"\".",
      "::llvm::StringRef", "getAutocastName", (ins "::llvm::StringRef":$system)>,
    InterfaceMethod<[{
        Whether a policy may change the type of this operand. Operands that are no
        floats, or are f64, are never eligible and need not be excluded here.
      }],
      "bool", "isAutocastEligible", (ins "unsigned":$operand), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        Lets the op multiply its f32 operands in `type`, which has fewer bits; null takes
        that back. Nothing happens to an op that cannot.
      }],
      "void", "setComputeType", (ins "::mlir::FloatType":$type), [{}], [{ (void)type; }]>,
    InterfaceMethod<[{
        Lets the op yield the f32 sums of its 16-bit operands as they are, not rounded to
        the operands' type; false, and nothing happens, where it is no op that can.
      }],
      "bool", "keepSums", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether every element of the one result is an element of an eligible operand, or
        zero: then it is the same to cast before the op as behind it.
      }],
      "bool", "copiesElements", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Gives the results the types that follow from the operands' new ones. By default
        that is the op's type rule.
      }],
      "::llvm::LogicalResult", "retypeResults", (ins), [{}], [{
        return ::mp::inferResultsAgain($_op.getOperation());
      }]>,
  ];
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An elementwise op, given once as the computation of one element. Both targets
    are made from it.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds one element of each result from one element of each operand with
        `arith` and `math` ops. Floats arrive in their compute type (f32, or f64
        for f64), integers signless; a float result is returned in its compute type
        or already in its own type. The caller rounds. An op that takes its index gets
        it behind its operands.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildScalars",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$scalars)>,
    InterfaceMethod<[{
        Whether an element costs as much as an exponential: such an op is computed
        once and kept rather than once a use.
      }],
      "bool", "isExpensive", (ins), [{}], [{ return false; }]>,
    StaticInterfaceMethod<[{
        Whether what is computed depends on the element's index in the result, counted
        row by row: i32, or i64 where that is too small.
      }],
      "bool", "takesIndex", (ins), [{}], [{ return false; }]>,
  ];
}

def RandomOpInterface : OpInterface<"RandomOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An elementwise op that draws random bits: for each element a word that is a
    function of the key (the run's seed, the attempt, the micro-batch), of the op's stream
    and of the element's index, and of nothing else. `mp-number-streams` gives streams,
    `mp-random-keys` keys.
  }];
  let methods = [
    InterfaceMethod<"The number that tells the op's bits from those of others, or nullopt.",
      "std::optional<uint64_t>", "getStream", (ins)>,
    InterfaceMethod<"Gives the op a stream.", "void", "setStream",
      (ins "std::optional<uint64_t>":$stream)>,
    InterfaceMethod<"Seed, attempt and, if there is one, micro-batch; empty at first.",
      "::mlir::MutableOperandRange", "getKeyMutable", (ins)>,
    StaticInterfaceMethod<[{
        Whether the op is there to draw once more what another one has drawn.
      }],
      "bool", "drawsAgain", (ins), [{}], [{ return false; }]>,
  ];
}

def EvaluationOpInterface : OpInterface<"EvaluationOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op that evaluation does otherwise than training. `mp-set-mode{mode=eval}` replaces
    it.
  }];
  let methods = [
    InterfaceMethod<"Builds what each result is in a function that evaluates.",
      "::llvm::SmallVector<::mlir::Value>", "buildEvaluation",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder)>,
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op that is a few elementwise ops and reductions in its compute type.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the op from others. Float operands arrive cast to the compute type;
        float results are returned in it, and the caller casts them back.
      }],
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op that folds whole dimensions of its one operand by an associative combiner.
  }];
  let methods = [
    InterfaceMethod<"The reduced dimensions, ascending and without repeats.",
      "::llvm::ArrayRef<int64_t>", "getDims", (ins)>,
    InterfaceMethod<"Whether a reduced dimension stays, with size one.",
      "bool", "getKeepdim", (ins)>,
    InterfaceMethod<"The value that the combiner leaves alone, of scalar type `type`.",
      "::mlir::TypedAttr", "getNeutral", (ins "::mlir::Type":$type)>,
    InterfaceMethod<"Builds the combination of an accumulator and an element.",
      "::mlir::Value", "buildCombiner",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$accumulator,
           "::mlir::Value":$element)>,
  ];
}

def AnchorOpInterface : OpInterface<"AnchorOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op with a main loop of its own: a contraction, a gather. It is the one anchor of its
    kernel, and a target attaches a model that emits it.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the result from other ops where the operands are none that a main loop
        takes: without elements, or of 8-bit floats. Null where the op stays.
      }],
      "::mlir::Value", "buildWithoutLoop", (ins "::mlir::ImplicitLocOpBuilder &":$builder),
      [{}], [{ (void)builder; return {}; }]>,
    InterfaceMethod<[{
        Whether its kernel may also compute what follows, as it stores its result. Where
        it may not, the result is to others what an argument is, and they are fused with
        each other.
      }],
      "bool", "takesEpilogue", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        How many terms an element of the result is the sum of, at most: products of its
        first two operands in a contraction, elements in others; 1 where elements only
        move. Nullopt where that hangs on `?`.
      }],
      "std::optional<int64_t>", "getTermCount", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"The number that elements of the result have that are made of no operand's.",
      "std::optional<double>", "getFill", (ins), [{}], [{ return std::nullopt; }]>,
  ];
}

def IndexOperandOpInterface : OpInterface<"IndexOperandOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An op with integer operands that index into something. The range travels to
    the program's inputs, so that data is checked before the first step.
  }];
  let methods = [
    InterfaceMethod<[{
        The half-open range that elements of `operand` must lie in, and a value
        outside of it that is also allowed; nullopt where any element will do.
      }],
      "std::optional<::mp::IndexRange>", "getIndexRange", (ins "unsigned":$operand)>,
  ];
}

#endif // MP_INTERFACES_TD
