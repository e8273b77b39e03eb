// Every op in its printed form, read and printed again.
// RUN: hlo-opt %s | hlo-opt | FileCheck %s

// CHECK: cpurt.global @c0 = dense<1.000000e+00> : tensor<4xf32>
cpurt.global @c0 = dense<1.0> : tensor<4xf32>

// CHECK: cpurt.kernel @k0_loop_add {
// CHECK:   cpurt.yield %{{.*}} : tensor<4xf32>
cpurt.kernel @k0_loop_add {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %r = hlo.fusion %a, %b {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %s = hlo.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    hlo.return %s : tensor<4xf32>
  } {strategy = "loop"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  cpurt.yield %r : tensor<4xf32>
}

// CHECK: cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 64 : i64} {
cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 64 : i64} {
  // CHECK: %[[IN:.*]] = cpurt.input 0
  // CHECK: %[[OUT:.*]] = cpurt.output 0
  // CHECK: %[[TMP:.*]] = cpurt.arena 0, 16
  // CHECK: %[[ONE:.*]] = cpurt.constant @c0
  %in = cpurt.input 0
  %out = cpurt.output 0
  %tmp = cpurt.arena 0, 16
  %one = cpurt.constant @c0
  // CHECK: cpurt.launch @k0_loop_add(%[[IN]], %[[ONE]], %[[TMP]]) {tasks = 4 : i64}
  cpurt.launch @k0_loop_add(%in, %one, %tmp) {tasks = 4 : i64}
  // CHECK: cpurt.copy %[[OUT]], %[[TMP]] {bytes = 16 : i64, may_be_same}
  cpurt.copy %out, %tmp {bytes = 16 : i64, may_be_same}
  // CHECK: cpurt.while {
  // CHECK:   cpurt.condition %[[TMP]]
  // CHECK: } do {
  // CHECK:   cpurt.yield
  cpurt.while {
    cpurt.condition %tmp
  } do {
    cpurt.yield
  }
  // CHECK: cpurt.while attributes {trip_count = 3 : i64} {
  // CHECK-NEXT: } do {
  cpurt.while attributes {trip_count = 3 : i64} {
  } do {
    cpurt.yield
  }
  // CHECK: cpurt.case %[[TMP]] attributes {predicated} {
  // CHECK: }, {
  cpurt.case %tmp attributes {predicated} {
    cpurt.yield
  }, {
    cpurt.yield
  }
  // CHECK: cpurt.call "all-gather"(%[[IN]], %[[TMP]]) {config = {dimension = 0 : i64}, operand_types = [tensor<4xf32>], result_types = [tensor<4xf32>], scratch_bytes = 0 : i64}
  cpurt.call "all-gather"(%in, %tmp) {config = {dimension = 0 : i64}, operand_types = [tensor<4xf32>],
      result_types = [tensor<4xf32>], scratch_bytes = 0 : i64}
  cpurt.return
}
