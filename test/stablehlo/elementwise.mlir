// Element-wise ops keep their names and operands; constants keep their bits.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule same
module @same {
  func.func public @main(%x: tensor<4xf32>, %n: tensor<4xi32>, %u: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xui8>, tensor<4xi32>) {
    %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    %1 = stablehlo.compare GE, %x, %0, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %2 = stablehlo.shift_right_logical %u, %u : tensor<4xui8>
    %3 = stablehlo.count_leading_zeros %n : tensor<4xi32>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xi1>, tensor<4xui8>, tensor<4xi32>
  }
}
// CHECK: %exponential.1 = f32[4]{0} exponential(%x.1), result_accuracy={mode=highest}
// CHECK: %compare.1 = pred[4]{0} compare(%x.1, %exponential.1), direction=GE, type=TOTALORDER
// CHECK: %shift_right_logical.1 = u8[4]{0} shift-right-logical(%u.1, %u.1)
// CHECK: %count_leading_zeros.1 = s32[4]{0} count-leading-zeros(%n.1)

// -----

// CHECK-LABEL: HloModule constants
module @constants {
  func.func public @main() -> (tensor<2xi32>, tensor<3xi1>, tensor<2xi4>, tensor<f8E4M3FN>, tensor<complex<f32>>, tensor<4xf32>, tensor<2xbf16>, tensor<2xf64>) {
    %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
    %1 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %2 = stablehlo.constant dense<[-1, 7]> : tensor<2xi4>
    %3 = stablehlo.constant dense<1.500000e+00> : tensor<f8E4M3FN>
    %4 = stablehlo.constant dense<(1.0,-2.0)> : tensor<complex<f32>>
    %5 = stablehlo.constant dense<0.5> : tensor<4xf32>
    %6 = stablehlo.constant dense<"0x803FC07F"> : tensor<2xbf16>
    %7 = stablehlo.constant dense_resource<weights> : tensor<2xf64>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xi32>, tensor<3xi1>, tensor<2xi4>, tensor<f8E4M3FN>, tensor<complex<f32>>, tensor<4xf32>, tensor<2xbf16>, tensor<2xf64>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x08000000000000000000F03F00000000000004C0"
    }
  }
#-}
// CHECK: %constant.1 = s32[2]{0} constant({1, -2})
// CHECK: %constant.2 = pred[3]{0} constant({1, 0, 1})
// CHECK: %constant.3 = s4[2]{0} constant({-1, 7})
// CHECK: %constant.4 = f8e4m3fn[] constant(1.5)
// CHECK: %constant.5 = c64[] constant((1, -2))
// CHECK: %constant.6 = f32[4]{0} constant({0.5, 0.5, 0.5, 0.5})
// CHECK: %constant.7 = bf16[2]{0} constant({1, nan})
// CHECK: %constant.8 = f64[2]{0} constant({1, -2.5})

// -----

// A scalar predicate is broadcast; real and imag of real numbers.
// CHECK-LABEL: HloModule rest
module @rest {
  func.func public @main(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xf32>
    %1 = stablehlo.real %x : tensor<4xf32>
    %2 = stablehlo.imag %x : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
// CHECK: %select.1 = pred[4]{0} broadcast(%p.1), dimensions={}
// CHECK: %select.1.1 = f32[4]{0} select(%select.1, %x.1, %x.1)
// CHECK: %imag.1 = f32[] constant(0)
// CHECK: %imag.1.1 = f32[4]{0} broadcast(%imag.1), dimensions={}

// -----

// Functions of constants are folded as XLA's export does, also of broadcast ones; complex functions are expanded.
// CHECK-LABEL: HloModule folded
module @folded {
  func.func public @main(%z: tensor<2xcomplex<f32>>) -> (tensor<f32>, tensor<3xf64>, tensor<2xcomplex<f32>>) {
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %d = stablehlo.constant dense<0.5> : tensor<f64>
    %0 = stablehlo.log %c : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.tanh %1 : tensor<3xf64>
    %3 = stablehlo.exponential %z : tensor<2xcomplex<f32>>
    return %0, %2, %3 : tensor<f32>, tensor<3xf64>, tensor<2xcomplex<f32>>
  }
}
// CHECK: %constant.1 = f32[] constant(2)
// CHECK: %constant.2 = f64[] constant(0.5)
// CHECK: %log.1 = f32[] constant(0.6931472)
// CHECK: %broadcast_in_dim.1 = f64[3]{0} broadcast(%constant.2), dimensions={}
// CHECK: %tanh.1 = f64[] constant(0.46211715726000974)
// CHECK: %tanh.1.1 = f64[3]{0} broadcast(%tanh.1), dimensions={}
// CHECK: %exponential.1 = f32[2]{0} real(%z.1)
// CHECK: %exponential.1.1 = f32[2]{0} imag(%z.1)
// CHECK: %exponential.1.2 = f32[2]{0} exponential(%exponential.1)
// CHECK: %exponential.1.3 = f32[] constant(0.5)
// CHECK: %exponential.1.4 = f32[2]{0} broadcast(%exponential.1.3), dimensions={}
// CHECK: %exponential.1.5 = f32[2]{0} multiply(%exponential.1, %exponential.1.4)
// CHECK: %exponential.1.6 = f32[2]{0} exponential(%exponential.1.5)
// CHECK: %exponential.1.7 = f32[] constant(inf)
// CHECK: %exponential.1.8 = f32[2]{0} broadcast(%exponential.1.7), dimensions={}
// CHECK: %exponential.1.9 = pred[2]{0} compare(%exponential.1.2, %exponential.1.8), direction=EQ
// CHECK: %exponential.1.10 = f32[2]{0} cosine(%exponential.1.1)
// CHECK: %exponential.1.11 = f32[2]{0} sine(%exponential.1.1)
// CHECK: %exponential.1.12 = f32[2]{0} multiply(%exponential.1.6, %exponential.1.10)
// CHECK: %exponential.1.13 = f32[2]{0} multiply(%exponential.1.12, %exponential.1.6)
// CHECK: %exponential.1.14 = f32[2]{0} multiply(%exponential.1.2, %exponential.1.10)
// CHECK: %exponential.1.15 = f32[2]{0} select(%exponential.1.9, %exponential.1.13, %exponential.1.14)
// CHECK: %exponential.1.16 = f32[] constant(0)
// CHECK: %exponential.1.17 = f32[2]{0} broadcast(%exponential.1.16), dimensions={}
// CHECK: %exponential.1.18 = pred[2]{0} compare(%exponential.1.1, %exponential.1.17), direction=EQ
// CHECK: %exponential.1.19 = f32[2]{0} multiply(%exponential.1.6, %exponential.1.11)
// CHECK: %exponential.1.20 = f32[2]{0} multiply(%exponential.1.19, %exponential.1.6)
// CHECK: %exponential.1.21 = f32[2]{0} multiply(%exponential.1.2, %exponential.1.11)
// CHECK: %exponential.1.22 = f32[2]{0} select(%exponential.1.9, %exponential.1.20, %exponential.1.21)
// CHECK: %exponential.1.23 = f32[] constant(0)
// CHECK: %exponential.1.24 = f32[2]{0} broadcast(%exponential.1.23), dimensions={}
// CHECK: %exponential.1.25 = f32[2]{0} select(%exponential.1.18, %exponential.1.24, %exponential.1.22)
// CHECK: %exponential.1.26 = c64[2]{0} complex(%exponential.1.15, %exponential.1.25)

// -----

// Arithmetic on constants, so that functions of its results are folded.
// CHECK-LABEL: HloModule chain
module @chain {
  func.func public @main() -> tensor<2xf32> {
    %a = stablehlo.constant dense<3.0> : tensor<f32>
    %b = stablehlo.constant dense<2.0> : tensor<f32>
    %0 = stablehlo.divide %a, %b : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.log %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}
// CHECK: %constant.1 = f32[] constant(3)
// CHECK: %constant.2 = f32[] constant(2)
// CHECK: %divide.1 = f32[] constant(1.5)
// CHECK: %broadcast_in_dim.1 = f32[2]{0} broadcast(%divide.1), dimensions={}
// CHECK: %log.1 = f32[] constant(0.4054651)
// CHECK: ROOT %log.1.1 = f32[2]{0} broadcast(%log.1), dimensions={}

// -----

// The truth value of a complex number is that of its real part.
// CHECK-LABEL: HloModule truth
module @truth {
  func.func public @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xi1> {
    %0 = stablehlo.convert %x : (tensor<3xcomplex<f32>>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}
// CHECK: [[REAL:%.*]] = f32[3]{0} real({{%.*}})
// CHECK: pred[3]{0} convert([[REAL]])
