//===- KernelModel.td - how an anchor becomes a kernel ----*- tablegen -*-===//
#ifndef MP_CODEGEN_CUDA_KERNELMODEL_TD
#define MP_CODEGEN_CUDA_KERNELMODEL_TD

include "mlir/IR/OpBase.td"

def CudaKernelModel : OpInterface<"CudaKernelModel"> {
  let cppNamespace = "::mp::cuda";
  let description = [{
    What CUDA makes of an anchor, attached to the op from codegen/ops/, so that the
    dialect names no target.
  }];
  let methods = [
    InterfaceMethod<[{
        How many of the stages behind the anchor, in order, its kernel can compute with
        it. The rest is split off into a kernel that follows.
      }],
      "unsigned", "accepts", (ins "::mp::KernelOp":$kernel, "const ::mp::cuda::EmitOptions &":$options)>,
    InterfaceMethod<"Emits a kernel with nothing behind the anchor but what it accepts.",
      "::llvm::FailureOr<::mp::EmittedKernel>", "emit",
      (ins "::mp::KernelOp":$kernel, "const ::mp::cuda::EmitOptions &":$options,
           "::mp::cuda::KernelStore &":$store)>,
  ];
}

#endif // MP_CODEGEN_CUDA_KERNELMODEL_TD
