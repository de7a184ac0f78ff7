#include "codegen/cuda/KernelModel.h"

#include "codegen/cuda/KernelModel.cpp.inc"
