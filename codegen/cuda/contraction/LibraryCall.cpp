//===- LibraryCall.cpp - a library's kernel instead of ours ---------------===//
#include "codegen/cuda/contraction/LibraryCall.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

bool mp::cuda::isForLibrary(const TunedShape &shape,
                            const ContractionSpec &spec,
                            const EmitOptions &options) {
  bool has = std::holds_alternative<GemmShape>(shape) ? options.cublaslt
                                                      : options.cudnn;
  if (!has || !options.plan)
    return false;
  const TunePlan::Choice *choice = options.plan->find(shape);
  return choice && !choice->config && spec.c == spec.a &&
         pathOf(productOf(shape)) != GemmPath::Any &&
         (!spec.bias || spec.bias == spec.c);
}

EmittedKernel mp::cuda::emitLibraryCall(Operation *anchor, LibraryCall library,
                                        bool tf32) {
  EmittedKernel kernel;
  kernel.temporaries.push_back(library.workspace);
  KernelCall call;
  call.routine = library.routine.str();
  call.flops = library.flops;
  call.attributes = std::move(library.attributes);
  call.attributes.emplace_back("compute", tf32 ? "tf32" : "f32");
  call.attributes.emplace_back("workspace", int64_t(library.workspace));
  for (Value operand : anchor->getOperands())
    call.arguments.push_back({KernelArgument::Kind::Operand,
                              cast<BlockArgument>(operand).getArgNumber()});
  call.arguments.push_back({KernelArgument::Kind::Result, 0});
  call.arguments.push_back({KernelArgument::Kind::Temporary, 0});
  kernel.call = std::move(call);
  return kernel;
}
