// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=chain --mp-headers=false %s | FileCheck %s --check-prefix=CHAIN
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=rows --mp-headers=false %s | FileCheck %s --check-prefix=ROWS
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=columns --mp-headers=false %s | FileCheck %s --check-prefix=COLUMNS
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=tiles --mp-headers=false %s | FileCheck %s --check-prefix=TILES
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=rest --mp-headers=false %s | FileCheck %s --check-prefix=REST
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=chain %s | FileCheck %s --check-prefix=HEADERS

// The origin of a kernel stands above it, and nothing of the file in it.
// CHAIN: // mul add
// CHAIN-NEXT: cuda-stages.mlir:[[#@LINE + 11]]:
// CHAIN-NEXT: cuda-stages.mlir:[[#@LINE + 11]]:
// CHAIN-NOT: cuda-stages
// CHAIN: if (at < count) {
// CHAIN-NEXT: constexpr int n = 8;
// CHAIN-NEXT: loadItems<n>(a0, at)
// CHAIN: const float [[A:v[0-9]+]] = {{.*}} * {{.*}};
// CHAIN-NEXT: roundTo<f16>([[A]])
// CHAIN: __launch_bounds__(256, 1)
// CHAIN-NEXT: k_{{[0-9a-f]+}}(f16 *p0, f16 *p1, f16 *p2)
func.func @chain(%x: tensor<1000x33xf16>, %y: tensor<1000x33xf16>) -> tensor<1000x33xf16> {
  %a = mp.mul %x, %y : tensor<1000x33xf16>, tensor<1000x33xf16>
  %b = mp.add %a, %y : tensor<1000x33xf16>, tensor<1000x33xf16>
  return %b : tensor<1000x33xf16>
}

// What is no whole vector is done one by one.
// REST: work(Width<8>(), at);
// REST: work(Width<1>(), i);
func.func @rest(%x: tensor<1001x33xf16>) -> tensor<1001x33xf16> {
  %a = mp.mul %x, %x : tensor<1001x33xf16>, tensor<1001x33xf16>
  return %a : tensor<1001x33xf16>
}

// The row is read once, by a warp; exp is computed once.
// ROWS: Items<bf16, 8> [[X:x[0-9]+]][3];
// ROWS: [[X]][k] = loadItems<8>(a0, at);
// ROWS: reduceLine<32>
// ROWS-NOT: loadItems
// ROWS: reduceLine<32>
// ROWS-NOT: fma(
// ROWS: storeItems(a1, at,
func.func @rows(%x: tensor<256x768xbf16>) -> tensor<256x768xbf16> {
  %a = mp.softmax %x dim(1) : tensor<256x768xbf16>
  return %a : tensor<256x768xbf16>
}

// COLUMNS: inside && row < 1000; row += 32
// COLUMNS: reduceColumn<32, 32>
func.func @columns(%x: tensor<1000x256xf32>) -> tensor<256xf32> {
  %a = mp.sum %x dims[0] : tensor<1000x256xf32>
  return %a : tensor<256xf32>
}

// TILES: t0[r * 34 + x] = a0.load((line + r) * 333 + (tile + x));
// TILES: barrier();
// TILES: t0[x * 34 + r]
// TILES: a1.store((tile + r) * 100 + (line + x),
func.func @tiles(%x: tensor<100x333xbf16>) -> tensor<333x100xbf16> {
  %a = mp.transpose %x [1, 0] : tensor<100x333xbf16>
  return %a : tensor<333x100xbf16>
}

// HEADERS: // prelude.cuh
// HEADERS: struct f16
