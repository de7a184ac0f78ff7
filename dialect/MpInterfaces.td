//===- MpInterfaces.td - interfaces of ops for passes and targets ---------===//
#ifndef MP_INTERFACES_TD
#define MP_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    Autodiff may encounter any op of this interface. Every op of the dialect that yields a float implements
    it, either with a gradient rule or by stating that it has none.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the adjoint. Returns one value per operand, which is null where no
        gradient flows. `gradients` holds one value per result, which is null where
        none arrived. A rule does not handle broadcasting and element types: the
        walker sums a gradient back to its operand's shape and casts it to its
        operand's type, once.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildGradients",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$gradients)>,
    StaticInterfaceMethod<[{
        Returns the reason why the op has no gradient, or an empty string if it has one.
      }],
      "::llvm::StringRef", "whyNotDifferentiable", (ins), [{}], [{ return {}; }]>,
    StaticInterfaceMethod<[{
        Whether the purpose of the op is to stop gradients. No gradient flows, and this
        is not an error.
      }],
      "bool", "stopsGradient", (ins), [{}], [{ return false; }]>,
    StaticInterfaceMethod<[{
        Returns valid f64 inputs away from kinks, for the tests that compare the rule with
        central differences.
      }],
      "std::vector<::mp::OpSample>", "sampleInputs", (ins), [{}], [{ return {}; }]>,
  ];
}

def AutocastOpInterface : OpInterface<"AutocastOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The interface states the facts that autocast policies use. The category of an op is the cast decision of
    the policy, which looks the op up by its name in another system.
  }];
  let methods = [
    StaticInterfaceMethod<"Returns the op's name in `system` (\"torch\", \"tensorflow\"), or \"\".",
      "::llvm::StringRef", "getAutocastName", (ins "::llvm::StringRef":$system)>,
    StaticInterfaceMethod<"What kind of arithmetic the op is.",
      "::mp::NumericClass", "getNumericClass", (ins), [{}], [{ return ::mp::NumericClass::none; }]>,
    InterfaceMethod<[{
        Whether a policy may change the type of this operand. Operands that are not
        floats, or are f64, are never eligible and need not be excluded here.
      }],
      "bool", "isAutocastEligible", (ins "unsigned":$operand), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        Lets the op multiply its f32 operands in `type`, which has fewer bits. A null type
        undoes this. An op without this ability does not change.
      }],
      "void", "setComputeType", (ins "::mlir::FloatType":$type), [{}], [{ (void)type; }]>,
    InterfaceMethod<[{
        Lets the op yield the f32 sums of its 16-bit operands without rounding them to the
        operands' type. Returns false, and changes nothing, for an op without this ability.
      }],
      "bool", "keepSums", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether every element of the one result is an element of an eligible operand, or
        zero. A cast before the op is then equivalent to a cast after it.
      }],
      "bool", "copiesElements", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Sets the result types that follow from the new types of the operands. By default
        the op's type rule determines them.
      }],
      "::llvm::LogicalResult", "retypeResults", (ins), [{}], [{
        return ::mp::inferResultsAgain($_op.getOperation());
      }]>,
  ];
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    An elementwise op defines once how one element is computed. Both targets are generated from this
    definition.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds one element of each result from one element of each operand with
        `arith` and `math` ops. Floats are passed in their compute type (f32, or f64
        for f64), and integers are signless. A float result is returned in its compute
        type or already in its own type, and the caller rounds it. An op that takes its
        index gets it after its operands.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildScalars",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$scalars)>,
    InterfaceMethod<[{
        Whether an element costs as much as an exponential. The result of such an op is
        computed once and kept, rather than computed once per use.
      }],
      "bool", "isExpensive", (ins), [{}], [{ return false; }]>,
    StaticInterfaceMethod<[{
        Whether the result depends on the element's index in the result, counted row by
        row. The index is i32, or i64 if i32 is too small.
      }],
      "bool", "takesIndex", (ins), [{}], [{ return false; }]>,
  ];
}

def RandomOpInterface : OpInterface<"RandomOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    A random op is an elementwise op that draws random bits. The word for each element is a function of the
    key (the run's seed, the step attempt, the micro-batch, the time step of a scan), of the op's stream and
    of the element's index, and of nothing else. `mp-number-streams` assigns streams and numbers time steps, and
    `mp-random-keys` adds the other parts of keys.
  }];
  let methods = [
    InterfaceMethod<"Returns the number that distinguishes the op's bits from those of others, or nullopt.",
      "std::optional<uint64_t>", "getStream", (ins)>,
    InterfaceMethod<"Sets the stream of the op.", "void", "setStream",
      (ins "std::optional<uint64_t>":$stream)>,
    InterfaceMethod<[{
        Returns seed, attempt and, if there are any, micro-batch, time step, and the stream instead of the
        attribute. Before `mp-random-keys`, the range is empty or has the time step alone.
      }],
      "::mlir::MutableOperandRange", "getKeyMutable", (ins)>,
    StaticInterfaceMethod<[{
        Whether the purpose of the op is to draw again what another op has drawn.
      }],
      "bool", "drawsAgain", (ins), [{}], [{ return false; }]>,
  ];
}

def EvaluationOpInterface : OpInterface<"EvaluationOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op computes something else in evaluation than in training. `mp-set-mode{mode=eval}` replaces it.
  }];
  let methods = [
    InterfaceMethod<"Builds the value of each result for a function that evaluates.",
      "::llvm::SmallVector<::mlir::Value>", "buildEvaluation",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder)>,
    InterfaceMethod<"Whether this op does; one may do so only with some operands.",
      "bool", "differsInEvaluation", (ins), [{}], [{ return true; }]>,
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op is equivalent to a few elementwise ops and reductions in its compute type.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the op from others. Float operands are passed in the compute type. Float
        results are returned in it, and the caller casts them back.
      }],
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$operands)>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op folds whole dimensions of its one operand by an associative combiner.
  }];
  let methods = [
    InterfaceMethod<"Returns the reduced dimensions, in ascending order and without repetition.",
      "::llvm::ArrayRef<int64_t>", "getDims", (ins)>,
    InterfaceMethod<"Whether a reduced dimension is kept, with size one.",
      "bool", "getKeepdim", (ins)>,
    InterfaceMethod<"Returns the neutral value of the combiner, of scalar type `type`.",
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
    The op has a main loop of its own, such as a contraction or a gather. It is the one anchor of its kernel,
    and a target attaches a model that emits it.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the result from other ops if a main loop cannot process the operands, because
        they have no elements or are 8-bit floats. Returns null if the op stays.
      }],
      "::mlir::Value", "buildWithoutLoop", (ins "::mlir::ImplicitLocOpBuilder &":$builder),
      [{}], [{ (void)builder; return {}; }]>,
    InterfaceMethod<[{
        Whether the kernel of the op may also compute ops that follow, when it stores the
        result. If it may not, other ops read the result like an argument and are fused
        with each other.
      }],
      "bool", "takesEpilogue", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        Returns the largest number of terms that an element of the result is the sum of.
        The terms are products of the first two operands in a contraction, and elements in
        other ops. The number is 1 if elements are only moved, and nullopt if it depends on
        `?`.
      }],
      "std::optional<int64_t>", "getTermCount", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"Whether a result may be computed in the memory of an operand.",
      "bool", "mayReplace", (ins "unsigned":$operand, "unsigned":$result),
      [{}], [{ (void)operand; (void)result; return false; }]>,
    InterfaceMethod<"Returns the value of those elements of the result that no operand contributes to.",
      "std::optional<double>", "getFill", (ins), [{}], [{ return std::nullopt; }]>,
  ];
}

def IndexOperandOpInterface : OpInterface<"IndexOperandOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op has integer operands that index into something. Their range is propagated to the inputs of the
    program, so that data is checked before the first step.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the half-open range that elements of `operand` must lie in, and a value
        outside of it that is also allowed. Returns nullopt if any element is allowed.
      }],
      "std::optional<::mp::IndexRange>", "getIndexRange", (ins "unsigned":$operand)>,
  ];
}

def BatchOpInterface : OpInterface<"BatchOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op changes what the leading `?` of a type stands for, or has operands in which it stands for different
    multiples of the batch. In all other ops, it stands for the same in operands and results.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the multiple of the batch that the `?` of each result stands for, from those
        of the operands. Fails with an error if these do not fit.
      }],
      "::llvm::FailureOr<::mp::BatchMultiples>", "inferMultiples", (ins "::mp::MultipleOf":$multipleOf)>,
  ];
}

def RowOpInterface : OpInterface<"RowOpInterface"> {
  let cppNamespace = "::mp";
  let description = [{
    The op states how it treats the rows of a dimension: the places of one index. `followRows` (dialect/Rows.h) has
    the rules of elementwise ops, reductions and ops that decompose, and takes all others to mix rows.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the dimension of each result whose row i is computed from row i of dimension
        `dim` of an operand, and of no other of its rows. Returns nullopt if there is none.
      }],
      "std::optional<int64_t>", "followRows", (ins "unsigned":$operand, "int64_t":$dim)>,
  ];
}

#endif // MP_INTERFACES_TD
