//===- MpBase.td - base classes of all ops -----------------*- tablegen -*-===//
#ifndef MP_BASE_TD
#define MP_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/MpDialect.td"
include "dialect/MpAttributes.td"
include "dialect/MpInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Mp_FloatTensor : RankedTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2]>;
def Mp_IntTensor : RankedTensorOf<[I8, UI8, I16, UI16, I32, UI32, I64]>;
def Mp_FlagTensor : RankedTensorOf<[I1]>;
def Mp_Tensor : RankedTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I1, I8, UI8, I16, UI16, I32, UI32, I64]>;
def Mp_NumberTensor : RankedTensorOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I8, UI8, I16, UI16, I32, UI32, I64]>;
/// A rank-0 tensor: a number that lives on the device.
class Mp_ScalarOf<Type element> : 0DTensorOf<[element]>;
/// A flag on the device. Assembly omits its type.
def Mp_Flag : Type<Mp_ScalarOf<I1>.predicate, "0D tensor of 1-bit signless integer values">,
              BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

/// A count on the device. Assembly omits its type too.
def Mp_Count : Type<Mp_ScalarOf<I64>.predicate, "0D tensor of 64-bit signless integer values">,
              BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;

/// What the bits of a stream depend on: seed, stream, attempt and micro-batch.
def Mp_RandomKey : Type<And<[RankedTensorOf<[I64]>.predicate,
                             CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getShape() == "
                                   "::llvm::ArrayRef<int64_t>{4}">]>, "random key (tensor<4xi64>)">,
                   BuildableType<"::mlir::RankedTensorType::get({4}, $_builder.getI64Type())">;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

/// Makes a misspelt attribute an error, so that it is not silently ignored.
def Mp_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::mp";
}

/// Makes a tensor that is too large for sums and products of its sizes an error.
def Mp_LimitedSizes : NativeOpTrait<"LimitedSizes"> {
  let cppNamespace = "::mp";
}

class Mp_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mp_Dialect, mnemonic, !listconcat([Mp_KnownAttributes, Mp_LimitedSizes], traits)> {
  /// C++ declarations to add to those of the base classes.
  code extraDeclarations = "";
  /// Whether a scalar op costs as much as an exponential does, for each element.
  bit expensive = 0;
  code cost = !if(expensive, [{
    static bool isExpensive() { return true; }
  }], "");
  let extraClassDeclaration = cost # extraDeclarations;
}

/// Bodies of type rules. They add the types of the results to `types`, from `adaptor`.

/// The operands have one element type and are broadcast. The result has the type that they broadcast to.
defvar Mp_InferBroadcast = [{
      auto type = ::mp::inferElementwise(location, adaptor.getOperands());
      if (failed(type))
        return ::mlir::failure();
      types.push_back(*type);
      return ::mlir::success();}];
/// The same with elements i1.
defvar Mp_InferFlags = [{
      auto type = ::mp::inferElementwise(location, adaptor.getOperands());
      if (failed(type))
        return ::mlir::failure();
      types.push_back(type->clone(::mlir::IntegerType::get(context, 1)));
      return ::mlir::success();}];
/// The result has the first operand's type.
defvar Mp_InferFirst = [{
      types.push_back(adaptor.getOperands().front().getType());
      return ::mlir::success();}];

/// The names by which autocast policies refer to an op.
class Mp_PolicyFacts<string theTorch, string theTensorflow, string theRelay, string theRelax, string theClass> {
  code cpp = [{
    static ::llvm::StringRef getAutocastName(::llvm::StringRef system) {
      return ::llvm::StringSwitch<::llvm::StringRef>(system)
          .Case("torch", "}] # theTorch # [{")
          .Case("tensorflow", "}] # theTensorflow # [{")
          .Case("relay", "}] # theRelay # [{")
          .Case("relax", "}] # theRelax # [{")
          .Default("");
    }
    static ::mp::NumericClass getNumericClass() { return ::mp::NumericClass::}] # theClass # [{; }
  }];
}

/// An op on tensors whose result type follows from its operands.
class Mp_TensorOp<string mnemonic, list<Trait> traits = []>
    : Mp_Op<mnemonic, !listconcat([InferTypeOpAdaptor, AutocastOpInterface,
                                   DifferentiableOpInterface], traits)> {
  /// Names of the op in other systems, which are the keys of autocast policies. A
  /// name is "" if the system has no such op, and therefore no rule for it. "A+B"
  /// means that the system composes the op of several.
  string torch = "";
  string tensorflow = "";
  string relay = "";
  string relax = "";
  /// The kind of arithmetic, which policies can name: a case of Mp_NumericClass.
  string numericClass = "none";
  /// The reason why there is no gradient rule; "" if the .cpp has one.
  string notDifferentiable = "";
  /// The body of the type rule; "" if the .cpp has it.
  code typeRule = "";
  /// C++ definitions of the functions that `extraDeclarations` declares.
  code extraDefinitions = "";

  code facts = Mp_PolicyFacts<torch, tensorflow, relay, relax, numericClass>.cpp # [{
    static ::llvm::StringRef whyNotDifferentiable() { return "}] # notDifferentiable # [{"; }
  }];
  code gradient = !if(!empty(notDifferentiable), [{
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &builder,
                                                      ::mlir::ValueRange gradients);
    static std::vector<::mp::OpSample> sampleInputs();
  }], [{
    ::llvm::SmallVector<::mlir::Value> buildGradients(::mlir::ImplicitLocOpBuilder &builder,
                                                      ::mlir::ValueRange gradients) {
      return ::llvm::SmallVector<::mlir::Value>((*this)->getNumOperands());
    }
  }]);
  let extraClassDeclaration = facts # cost # gradient # extraDeclarations;
  let extraClassDefinition = !if(!empty(typeRule), "", [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        [[maybe_unused]] ::mlir::MLIRContext *context,
        [[maybe_unused]] std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {}] # typeRule # [{
    }
  }]) # extraDefinitions;
}

/// A tensor op without side effects.
class Mp_PureOp<string mnemonic, list<Trait> traits = []>
    : Mp_TensorOp<mnemonic, !listconcat([Pure], traits)>;

/// An elementwise op. Its operands are broadcast against each other as in NumPy, unless `typeRule` is another.
class Mp_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ScalarOpInterface>], traits)> {
  let typeRule = Mp_InferBroadcast;
}

/// An op that decomposes into a few others in its compute type.
class Mp_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<DecomposableOpInterface>], traits)>;

#endif // MP_BASE_TD
