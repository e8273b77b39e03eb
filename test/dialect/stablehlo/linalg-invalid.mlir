// Constraints of the specification, each broken once: linalg.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x4xi32>) {
  %r = "stablehlo.cholesky"(%a0) : (tensor<4x4xi32>) -> tensor<4x4xi32> // expected-error {{[cholesky_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>) {
  %r = "stablehlo.cholesky"(%a0) : (tensor<4x4xf32>) -> tensor<4x4xf64> // expected-error {{[cholesky_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.cholesky"(%a0) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[cholesky_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.cholesky"(%a0) : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[cholesky_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>, %a1: tensor<4x4xf64>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf64> // expected-error {{[triangular_solve_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[triangular_solve_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>, %a1: tensor<3x2xf32>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<4x4xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> // expected-error {{[triangular_solve_c3]}}
  return }
// -----
func.func @f(%a0: tensor<2x4x4xf32>, %a1: tensor<3x4x4xf32>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<3x4x4xf32> // expected-error {{[triangular_solve_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>, %a1: tensor<4x4xf32>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x6xf32> // expected-error {{[triangular_solve_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>, %a1: tensor<4x4xf32>) {
  %r = "stablehlo.triangular_solve"(%a0, %a1) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> // expected-error {{[triangular_solve_i6]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4>}> : (tensor<4xi32>) -> tensor<4xcomplex<f32>> // expected-error {{[fft_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 4, 4>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> // expected-error {{[fft_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x8xf32>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 8>}> : (tensor<4x8xf32>) -> tensor<4x8xf32> // expected-error {{[fft_c2]}}
  return }
// -----
func.func @f(%a0: tensor<2x2x2x2xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 2, 2, 2, 2>}> : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>> // expected-error {{[fft_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x8xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 7>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> // expected-error {{[fft_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x8xf32>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 7>}> : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>> // expected-error {{[fft_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x8xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 8>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x7xcomplex<f32>> // expected-error {{[fft_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x8xf32>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>}> : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>> // expected-error {{[fft_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x5xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 8>}> : (tensor<4x5xcomplex<f32>>) -> tensor<4x7xf32> // expected-error {{[fft_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xcomplex<f32>>) {
  %r = "stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 8>}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x8xf32> // expected-error {{[fft_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf64>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf64>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<4xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<4xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<4xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>) -> tensor<4x6xf32> // expected-error {{[batch_norm_inference_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) {
  %r = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x5xf32> // expected-error {{[batch_norm_inference_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = -1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_training_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf64>) // expected-error {{[batch_norm_training_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_training_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<4xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_training_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>) // expected-error {{[batch_norm_training_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>) // expected-error {{[batch_norm_training_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) {
  %r:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x5xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_training_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<4x6xf32>) {
  %r:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_grad_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<4x6xf64>) {
  %r:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf64>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_grad_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<4x5xf32>) {
  %r:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_grad_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6xf32>, %a2: tensor<4xf32>, %a3: tensor<6xf32>, %a4: tensor<4x6xf32>) {
  %r:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_grad_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<4x6xf32>) {
  %r:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) // expected-error {{[batch_norm_grad_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<f32>, %a2: tensor<1xi64>) {
  %r = "stablehlo.rng"(%a0, %a1, %a2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<4xf32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32> // expected-error {{[rng_i1]}}
  return }
// -----
func.func @f(%a0: tensor<f32>, %a1: tensor<4xf32>, %a2: tensor<1xi64>) {
  %r = "stablehlo.rng"(%a0, %a1, %a2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32> // expected-error {{[rng_i2]}}
  return }
// -----
func.func @f(%a0: tensor<f32>, %a1: tensor<i32>, %a2: tensor<1xi64>) {
  %r = "stablehlo.rng"(%a0, %a1, %a2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<i32>, tensor<1xi64>) -> tensor<?xf32> // expected-error {{[rng_c1]}}
  return }
// -----
func.func @f(%a0: tensor<i32>, %a1: tensor<i32>, %a2: tensor<1xi64>) {
  %r = "stablehlo.rng"(%a0, %a1, %a2) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<?xi32> // expected-error {{[rng_c2]}}
  return }
// -----
func.func @f(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<1xi64>) {
  %r = "stablehlo.rng"(%a0, %a1, %a2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?x?xf32> // expected-error {{[rng_c3]}}
  return }
// -----
func.func @f(%a0: tensor<2xui64>) {
  %r:2 = "stablehlo.rng_bit_generator"(%a0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<5xui32>) // expected-error {{[rng_bit_generator_c1]}}
  return }
// -----
func.func @f(%a0: tensor<3xui64>) {
  %r:2 = "stablehlo.rng_bit_generator"(%a0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>) // expected-error {{[rng_bit_generator_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xui64>) {
  %r:2 = "stablehlo.rng_bit_generator"(%a0) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui64>) -> (tensor<4xui64>, tensor<5xui32>) // expected-error {{[rng_bit_generator_c2]}}
  return }
// -----
func.func @f(%a0: tensor<2xui64>) {
  %r:2 = "stablehlo.rng_bit_generator"(%a0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<?xui32>) // expected-error {{[rng_bit_generator_o2]}}
  return }
