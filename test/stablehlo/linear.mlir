// Products, convolutions, factorizations, transforms, random bits.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule products
module @products {
  func.func public @main(%a: tensor<2x3x4xbf16>, %b: tensor<2x4x5xbf16>, %x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xbf16>, tensor<1x4x6x4xf32>) {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xbf16>
    %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x6x4xf32>
    return %0, %1, %2 : tensor<2x3x5xf32>, tensor<2x3x5xbf16>, tensor<1x4x6x4xf32>
  }
}
// CHECK: %dot_general.1 = f32[2,3,5]{2,1,0} dot(%a.1, %b.1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={highest,default}
// CHECK: %dot_general.2 = bf16[2,3,5]{2,1,0} dot(%a.1, %b.1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
// CHECK: %convolution.1 = f32[1,4,6,4]{3,2,1,0} convolution(%x.1, %w.1), window={size=3x3 stride=2x1 pad=1_1x0_2 rhs_dilate=1x2 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f

// -----

// CHECK-LABEL: HloModule others
module @others {
  func.func public @main(%x: tensor<4x4xf32>, %k: tensor<2xui64>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xcomplex<f32>>, tensor<2xui64>, tensor<5xui32>, tensor<4x2xf32>, tensor<4x2xi32>) {
    %0 = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>
    %1 = "stablehlo.triangular_solve"(%x, %x) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
    %3, %4 = stablehlo.rng_bit_generator %k, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %5, %6 = chlo.top_k(%x, k = 2) : tensor<4x4xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return %0, %1, %2, %3, %4, %5, %6 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xcomplex<f32>>, tensor<2xui64>, tensor<5xui32>, tensor<4x2xf32>, tensor<4x2xi32>
  }
}
// CHECK: %cholesky.1 = f32[4,4]{1,0} cholesky(%x.1), lower=true
// CHECK: %triangular_solve.1 = f32[4,4]{1,0} triangular-solve(%x.1, %x.1), left_side=true, lower=true, unit_diagonal=false, transpose_a=ADJOINT
// CHECK: %fft.1 = c64[4,3]{1,0} fft(%x.1), fft_type=RFFT, fft_length={4}
// CHECK: %rng_bit_generator.1 = (u64[2]{0}, u32[5]{0}) rng-bit-generator(%k.1), algorithm=rng_philox
// CHECK: %rng_bit_generator.1.1 = u64[2]{0} get-tuple-element(%rng_bit_generator.1), index=0
// CHECK: %rng_bit_generator.1.2 = u32[5]{0} get-tuple-element(%rng_bit_generator.1), index=1
// CHECK: %top_k.1 = (f32[4,2]{1,0}, s32[4,2]{1,0}) topk(%x.1), k=2, largest=true
// CHECK: %top_k.1.1 = f32[4,2]{1,0} get-tuple-element(%top_k.1), index=0
// CHECK: %top_k.1.2 = s32[4,2]{1,0} get-tuple-element(%top_k.1), index=1

// -----

// Operands of two types of a kind, which XLA multiplies.
// CHECK-LABEL: HloModule mixed
module @mixed {
  func.func public @main(%a: tensor<2x4xf8E4M3FN>, %b: tensor<4x5xf8E5M2>, %i: tensor<2x4xi8>, %j: tensor<4x5xui8>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf8E4M3FN>, tensor<4x5xf8E5M2>) -> tensor<2x5xf32>
    %1 = stablehlo.dot_general %i, %j, contracting_dims = [1] x [0] : (tensor<2x4xi8>, tensor<4x5xui8>) -> tensor<2x5xi32>
    return %0, %1 : tensor<2x5xf32>, tensor<2x5xi32>
  }
}
// CHECK: f32[2,5]{1,0} dot(%a.1, %b.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
// CHECK: s32[2,5]{1,0} dot(%i.1, %j.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
