func.func @twice_where_positive(%x: tensor<4xf32> {mp.name = "x"}) -> (tensor<4xf32> {mp.name = "y"}) {
  %positive = mp.relu %x : tensor<4xf32>
  %y = mp.add %x, %positive : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
