#include "codegen/cpu/KernelModel.h"

#include "codegen/cpu/KernelModel.cpp.inc"
