// A contraction that keeps its operands in 8 bits is marked, and its gradients are those that such a step computes.
// RUN: mp-diff %s --policy bf16:torch --policy bf16:fp8 --device cpu --steps 1 --warmup 0 --tolerance 2e-2 --json %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// CHECK: 1 read @w {{.*}} | f32 0 {{[0-9.]+}}e-03 | f32 0 {{[0-9.]+}}e-02 !
// CHECK: 2 linear {{.*}} | bf16 allow 2 {{[0-9.]+}}e-03 {{.*}} | fp8 allow 2 {{[0-9.]+}}e-02 !
// CHECK: casts of a step {{[1-9]}}
// CHECK: KiB of them
// JSON: "runs_in": "f8E4M3FN"
mp.variable @w : tensor<8x64xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x64xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<8x64xf32>
  %h = mp.linear %x, %w : tensor<?x64xf32>, tensor<8x64xf32>
  %s = mp.mul %h, %h : tensor<?x8xf32>, tensor<?x8xf32>
  %l = mp.mean %s dims[0, 1] {mp.autocast = "f32"} : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-3>}
}
