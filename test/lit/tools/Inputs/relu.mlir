func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = mp.relu %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
