// No name becomes syntax or markup.
// RUN: mp-opt %s --mp-view-graph=file=- -o /dev/null | FileCheck %s
// RUN: mp-opt %s --mp-view-graph="file=- format=html" -o /dev/null | FileCheck %s --check-prefix=PAGE --implicit-check-not='<img' --implicit-check-not='<script>alert'

// CHECK: label="@a\"<b>&amp;amp;\\N";
// CHECK: [label="<script>alert(1)</script>\\N\n�\n2xf32", shape=invhouse
// CHECK: tooltip="{{.*}}\n<img src=x>:3:4"]
// PAGE: aria-label="@a&quot;&lt;b&gt;&amp;amp;\N"
// PAGE: data-key="argument &lt;script&gt;alert(1)&lt;/script&gt;\N
func.func @"a\22<b>&amp;\\N"(%x: tensor<2xf32> {mp.name = "<script>alert(1)</script>\\N\0A\FF"}) -> tensor<2xf32> {
  %y = mp.relu %x : tensor<2xf32> loc("<img src=x>":3:4)
  return %y : tensor<2xf32>
}
