//===- CudaStageKernel.h - stage kernels on the emulated device -*- C++ -*-===//
#ifndef MP_TEST_UNIT_CUDASTAGEKERNEL_H
#define MP_TEST_UNIT_CUDASTAGEKERNEL_H

#include "EmulatedDevice.h"
#include "StageKernel.h"

#include "codegen/Backend.h"
#include "codegen/cuda/nest/StageEmitter.h"
#include "codegen/stages/InPlace.h"
#include <map>

namespace mp::test {

/// Like cpu::StageKernel, printed as CUDA C++ and run on the emulated device.
class CudaStageKernel {
public:
  explicit CudaStageKernel(const std::string &text, bool predicated = false)
      : module(mlir::parseSourceString<mlir::ModuleOp>(text,
                                                       &cpu::testContext())) {
    EXPECT_TRUE(module) << text;
    mp::expandMath(*module);
    auto emitted =
        cuda::emitStages(body(), predicated, cuda::EmitOptions(), store);
    EXPECT_TRUE(llvm::succeeded(emitted));
    if (llvm::succeeded(emitted))
      kernel = std::move(*emitted);
  }

  mlir::Block &body() {
    return (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  }
  bool allowsInPlace(unsigned operand, unsigned result) {
    return mp::allowsInPlace(body(), operand, result, cuda::stageTarget());
  }

  /// Runs all launches. Equal pointers are one tensor on the device.
  void run(std::vector<void *> operands, std::vector<void *> results) {
    device.clear();
    mlir::Operation *terminator = body().getTerminator();
    for (size_t i = 0; i < operands.size(); ++i)
      place(operands[i], body().getArgument(i).getType());
    for (size_t i = 0; i < results.size(); ++i)
      place(results[i], terminator->getOperand(i).getType());
    std::vector<CUdeviceptr> temporaries;
    for (uint64_t bytes : kernel.temporaries)
      temporaries.push_back(allocate(bytes));
    for (const KernelLaunch &launch : kernel.launches) {
      std::vector<CUdeviceptr> arguments;
      for (const KernelArgument &argument : launch.arguments)
        arguments.push_back(argument.kind == KernelArgument::Kind::Operand
                                ? device[operands[argument.index]].address
                            : argument.kind == KernelArgument::Kind::Result
                                ? device[results[argument.index]].address
                                : temporaries[argument.index]);
      run(launch, arguments);
    }
    EXPECT_EQ(cuda("cuCtxSynchronize"), CUDA_SUCCESS);
    for (void *host : results)
      EXPECT_EQ(cuda("cuMemcpyDtoH_v2", host, device[host].address,
                     device[host].bytes),
                CUDA_SUCCESS);
  }

  std::string source() {
    std::string text;
    for (const KernelLaunch &launch : kernel.launches)
      text += store.source(launch.symbol).str();
    return text;
  }

  EmittedKernel kernel;
  cuda::KernelStore store;

private:
  struct Tensor {
    CUdeviceptr address;
    size_t bytes;
  };

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuda("cuMemAlloc_v2", &address, bytes), CUDA_SUCCESS);
    return address;
  }
  void place(void *host, mlir::Type type) {
    if (device.count(host))
      return;
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    size_t bytes = tensor.getNumElements() *
                   llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
    device[host] = {allocate(bytes), bytes};
    EXPECT_EQ(cuda("cuMemcpyHtoD_v2", device[host].address,
                   static_cast<const void *>(host), bytes),
              CUDA_SUCCESS);
  }

  void run(const KernelLaunch &launch, std::vector<CUdeviceptr> &arguments) {
    std::vector<void *> parameters;
    for (CUdeviceptr &argument : arguments)
      parameters.push_back(&argument);
    EXPECT_EQ(cuda("cuLaunchKernel", function(launch.symbol),
                   static_cast<unsigned>(launch.grid), 1u, 1u,
                   static_cast<unsigned>(launch.block), 1u, 1u,
                   static_cast<unsigned>(launch.shared), CUstream(),
                   parameters.data(), static_cast<void **>(nullptr)),
              CUDA_SUCCESS);
  }

  CUfunction function(const std::string &symbol) {
    std::string source = store.source(symbol).str();
    std::vector<Header> headers = cuda::kernelHeaders();
    std::vector<const char *> texts, names;
    for (const Header &header : headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    void *program = nullptr;
    nvrtc("nvrtcCreateProgram", &program, source.c_str(), "stages.cu",
          static_cast<int>(texts.size()), texts.data(), names.data());
    const char *options[] = {"--gpu-architecture=sm_80", "-std=c++17",
                             "-default-device", "-fmad=false"};
    nvrtcResult compiled = nvrtc("nvrtcCompileProgram", program, 4,
                                 static_cast<const char *const *>(options));
    size_t size = 0;
    nvrtc("nvrtcGetProgramLogSize", program, &size);
    std::string log(size, 0), object;
    nvrtc("nvrtcGetProgramLog", program, log.data());
    EXPECT_EQ(compiled, NVRTC_SUCCESS) << log << source;
    nvrtc("nvrtcGetCUBINSize", program, &size);
    object.resize(size);
    nvrtc("nvrtcGetCUBIN", program, object.data());
    nvrtc("nvrtcDestroyProgram", &program);
    CUmodule loaded = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuda("cuModuleLoadData", &loaded,
                   static_cast<const void *>(object.data())),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda("cuModuleGetFunction", &function, loaded, symbol.c_str()),
              CUDA_SUCCESS);
    return function;
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<void *, Tensor> device;
};

} // namespace mp::test

#endif // MP_TEST_UNIT_CUDASTAGEKERNEL_H
