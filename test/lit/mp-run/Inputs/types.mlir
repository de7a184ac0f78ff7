func.func @number(%x: i32) -> i32 {
  return %x : i32
}

func.func @unranked(%x: tensor<*xf32>) {
  return
}

func.func @narrow(%x: tensor<4xi7>) {
  return
}

func.func @unnamed(%x: tensor<4xf32>) {
  return
}
