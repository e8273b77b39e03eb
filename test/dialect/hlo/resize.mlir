// RUN: hlo-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// The beginning of a buffer; a dense array of sizes known at run time in an array of constant shape, and back.
// CHECK-LABEL: @all
// CHECK: hlo.resize %{{.*}} : (tensor<64x9xf32>) -> tensor<8x9xf32>
// CHECK: hlo.unpack %{{.*}}, %{{.*}} {dims = array<i64: 1>} : (tensor<64x9xf32>, tensor<si64>) -> tensor<8x5xf32>
// CHECK: hlo.pack %{{.*}}, %{{.*}}, %{{.*}} {dims = array<i64: 0, 1>} : (tensor<8x5xf32>, tensor<si64>, tensor<si64>) -> tensor<64x9xf32>
hlo.computation @all(%a: tensor<64x9xf32>, %n: tensor<si64>) -> (tensor<8x9xf32>, tensor<64x9xf32>) {
  %0 = hlo.resize %a : (tensor<64x9xf32>) -> tensor<8x9xf32>
  %1 = hlo.unpack %a, %n {dims = array<i64: 1>} : (tensor<64x9xf32>, tensor<si64>) -> tensor<8x5xf32>
  %2 = hlo.pack %1, %n, %n {dims = array<i64: 0, 1>} : (tensor<8x5xf32>, tensor<si64>, tensor<si64>) -> tensor<64x9xf32>
  hlo.return %0, %2 : tensor<8x9xf32>, tensor<64x9xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>) -> tensor<9xsi32> {
  // expected-error @below {{'hlo.resize' op element types differ: 'tensor<9xf32>' and 'tensor<9xsi32>'}}
  %0 = hlo.resize %a : (tensor<9xf32>) -> tensor<9xsi32>
  hlo.return %0 : tensor<9xsi32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>, %n: tensor<si64>) -> tensor<9xsi32> {
  // expected-error @below {{'hlo.unpack' op element types differ: 'tensor<9xsi32>' and 'tensor<9xf32>'}}
  %0 = hlo.unpack %a, %n {dims = array<i64: 0>} : (tensor<9xf32>, tensor<si64>) -> tensor<9xsi32>
  hlo.return %0 : tensor<9xsi32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>, %n: tensor<si64>) -> tensor<9xf32> {
  // expected-error @below {{'hlo.pack' op has 1 sizes for 2 dimensions}}
  %0 = hlo.pack %a, %n {dims = array<i64: 0, 1>} : (tensor<9xf32>, tensor<si64>) -> tensor<9xf32>
  hlo.return %0 : tensor<9xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>, %n: tensor<si32>) -> tensor<9xf32> {
  // expected-error @below {{'hlo.pack' op has a size of type 'tensor<si32>' for dimension 0}}
  %0 = hlo.pack %a, %n {dims = array<i64: 0>} : (tensor<9xf32>, tensor<si32>) -> tensor<9xf32>
  hlo.return %0 : tensor<9xf32>
}

// -----

hlo.computation @e(%a: tensor<9xf32>, %n: tensor<si64>) -> tensor<9xf32> {
  // expected-error @below {{'hlo.unpack' op has a size of type 'tensor<si64>' for dimension 1}}
  %0 = hlo.unpack %a, %n {dims = array<i64: 1>} : (tensor<9xf32>, tensor<si64>) -> tensor<9xf32>
  hlo.return %0 : tensor<9xf32>
}
