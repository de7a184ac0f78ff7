//===- PoolingRules.td - loops over windows of images ------*- tablegen -*-===//
#ifndef MP_POOLINGRULES_TD
#define MP_POOLINGRULES_TD

include "dialect/WindowRules.td"

/// An op with a main loop of its own over images, which reads far more than it
/// computes.
class Mp_ImageLoopOp<string mnemonic, list<Trait> traits = []>
    : Mp_PureOp<mnemonic,
                !listconcat([DeclareOpInterfaceMethods<
                                AnchorOpInterface, ["buildWithoutLoop"]>],
                            traits)> {
  let numericClass = "reduction";
  /// Whether some elements of the result may be zeros that no element
  /// contributes to.
  bit fills = 1;
  let extraDeclarations = [{
    static bool takesEpilogue() { return false; }
    std::optional<int64_t> getTermCount();
  }]#!if(fills, [{
    std::optional<double> getFill() { return 0; }
  }],
         "");
}

#endif // MP_POOLINGRULES_TD
