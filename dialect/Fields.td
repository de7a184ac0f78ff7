//===- Fields.td - attributes that are lists of named numbers -------------===//
//
// The parameters of `#mp.name<argument = value, ...>` declare all there is to
// know about its arguments: names, defaults and ranges. Parser, printer and
// verifier are made from them with dialect/Fields.h.
//
//===----------------------------------------------------------------------===//
#ifndef MP_FIELDS_TD
#define MP_FIELDS_TD

include "dialect/MpAttributes.td"

/// One argument. Its default is a number of C++ or kRequired, its domain a case of the enum class Domain.
class Mp_Field<string type, string theInitial, string theDomain, string range> : AttrParameter<type, range> {
  string initial = theInitial;
  string domain = theDomain;
}
class Mp_AnyNumber<string initial> : Mp_Field<"::mp::Number", initial, "Any", "">;
class Mp_NotNegative<string initial> : Mp_Field<"::mp::Number", initial, "NotNegative", "zero or more">;
class Mp_Fraction<string initial> : Mp_Field<"::mp::Number", initial, "Fraction", "at least 0 and less than 1">;
class Mp_Length<string initial> : Mp_Field<"int64_t", initial, "Length", "a whole number of at least 1">;
def Mp_RunLength : Mp_Field<"int64_t", "0", "RunLength", "as many as the run has, unless given">;
def Mp_Switch : Mp_Field<"bool", "false", "Flag", "">;

/// An attribute all of whose parameters are fields.
class Mp_FieldsAttr<string name, string attrMnemonic, dag fields, list<Trait> traits = []>
    : Mp_Attr<name, attrMnemonic, traits> {
  let parameters = fields;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  /// C++ on the parameters, by their names, that returns an error if they do not fit together.
  code invariant = "";

  defvar places = !range(!size(fields));
  defvar specs = !foreach(i, places, "{\"" # !getdagname(fields, i) # "\", "
      # !getdagarg<Mp_Field>(fields, i).initial # ", Domain::" # !getdagarg<Mp_Field>(fields, i).domain # "}");
  defvar declarations = !foreach(i, places, !getdagarg<Mp_Field>(fields, i).cppType # " " # !getdagname(fields, i));
  defvar values = !foreach(i, places, "double(" # !getdagname(fields, i) # ")");
  let extraClassDefinition = "static constexpr FieldSpec k$cppClass[] = {" # !interleave(specs, ", ") # "};" # [{

    ::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        }] # !interleave(declarations, ", ") # [{) {
      ::llvm::SmallVector<double> values{ }] # !interleave(values, ", ") # [{ };
      if (failed(verifyFields(emitError, k$cppClass, values)))
        return ::mlir::failure();}] # invariant # [{
      return ::mlir::success();
    }
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) {
      return parseFields<$cppClass>(parser, k$cppClass);
    }
    void $cppClass::print(::mlir::AsmPrinter &printer) const {
      auto toList = [](auto... value) { return ::llvm::SmallVector<double>{double(value)...}; };
      printFields(printer, k$cppClass, std::apply(toList, getImpl()->getAsKey()));
    }
  }];
}

#endif // MP_FIELDS_TD
