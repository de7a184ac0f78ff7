//===- KernelModel.td - how an anchor becomes a kernel -----*- tablegen -*-===//
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
        How many of all stages after the anchor (`AnchorStages::all`), in order, its
        kernel can compute with it. The rest is split off into a kernel that follows.
      }],
      "unsigned", "accepts", (ins "::mp::StageList":$stages, "const ::mp::cuda::EmitOptions &":$options)>,
    InterfaceMethod<"Emits the anchor and the stages after it, all of them accepted.",
      "::llvm::FailureOr<::mp::EmittedKernel>", "emit",
      (ins "::mp::StageList":$stages, "const ::mp::cuda::EmitOptions &":$options,
           "::mp::cuda::KernelStore &":$store)>,
  ];
}

#endif // MP_CODEGEN_CUDA_KERNELMODEL_TD
