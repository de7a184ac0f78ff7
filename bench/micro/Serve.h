//===- Serve.h - kernels measured on request --------------------*- C++ -*-===//
#ifndef MP_BENCH_MICRO_SERVE_H
#define MP_BENCH_MICRO_SERVE_H

namespace mp::micro {

/// Answers each line of the standard input by a line of JSON, so that whoever
/// asks can measure something else in between:
///
///   list                     the convolutions and attentions
///   peaks                    {type: {instructions: 1e9 operations a second}}
///   conv2d/bf16/56/input 5   {"seconds": [CPU time of each of 5 runs]}
///   matmul/f32/1024/nt 5     the same for a square product, here with B [n, k]
///   attention/f32/64x1024/backward 5   the same for attention
///
/// A kernel is compiled, and runs once, before its first answer.
void serve();

} // namespace mp::micro

#endif // MP_BENCH_MICRO_SERVE_H
