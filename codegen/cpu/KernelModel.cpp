//===- KernelModel.cpp - how an anchor becomes code on the CPU ------------===//
#include "codegen/cpu/KernelModel.h"

#include "codegen/cpu/KernelModel.cpp.inc"
