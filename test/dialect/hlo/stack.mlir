// RUN: hlo-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Arrays along a new dimension, the minor or the first one.
// CHECK-LABEL: @both
// CHECK: hlo.stack %{{.*}}, %{{.*}}, %{{.*}} {dimension = 1 : i64} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9x3xf32>
// CHECK: hlo.stack %{{.*}}, %{{.*}} {dimension = 0 : i64} : (tensor<9xf32>, tensor<9xf32>) -> tensor<2x9xf32>
hlo.computation @both(%a: tensor<9xf32>, %b: tensor<9xf32>) -> (tensor<9x3xf32>, tensor<2x9xf32>) {
  %0 = hlo.stack %a, %b, %a {dimension = 1 : i64} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9x3xf32>
  %1 = hlo.stack %a, %b {dimension = 0 : i64} : (tensor<9xf32>, tensor<9xf32>) -> tensor<2x9xf32>
  hlo.return %0, %1 : tensor<9x3xf32>, tensor<2x9xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>) -> tensor<9x1xf32> {
  // expected-error @below {{'hlo.stack' op needs at least 2 parts, has 1}}
  %0 = hlo.stack %a {dimension = 1 : i64} : (tensor<9xf32>) -> tensor<9x1xf32>
  hlo.return %0 : tensor<9x1xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>, %b: tensor<8xf32>) -> tensor<9x2xf32> {
  // expected-error @below {{'hlo.stack' op parts differ: 'tensor<9xf32>' and 'tensor<8xf32>'}}
  %0 = hlo.stack %a, %b {dimension = 1 : i64} : (tensor<9xf32>, tensor<8xf32>) -> tensor<9x2xf32>
  hlo.return %0 : tensor<9x2xf32>
}

// -----

hlo.computation @e(%a: tensor<9x5xf32>) -> tensor<9x2x5xf32> {
  // expected-error @below {{'hlo.stack' op the new dimension is 1, must be the first (0) or the minor one (2)}}
  %0 = hlo.stack %a, %a {dimension = 1 : i64} : (tensor<9x5xf32>, tensor<9x5xf32>) -> tensor<9x2x5xf32>
  hlo.return %0 : tensor<9x2x5xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>) -> tensor<2x9xf32> {
  // expected-error @below {{'hlo.stack' op the result is 'tensor<2x9xf32>', must be 'tensor<9x2xf32>'}}
  %0 = hlo.stack %a, %a {dimension = 1 : i64} : (tensor<9xf32>, tensor<9xf32>) -> tensor<2x9xf32>
  hlo.return %0 : tensor<2x9xf32>
}
