//===- ProgramText.h - words that printer and parser of a Program share ---===//
//
// Each line is one statement; indentation is only for readers. Text after ';'
// is a comment. Names made of letters, digits and _.$/*- are not quoted; others
// are in quotes, with \HH for unprintable characters. Bytes follow as '|' and
// base64.
//
// The number in the first line is a checksum of all lines after it. A kernel
// trusts its arguments, and would read and write anywhere if they were damaged.
// A text that is written by hand may omit it.
//
//   mp.program 2 c0ffee
//   module mlp
//   target cpu znver5
//   precision fp16
//   setting clip-norm 0.5
//   accumulate 4
//   ranks 2
//   graph mp.linear "(tensor<?x4xf32>) -> tensor<?x4xf32>" from 0 1 set "k"=1
//   variable fc1.bias parameter 256xf32 uniform -0.03 0.03 at "mlp.mlir":3:5
//   variable w.m slot 8xf32 part_of 3x5xf32 constant 0
//   variable c.w parameter 8x3x3x4xf32 constant 0 dims_in_files [0,3,1,2]
//   constant 4x4xf32 c0ffee
//     |AAAA...
//   kernel k_12ab "avx2,f16c" "mp.linear mp.relu"
//     source "mlp.mlir":7:10
//     code 4096 c0ffee
//     |f0VM...
//   entry step batch 128 arena 81920 recipe slow at "mlp.mlir":6:1
//     input image 128x784xui8 range 0 10 exempt 255 at "mlp.mlir":6:1
//     launch k_12ab grid 128 block 8 shared 0 args input0+0 @fc1.bias+0 arena+0
//     call dnnl.matmul grid 128 block 16 set m=128 a_strides=[4,1] args ...
//     copy 512 to @fc1.bias+0 from arena+0 if arena+1024
//     repeat 35 steps 1
//     launch k_34cd grid 20 block 4 shared 0 args arena+0 by 512 arena+17920
//     launch k_56ef grid 64 block 256 shared 0 table cooperative args arena+0
//     result loss f32 arena+64
//     record mp.exp forward 128x10xf32 from 0 2 magnitude 1 at "mlp.mlir":7:10
//     buffer 0 512 steps 0 3 mp.linear at "mlp.mlir":7:10
//   data train
//     column image "train-images*" idx ui8 key "" dims_in_files [0,3,1,2]
//   end
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_PROGRAMTEXT_H
#define MP_PROGRAM_PROGRAMTEXT_H

#include "program/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace mp::text {

/// Incremented whenever a Program of an older build cannot be read any more.
inline constexpr unsigned kVersion = 2;

inline constexpr llvm::StringLiteral kPartOf = "part_of";
inline constexpr llvm::StringLiteral kDimsInFiles = "dims_in_files";
inline constexpr llvm::StringLiteral kShape = "shape", kRecord = "record";
inline constexpr llvm::StringLiteral kWindow = "window";
inline constexpr llvm::StringLiteral kStreams = "streams";
inline constexpr llvm::StringLiteral kStride = "by";

/// The largest size that is read: far more than any machine has, and far from
/// overflow in sums of sizes.
inline constexpr uint64_t kMostBytes = uint64_t(1) << 46;

inline constexpr std::pair<Initializer::Kind, llvm::StringLiteral>
    kInitializerNames[] = {
        {Initializer::Kind::Constant, "constant"},
        {Initializer::Kind::Uniform, "uniform"},
        {Initializer::Kind::Normal, "normal"},
        {Initializer::Kind::Derived, "derived"},
        {Initializer::Kind::Seed, "seed"},
};

/// Whether `c` may stand in a name without quotes.
inline bool isBare(char c) {
  return llvm::isAlnum(c) || llvm::StringRef("_.$/*-").contains(c);
}

/// Returns a hash that reveals damage to bytes in a file.
inline std::string checksum(llvm::StringRef bytes) {
  return llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true);
}

} // namespace mp::text

#endif // MP_PROGRAM_PROGRAMTEXT_H
