//===- StageTexts.h - kernels of stages, as text ----------------*- C++ -*-===//
#ifndef MP_TEST_UNIT_STAGETEXTS_H
#define MP_TEST_UNIT_STAGETEXTS_H

#include "StageKernel.h"

#include "llvm/ADT/APFloat.h"
#include <random>

namespace mp::cpu {

inline std::vector<float> random(size_t n, float low = -2, float high = 2,
                                 unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

inline const char *line = "affine_map<(d0) -> (d0)>";
inline const char *matrix = "affine_map<(d0, d1) -> (d0, d1)>";
inline const char *rowOf = "affine_map<(d0, d1) -> (d0)>";
inline const char *columnOf = "affine_map<(d0, d1) -> (d1)>";

inline std::string text(int64_t value) { return std::to_string(value); }

inline std::string softmax(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @softmax(%x: tensor<$Rx$Cxf32>) -> tensor<$Rx$Cxf32> {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %er = tensor.empty() : tensor<$Rxf32>
    %e = tensor.empty() : tensor<$Rx$Cxf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %m = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<$Rx$Cxf32>) outs(%m0 : tensor<$Rxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.maximumf %a, %acc : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %p = linalg.generic {indexing_maps = [$matrix, $row, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %m : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %d = arith.subf %a, %b : f32
        %r = math.exp %d : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %s = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<$Rx$Cxf32>) outs(%s0 : tensor<$Rxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.addf %acc, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %q = linalg.generic {indexing_maps = [$matrix, $row, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%p, %s : tensor<$Rx$Cxf32>, tensor<$Rxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %r = arith.divf %a, %b : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    return %q : tensor<$Rx$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$row", rowOf}});
}

/// Sums of x down the columns (or of everything: `full`), then halved in f32.
inline std::string columnSum(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @f(%x: tensor<$Rx$Cxf32>, %start: tensor<$Cxf32>) -> (tensor<$Cxf32>, tensor<$Rx$Cxf32>) {
    %half = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<$Rx$Cxf32>
    %ec = tensor.empty() : tensor<$Cxf32>
    %y = linalg.generic {indexing_maps = [$matrix, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<$Rx$Cxf32>) outs(%e : tensor<$Rx$Cxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.mulf %a, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Rx$Cxf32>
    %s = linalg.generic {indexing_maps = [$matrix, $column], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<$Rx$Cxf32>) outs(%start : tensor<$Cxf32>) {
      ^bb0(%a: f32, %acc: f32):
        %r = arith.addf %acc, %a : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    %h = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%s : tensor<$Cxf32>) outs(%ec : tensor<$Cxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.mulf %a, %half : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    return %h, %y : tensor<$Cxf32>, tensor<$Rx$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$column", columnOf},
               {"$line", line}});
}

/// Mean and rstd of rows of bf16, the normalised rows in bf16, and their
/// gradient's column sums: two row reductions that later stages read, a column
/// reduction of those stages, all in one kernel.
inline std::string layerNorm(int64_t rows, int64_t columns) {
  return fill(R"(
  func.func @f(%x: tensor<$Rx$Cxbf16>, %g: tensor<$Cxf32>)
      -> (tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Cxf32>) {
    %zero = arith.constant 0.0 : f32
    %er = tensor.empty() : tensor<$Rxf32>
    %ec = tensor.empty() : tensor<$Cxf32>
    %e = tensor.empty() : tensor<$Rx$Cxbf16>
    %z = linalg.fill ins(%zero : f32) outs(%er : tensor<$Rxf32>) -> tensor<$Rxf32>
    %zc = linalg.fill ins(%zero : f32) outs(%ec : tensor<$Cxf32>) -> tensor<$Cxf32>
    %n = arith.constant $C.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %one = arith.constant 1.0 : f32
    %s = linalg.generic {indexing_maps = [$matrix, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<$Rx$Cxbf16>) outs(%z : tensor<$Rxf32>) {
      ^bb0(%a: bf16, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %r = arith.addf %acc, %w : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %mean = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%s : tensor<$Rxf32>) outs(%er : tensor<$Rxf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.divf %a, %n : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %v = linalg.generic {indexing_maps = [$matrix, $row, $row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %mean : tensor<$Rx$Cxbf16>, tensor<$Rxf32>) outs(%z : tensor<$Rxf32>) {
      ^bb0(%a: bf16, %m: f32, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %d = arith.subf %w, %m : f32
        %q = arith.mulf %d, %d : f32
        %r = arith.addf %acc, %q : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %rstd = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%v : tensor<$Rxf32>) outs(%er : tensor<$Rxf32>) {
      ^bb0(%a: f32, %o: f32):
        %m = arith.divf %a, %n : f32
        %p = arith.addf %m, %eps : f32
        %q = math.sqrt %p : f32
        %r = arith.divf %one, %q : f32
        linalg.yield %r : f32
    } -> tensor<$Rxf32>
    %y = linalg.generic {indexing_maps = [$matrix, $row, $row, $column, $matrix], iterator_types = ["parallel", "parallel"]}
        ins(%x, %mean, %rstd, %g : tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Rxf32>, tensor<$Cxf32>)
        outs(%e : tensor<$Rx$Cxbf16>) {
      ^bb0(%a: bf16, %m: f32, %t: f32, %b: f32, %o: bf16):
        %w = arith.extf %a : bf16 to f32
        %d = arith.subf %w, %m : f32
        %q = arith.mulf %d, %t : f32
        %u = arith.mulf %q, %b : f32
        %r = arith.truncf %u : f32 to bf16
        linalg.yield %r : bf16
    } -> tensor<$Rx$Cxbf16>
    %c = linalg.generic {indexing_maps = [$matrix, $column], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<$Rx$Cxbf16>) outs(%zc : tensor<$Cxf32>) {
      ^bb0(%a: bf16, %acc: f32):
        %w = arith.extf %a : bf16 to f32
        %r = arith.addf %acc, %w : f32
        linalg.yield %r : f32
    } -> tensor<$Cxf32>
    return %y, %rstd, %c : tensor<$Rx$Cxbf16>, tensor<$Rxf32>, tensor<$Cxf32>
  })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$row", rowOf},
               {"$column", columnOf},
               {"$line", line}});
}

inline float fromBF16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}
inline uint16_t toBF16(float x) {
  llvm::APFloat value(x);
  bool losesInfo;
  value.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

/// AdamW on f32 state with a master, its f16 copy and a global step count.
inline std::string adamw(int64_t n) {
  return fill(R"(
  func.func @f(%p: tensor<$Nxf32>, %g: tensor<$Nxf16>, %m: tensor<$Nxf32>, %v: tensor<$Nxf32>,
      %step: tensor<f32>, %apply: tensor<i1>)
      -> (tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>, tensor<f32>) {
    %one = arith.constant 1.0 : f32
    %e0 = tensor.empty() : tensor<f32>
    %e = tensor.empty() : tensor<$Nxf32>
    %eh = tensor.empty() : tensor<$Nxf16>
    %next = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
        ins(%step : tensor<f32>) outs(%e0 : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.addf %a, %one : f32
        linalg.yield %r : f32
    } -> tensor<f32>
    %lr = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
        ins(%next : tensor<f32>) outs(%e0 : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %k = arith.constant 0.01 : f32
        %r = arith.divf %k, %a : f32
        linalg.yield %r : f32
    } -> tensor<f32>
    %u:4 = linalg.generic {indexing_maps = [$line, $line, $line, $line, $scalar, $line, $line, $line, $line],
        iterator_types = ["parallel"]}
        ins(%p, %g, %m, %v, %lr : tensor<$Nxf32>, tensor<$Nxf16>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<f32>)
        outs(%e, %e, %e, %eh : tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>) {
      ^bb0(%w: f32, %h: f16, %a: f32, %b: f32, %l: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f16):
        %b1 = arith.constant 0.9 : f32
        %c1 = arith.constant 0.1 : f32
        %b2 = arith.constant 0.999 : f32
        %c2 = arith.constant 0.001 : f32
        %eps = arith.constant 1.0e-8 : f32
        %gr = arith.extf %h : f16 to f32
        %m0 = arith.mulf %a, %b1 : f32
        %m1 = arith.mulf %gr, %c1 : f32
        %mn = arith.addf %m0, %m1 : f32
        %v0 = arith.mulf %b, %b2 : f32
        %g2 = arith.mulf %gr, %gr : f32
        %v1 = arith.mulf %g2, %c2 : f32
        %vn = arith.addf %v0, %v1 : f32
        %sq = math.sqrt %vn : f32
        %de = arith.addf %sq, %eps : f32
        %up = arith.divf %mn, %de : f32
        %st = arith.mulf %up, %l : f32
        %wn = arith.subf %w, %st : f32
        %wh = arith.truncf %wn : f32 to f16
        linalg.yield %wn, %mn, %vn, %wh : f32, f32, f32, f16
    } -> (tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>)
    return %u#0, %u#1, %u#2, %u#3, %next : tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf32>, tensor<$Nxf16>, tensor<f32>
  })",
              {{"$N", text(n)},
               {"$line", line},
               {"$none", "affine_map<() -> ()>"},
               {"$scalar", "affine_map<(d0) -> ()>"}});
}

/// max(x * y + y, 0) rounded to `type` after each step.
inline std::string chain(int64_t n, const char *type) {
  return fill(R"(
  func.func @f(%x: tensor<$Nx$T>, %y: tensor<$Nx$T>) -> tensor<$Nx$T> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<$Nx$T>
    %p = linalg.generic {indexing_maps = [$line, $line, $line], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<$Nx$T>, tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %b: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %b0 = arith.extf %b : $T to f32
        %m = arith.mulf %a0, %b0 : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    %q = linalg.generic {indexing_maps = [$line, $line, $line], iterator_types = ["parallel"]}
        ins(%p, %y : tensor<$Nx$T>, tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %b: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %b0 = arith.extf %b : $T to f32
        %m = arith.addf %a0, %b0 : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    %s = linalg.generic {indexing_maps = [$line, $line], iterator_types = ["parallel"]}
        ins(%q : tensor<$Nx$T>) outs(%e : tensor<$Nx$T>) {
      ^bb0(%a: $T, %o: $T):
        %a0 = arith.extf %a : $T to f32
        %m = arith.maximumf %a0, %zero : f32
        %r = arith.truncf %m : f32 to $T
        linalg.yield %r : $T
    } -> tensor<$Nx$T>
    return %s : tensor<$Nx$T>
  })",
              {{"$N", text(n)}, {"$line", line}, {"$T", type}});
}

/// Results of i1, f64 and the transpose of a bf16, with an index.
inline std::string transposed(int64_t rows, int64_t columns) {
  return fill(R"(
      func.func @f(%x: tensor<$Rx$Cxbf16>, %y: tensor<$Cx$Rxi1>, %z: tensor<$Rxf64>) -> tensor<$Cx$Rxf64> {
        %e = tensor.empty() : tensor<$Cx$Rxf64>
        %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, $matrix, $column, $matrix],
            iterator_types = ["parallel", "parallel"]}
            ins(%x, %y, %z : tensor<$Rx$Cxbf16>, tensor<$Cx$Rxi1>, tensor<$Rxf64>) outs(%e : tensor<$Cx$Rxf64>) {
          ^bb0(%a: bf16, %b: i1, %c: f64, %o: f64):
            %w = arith.extf %a : bf16 to f64
            %i = linalg.index 0 : index
            %j = arith.index_cast %i : index to i64
            %k = arith.sitofp %j : i64 to f64
            %d = arith.addf %w, %k : f64
            %r = arith.select %b, %d, %c : f64
            linalg.yield %r : f64
        } -> tensor<$Cx$Rxf64>
        return %s : tensor<$Cx$Rxf64>
      })",
              {{"$R", text(rows)},
               {"$C", text(columns)},
               {"$matrix", matrix},
               {"$column", columnOf}});
}

/// y[b, c, r] = x[b, r, c] + z[c], sums over the middle of x, and copies.
inline std::string anyMaps(int64_t b, int64_t r, int64_t c) {
  return fill(R"(
      func.func @f(%x: tensor<$Bx$Rx$Cxf32>, %z: tensor<$Cxf32>, %i: tensor<i32>)
          -> (tensor<$Bx$Cx$Rxf32>, tensor<$Bx$Cxf32>, tensor<$Bx$Rx$Cxf32>, tensor<i32>, tensor<i32>, tensor<$Cxf32>) {
        %zero = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<$Bx$Cx$Rxf32>
        %es = tensor.empty() : tensor<$Bx$Cxf32>
        %ez = tensor.empty() : tensor<$Cxf32>
        %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<$Bx$Cxf32>) -> tensor<$Bx$Cxf32>
        %c0 = linalg.fill ins(%zero : f32) outs(%ez : tensor<$Cxf32>) -> tensor<$Cxf32>
        %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
            affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
            iterator_types = ["parallel", "parallel", "parallel"]}
            ins(%x, %z : tensor<$Bx$Rx$Cxf32>, tensor<$Cxf32>) outs(%e : tensor<$Bx$Cx$Rxf32>) {
          ^bb0(%a: f32, %q: f32, %o: f32):
            %t = arith.addf %a, %q : f32
            linalg.yield %t : f32
        } -> tensor<$Bx$Cx$Rxf32>
        %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
            affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%x : tensor<$Bx$Rx$Cxf32>) outs(%s0 : tensor<$Bx$Cxf32>) {
          ^bb0(%a: f32, %acc: f32):
            %t = arith.addf %acc, %a : f32
            linalg.yield %t : f32
        } -> tensor<$Bx$Cxf32>
        return %y, %s, %x, %i, %i, %c0 : tensor<$Bx$Cx$Rxf32>, tensor<$Bx$Cxf32>, tensor<$Bx$Rx$Cxf32>, tensor<i32>, tensor<i32>, tensor<$Cxf32>
      })",
              {{"$B", text(b)}, {"$R", text(r)}, {"$C", text(c)}});
}

/// Whether all elements are finite, the norm, and every element divided by it.
inline std::string finiteNorm(int64_t n) {
  return fill(R"(
      func.func @f(%x: tensor<$Nxf32>) -> (tensor<i1>, tensor<f32>, tensor<$Nxf32>) {
        %true = arith.constant true
        %inf = arith.constant 0x7F800000 : f32
        %zero = arith.constant 0.0 : f32
        %eb = tensor.empty() : tensor<i1>
        %ef = tensor.empty() : tensor<f32>
        %e = tensor.empty() : tensor<$Nxf32>
        %b0 = linalg.fill ins(%true : i1) outs(%eb : tensor<i1>) -> tensor<i1>
        %f0 = linalg.fill ins(%zero : f32) outs(%ef : tensor<f32>) -> tensor<f32>
        %r:2 = linalg.generic {indexing_maps = [$line, $scalar, $scalar], iterator_types = ["reduction"]}
            ins(%x : tensor<$Nxf32>) outs(%b0, %f0 : tensor<i1>, tensor<f32>) {
          ^bb0(%a: f32, %b: i1, %s: f32):
            %abs = math.absf %a : f32
            %fin = arith.cmpf olt, %abs, %inf : f32
            %and = arith.andi %fin, %b : i1
            %sq = arith.mulf %a, %a : f32
            %sum = arith.addf %sq, %s : f32
            linalg.yield %and, %sum : i1, f32
        } -> (tensor<i1>, tensor<f32>)
        %norm = linalg.generic {indexing_maps = [$none, $none], iterator_types = []}
            ins(%r#1 : tensor<f32>) outs(%ef : tensor<f32>) {
          ^bb0(%a: f32, %o: f32):
            %q = math.sqrt %a : f32
            linalg.yield %q : f32
        } -> tensor<f32>
        %y = linalg.generic {indexing_maps = [$line, $scalar, $line], iterator_types = ["parallel"]}
            ins(%x, %norm : tensor<$Nxf32>, tensor<f32>) outs(%e : tensor<$Nxf32>) {
          ^bb0(%a: f32, %b: f32, %o: f32):
            %q = arith.divf %a, %b : f32
            linalg.yield %q : f32
        } -> tensor<$Nxf32>
        return %r#0, %norm, %y : tensor<i1>, tensor<f32>, tensor<$Nxf32>
      })",
              {{"$N", text(n)},
               {"$line", line},
               {"$none", "affine_map<() -> ()>"},
               {"$scalar", "affine_map<(d0) -> ()>"}});
}

} // namespace mp::cpu

#endif // MP_TEST_UNIT_STAGETEXTS_H
