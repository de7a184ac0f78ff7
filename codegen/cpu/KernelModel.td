//===- KernelModel.td - how an anchor becomes a kernel -----*- tablegen -*-===//
#ifndef MP_CODEGEN_CPU_KERNELMODEL_TD
#define MP_CODEGEN_CPU_KERNELMODEL_TD

include "mlir/IR/OpBase.td"

def CpuKernelModel : OpInterface<"CpuKernelModel"> {
  let cppNamespace = "::mp::cpu";
  let description = [{
    What the CPU makes of an anchor, attached to the op from codegen/ops/, so that the
    dialect names no target.
  }];
  let methods = [
    InterfaceMethod<[{
        How many stages of the anchor's chain (`AnchorStages::chain`), in order, its
        kernel can compute with it. What else follows the anchor is split off into a
        kernel of its own.
      }],
      "unsigned", "accepts", (ins "::mp::StageList":$chain, "const ::mp::cpu::EmitOptions &":$options)>,
    InterfaceMethod<"Emits the anchor and the stages of its chain that it accepts.",
      "::llvm::FailureOr<::mp::EmittedKernel>", "emit",
      (ins "::mp::StageList":$chain, "const ::mp::cpu::EmitOptions &":$options,
           "::mp::cpu::ObjectCompiler &":$compiler)>,
  ];
}

#endif // MP_CODEGEN_CPU_KERNELMODEL_TD
