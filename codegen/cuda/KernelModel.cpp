//===- KernelModel.cpp - how an anchor becomes code on CUDA ---------------===//
#include "codegen/cuda/KernelModel.h"

#include "codegen/cuda/KernelModel.cpp.inc"
