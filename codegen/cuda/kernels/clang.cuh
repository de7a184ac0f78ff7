//===- clang.cuh - what NVRTC knows by itself, for clang ------------------===//
//
// clang finds these in the headers of a toolkit. Kernels use few of them, so
// that it takes one where there is no toolkit:
//
//   clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -S kernel.cu
//
//===----------------------------------------------------------------------===//
#pragma once

#ifdef __clang__
// What has no mark runs on the device, too.
#pragma clang force_cuda_host_device begin
// A value has the bits of its type: no contraction.
#pragma clang fp contract(off)

#ifndef __CLANG_CUDA_RUNTIME_WRAPPER_H__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#include <__clang_cuda_builtin_vars.h>

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

__device__ inline unsigned __float_as_uint(float value) {
  return __builtin_bit_cast(unsigned, value);
}
__device__ inline float __uint_as_float(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}
__device__ inline long long __double_as_longlong(double value) {
  return __builtin_bit_cast(long long, value);
}
__device__ inline double __longlong_as_double(long long bits) {
  return __builtin_bit_cast(double, bits);
}

__device__ inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
__device__ inline double __fma_rn(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
__device__ inline float __fsqrt_rn(float value) {
  return __nvvm_sqrt_rn_f(value);
}
__device__ inline double __dsqrt_rn(double value) {
  return __nvvm_sqrt_rn_d(value);
}
// Functions of libdevice, which a program that calls them is linked with.
extern "C" __device__ double __nv_pow(double base, double exponent);
extern "C" __device__ double __nv_exp(double value);
extern "C" __device__ double __nv_log(double value);
__device__ inline double pow(double base, double exponent) {
  return __nv_pow(base, exponent);
}
__device__ inline double exp(double value) { return __nv_exp(value); }
__device__ inline double log(double value) { return __nv_log(value); }

__device__ inline int __shfl_xor_sync(unsigned lanes, int value, int mask) {
  return __nvvm_shfl_sync_bfly_i32(lanes, value, mask, 31);
}
__device__ inline float __shfl_xor_sync(unsigned lanes, float value, int mask) {
  return __nvvm_shfl_sync_bfly_f32(lanes, value, mask, 31);
}
__device__ inline long long __shfl_xor_sync(unsigned lanes, long long value,
                                            int mask) {
  int low = __shfl_xor_sync(lanes, static_cast<int>(value), mask);
  int high = __shfl_xor_sync(lanes, static_cast<int>(value >> 32), mask);
  return static_cast<long long>(high) << 32 | static_cast<unsigned>(low);
}
__device__ inline double __shfl_xor_sync(unsigned lanes, double value,
                                         int mask) {
  return __longlong_as_double(
      __shfl_xor_sync(lanes, __double_as_longlong(value), mask));
}
__device__ inline int __any_sync(unsigned lanes, int value) {
  return __nvvm_vote_any_sync(lanes, value);
}
__device__ inline void __syncwarp(unsigned lanes = 0xffffffffu) {
  __nvvm_bar_warp_sync(lanes);
}
__device__ inline unsigned long long
__cvta_generic_to_shared(const void *pointer) {
  return reinterpret_cast<unsigned long long>(
      (const void __attribute__((address_space(3))) *)pointer);
}

#endif // __CLANG_CUDA_RUNTIME_WRAPPER_H__
#endif // __clang__
