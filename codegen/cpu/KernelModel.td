//===- KernelModel.td - how an anchor becomes a kernel ----*- tablegen -*-===//
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
        How many of the stages behind the anchor, in order, its kernel can compute with
        it. The rest is split off into a kernel that follows.
      }],
      "unsigned", "accepts", (ins "::mp::KernelOp":$kernel, "const ::mp::cpu::EmitOptions &":$options)>,
    InterfaceMethod<"Emits a kernel with nothing behind the anchor but what it accepts.",
      "::llvm::FailureOr<::mp::EmittedKernel>", "emit",
      (ins "::mp::KernelOp":$kernel, "const ::mp::cpu::EmitOptions &":$options,
           "::mp::cpu::ObjectCompiler &":$compiler)>,
  ];
}

#endif // MP_CODEGEN_CPU_KERNELMODEL_TD
