// How rows that are also added up, as in the gradient of a layer norm, are shared by blocks and threads.
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=short %s | grep launch | FileCheck %s --check-prefix=SHORT
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=long %s | grep launch | FileCheck %s --check-prefix=LONG

// A warp has a row, and a block eight warps. There are no more than the 528 chunks that run at once, so 32 rows each.
// SHORT: grid 520 block 256
func.func @short(%x: tensor<16640x192xf32>, %z: tensor<16640x192xf32>, %g: tensor<192xf32>)
    -> (tensor<16640x192xf32>, tensor<192xf32>, tensor<192xf32>) {
  %w = mp.mul %x, %g : tensor<16640x192xf32>, tensor<192xf32>
  %v = mp.mul %w, %z : tensor<16640x192xf32>, tensor<16640x192xf32>
  %s = mp.sum %v dims[1] keepdim : tensor<16640x192xf32>
  %t = mp.mul %v, %s : tensor<16640x192xf32>, tensor<16640x1xf32>
  %u = mp.add %t, %x : tensor<16640x192xf32>, tensor<16640x192xf32>
  %y = mp.mul %u, %g : tensor<16640x192xf32>, tensor<192xf32>
  %c = mp.sum %y dims[0] : tensor<16640x192xf32>
  %d = mp.sum %z dims[0] : tensor<16640x192xf32>
  return %y, %c, %d : tensor<16640x192xf32>, tensor<192xf32>, tensor<192xf32>
}

// A block has a row. Chunks of 7 rows would be 586, and some would wait for all others.
// LONG: grid 512 block 256
func.func @long(%x: tensor<4096x768xf32>, %g: tensor<768xf32>) -> (tensor<4096x768xf32>, tensor<768xf32>) {
  %w = mp.mul %x, %g : tensor<4096x768xf32>, tensor<768xf32>
  %s = mp.sum %w dims[1] keepdim : tensor<4096x768xf32>
  %y = mp.mul %w, %s : tensor<4096x768xf32>, tensor<4096x1xf32>
  %c = mp.sum %y dims[0] : tensor<4096x768xf32>
  return %y, %c : tensor<4096x768xf32>, tensor<768xf32>
}
