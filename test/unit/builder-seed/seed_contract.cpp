//===- seed_contract.cpp - Products, convolutions, linear algebra ---------===//
//
// Rows of the table of the specification's sections: see SeedTable.h.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"
#include <cmath>

using namespace seed;

ROW(Dot, "Dot(lhs, rhs, precision_config, preferred_element_type)", "zh: 点乘（Dot）", "en: Dot",
    "old: Dot", "tr: Nokta") {
  auto x = f32({3}, {1, 2, 3});
  auto y = f32({3}, {4, 5, 6});
  RUNS(Dot(x(b), y(b)), f32(32));
  auto m = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Dot(m(b), x(b)), f32({2}, {14, 32}));
  auto n = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  RUNS(Dot(m(b), n(b)), f32({2, 2}, {22, 28, 49, 64}));
  PrecisionConfig highest;
  highest.add_operand_precision(PrecisionConfig::HIGHEST);
  highest.add_operand_precision(PrecisionConfig::HIGHEST);
  RUNS(Dot(m(b), n(b), &highest), f32({2, 2}, {22, 28, 49, 64}));
  auto i = s8({2, 2}, {100, 100, 1, 1});
  RUNS(Dot(i(b), i(b), nullptr, S32), s32({2, 2}, {10100, 10100, 101, 101}));
  auto two = f32({2}, {1, 2});
  FAILS(Dot(x(b), two(b)), "contracting sizes differ: lhs dim");
  FAILS(Dot(m(b), m(b)), "contracting sizes differ: lhs dim");
  auto scalar = f32(1);
  FAILS(Dot(scalar(b), x(b)), "takes vectors and matrices, lhs is");
  auto cube = f32({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  FAILS(Dot(Tuple(b, {x(b)}), x(b)), "must be an array, is");
}

ROW(DotGeneral, "DotGeneral(lhs, rhs, dimension_numbers, precision_config, preferred_element_type)",
    "zh: DotGeneral", "en: DotGeneral", "tr: DotGeneral") {
  auto lhs = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  auto rhs = f32({2, 3}, {1, 1, 1, 2, 2, 2});
  DotDimensionNumbers last;
  last.add_lhs_contracting_dimensions(1);
  last.add_rhs_contracting_dimensions(1);
  RUNS(DotGeneral(lhs(b), rhs(b), last), f32({2, 2}, {6, 12, 15, 30}));
  auto l = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto r = f32({2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  DotDimensionNumbers batch;
  batch.add_lhs_contracting_dimensions(2);
  batch.add_rhs_contracting_dimensions(1);
  batch.add_lhs_batch_dimensions(0);
  batch.add_rhs_batch_dimensions(0);
  RUNS(DotGeneral(l(b), r(b), batch), f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  DotDimensionNumbers differ; // sizes 2 and 3
  differ.add_lhs_contracting_dimensions(0);
  differ.add_rhs_contracting_dimensions(1);
  FAILS(DotGeneral(lhs(b), rhs(b), differ), "contracting sizes differ: lhs dim");
  DotDimensionNumbers far;
  far.add_lhs_contracting_dimensions(2);
  far.add_rhs_contracting_dimensions(1);
  FAILS(DotGeneral(lhs(b), rhs(b), far), "lhs batch and contracting dims holds");
  DotDimensionNumbers one; // of the lhs only
  one.add_lhs_contracting_dimensions(1);
  FAILS(DotGeneral(lhs(b), rhs(b), one), "contracting dims differ in number: lhs has");
  DotDimensionNumbers twice = last; // contracting and batch
  twice.add_lhs_batch_dimensions(1);
  twice.add_rhs_batch_dimensions(1);
  FAILS(DotGeneral(lhs(b), rhs(b), twice), "lhs batch and contracting dims holds");
}

ROW(ScaledDot,
    "ScaledDot(lhs, lhs_scale, rhs, rhs_scale, dimension_number, precision_config, "
    "preferred_element_type)",
    "tr: ScaledDot") {
  auto lhs = f32({1, 4}, {1, 2, 3, 4});
  auto lhsScale = f32({1, 2}, {10, 100}); // of two elements each
  auto rhs = f32({1, 4}, {1, 1, 1, 2});
  auto rhsScale = f32({1, 1}, {2});
  DotDimensionNumbers last;
  last.add_lhs_contracting_dimensions(1);
  last.add_rhs_contracting_dimensions(1);
  RUNS(ScaledDot(lhs(b), lhsScale(b), rhs(b), rhsScale(b), last, nullptr, F32),
       f32({1, 1}, {2 * (10 + 20 + 300 + 800)}));
  auto three = f32({1, 3}, {1, 1, 1}); // does not divide 4
  FAILS(ScaledDot(lhs(b), three(b), rhs(b), rhsScale(b), last, nullptr, F32),
        "must divide the operand's");
  auto flat = f32({2}, {1, 1});
  FAILS(ScaledDot(lhs(b), flat(b), rhs(b), rhsScale(b), last, nullptr, F32),
        "ranks differ: operand");
}

ROW(RaggedDot,
    "RaggedDot(lhs, rhs, group_sizes, dimension_numbers, precision_config, "
    "preferred_element_type)",
    "tr: RaggedDot") {
  // Rows 0 and 1 times the first matrix, row 2 times the second one.
  auto lhs = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  auto rhs = f32({2, 2, 1}, {1, 1, 10, 100});
  auto sizes = s32({2}, {2, 1});
  RaggedDotDimensionNumbers numbers;
  numbers.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  numbers.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
  numbers.add_lhs_ragged_dimensions(0);
  numbers.add_rhs_group_dimensions(0);
  RUNS(RaggedDot(lhs(b), rhs(b), sizes(b), numbers), f32({3, 1}, {3, 7, 650}));
  auto floats = f32({2}, {2, 1});
  FAILS(RaggedDot(lhs(b), rhs(b), floats(b), numbers), "group sizes must be integers, are");
  auto three = s32({3}, {1, 1, 1});
  FAILS(RaggedDot(lhs(b), rhs(b), three(b), numbers), "group counts differ: rhs dim");
}

static Values image() { return f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}); }
static Values kernel() { return f32({1, 1, 2, 2}, {1, 2, 3, 4}); }

ROW(Conv,
    "Conv(lhs, rhs, window_strides, padding, feature_group_count, batch_group_count, "
    "precision_config, preferred_element_type)",
    "zh: Conv (卷积)", "en: Conv (convolution)", "old: Conv (convolution)",
    "tr: Conv (Convolution)") {
  auto x = image(), k = kernel();
  RUNS(Conv(x(b), k(b), {1, 1}, Padding::kValid), f32({1, 1, 2, 2}, {37, 47, 67, 77}));
  RUNS(Conv(x(b), k(b), {1, 1}, Padding::kSame),
       f32({1, 1, 3, 3}, {37, 47, 21, 67, 77, 33, 23, 26, 9}));
  RUNS(Conv(x(b), k(b), {2, 2}, Padding::kSame), f32({1, 1, 2, 2}, {37, 21, 23, 9}));
  // Two groups of features, two groups of batches.
  auto features = f32({1, 2, 1, 2}, {1, 2, 3, 4});
  auto batches = f32({2, 1, 1, 2}, {1, 2, 3, 4});
  auto factors = f32({2, 1, 1, 1}, {10, 100});
  RUNS(Conv(features(b), factors(b), {1, 1}, Padding::kValid, 2),
       f32({1, 2, 1, 2}, {10, 20, 300, 400}));
  RUNS(Conv(batches(b), factors(b), {1, 1}, Padding::kValid, 1, 2),
       f32({1, 2, 1, 2}, {10, 20, 300, 400}));
  auto i = s8({1, 1, 1, 2}, {100, 100});
  RUNS(Conv(i(b), i(b), {1, 1}, Padding::kValid, 1, 1, nullptr, S32), s32({1, 1, 1, 1}, {20000}));
  FAILS(Conv(x(b), k(b), {1}, Padding::kValid), "entries, the window has");
  FAILS(Conv(x(b), k(b), {0, 1}, Padding::kValid), "window_strides holds");
  FAILS(Conv(features(b), factors(b), {1, 1}, Padding::kValid),
        "features differ: input has"); // input-z is 1, not 2
  FAILS(Conv(features(b), factors(b), {1, 1}, Padding::kValid, 3), "features differ: input has");
  FAILS(Conv(batches(b), factors(b), {1, 1}, Padding::kValid, 1, 3),
        "must be divisible by feature_group_count");
  auto line = f32({1, 1, 3}, {1, 2, 3});
  FAILS(Conv(x(b), line(b), {1, 1}, Padding::kValid), "dimension numbers do not fit: the input is");
}

ROW(ConvWithGeneralPadding,
    "ConvWithGeneralPadding(lhs, rhs, window_strides, padding, feature_group_count, "
    "batch_group_count, precision_config, preferred_element_type)",
    "zh: ConvWithGeneralPadding (卷积)", "en: ConvWithGeneralPadding (convolution)",
    "old: ConvWithGeneralPadding (convolution)", "tr: ConvWithGeneralPadding") {
  auto x = image(), k = kernel();
  RUNS(ConvWithGeneralPadding(x(b), k(b), {1, 1}, {{1, 0}, {0, 1}}),
       f32({1, 1, 3, 3}, {11, 18, 9, 37, 47, 21, 67, 77, 33}));
  RUNS(ConvWithGeneralPadding(x(b), k(b), {1, 1}, {{-1, 0}, {0, 0}}), // without the first row
       f32({1, 1, 1, 2}, {67, 77}));
  FAILS(ConvWithGeneralPadding(x(b), k(b), {1, 1}, {{1, 0}}),
        "dimension numbers do not fit: the input is");
  FAILS(ConvWithGeneralPadding(x(b), k(b), {1, 1, 1}, {{1, 0}, {0, 1}}), "entries, the window has");
}

// NHWC and HWIO, as images lie in memory in most frameworks.
static ConvolutionDimensionNumbers channelsLast() {
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(0);
  numbers.add_input_spatial_dimensions(1);
  numbers.add_input_spatial_dimensions(2);
  numbers.set_input_feature_dimension(3);
  numbers.add_kernel_spatial_dimensions(0);
  numbers.add_kernel_spatial_dimensions(1);
  numbers.set_kernel_input_feature_dimension(2);
  numbers.set_kernel_output_feature_dimension(3);
  numbers.set_output_batch_dimension(0);
  numbers.add_output_spatial_dimensions(1);
  numbers.add_output_spatial_dimensions(2);
  numbers.set_output_feature_dimension(3);
  return numbers;
}

ROW(ConvWithGeneralDimensions,
    "ConvWithGeneralDimensions(lhs, rhs, window_strides, padding, dimension_numbers, "
    "feature_group_count, batch_group_count, precision_config, preferred_element_type)",
    "tr: ConvWithGeneralDimensions") {
  auto x = f32({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto k = f32({2, 2, 1, 1}, {1, 2, 3, 4});
  RUNS(ConvWithGeneralDimensions(x(b), k(b), {1, 1}, Padding::kValid, channelsLast()),
       f32({1, 2, 2, 1}, {37, 47, 67, 77}));
  ConvolutionDimensionNumbers twice = channelsLast();
  twice.set_input_feature_dimension(0);
  FAILS(ConvWithGeneralDimensions(x(b), k(b), {1, 1}, Padding::kValid, twice),
        "dimension numbers do not fit: the input is");
  ConvolutionDimensionNumbers far = channelsLast();
  far.set_kernel_output_feature_dimension(4);
  FAILS(ConvWithGeneralDimensions(x(b), k(b), {1, 1}, Padding::kValid, far),
        "dimension numbers do not fit: the input is");
}

ROW(ConvGeneral,
    "ConvGeneral(lhs, rhs, window_strides, padding, dimension_numbers, feature_group_count, "
    "batch_group_count, precision_config, preferred_element_type)",
    "tr: ConvGeneral") {
  auto x = f32({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto k = f32({2, 2, 1, 1}, {1, 2, 3, 4});
  RUNS(ConvGeneral(x(b), k(b), {1, 1}, {{1, 0}, {0, 1}}, channelsLast()),
       f32({1, 3, 3, 1}, {11, 18, 9, 37, 47, 21, 67, 77, 33}));
  FAILS(ConvGeneral(x(b), k(b), {1, 1}, {{1, 0}, {0, 1}, {0, 0}}, channelsLast()),
        "entries, the window has");
}

ROW(ConvGeneralDilated,
    "ConvGeneralDilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, "
    "dimension_numbers, feature_group_count, batch_group_count, precision_config, "
    "preferred_element_type, window_reversal)",
    "tr: ConvGeneralDilated") {
  auto x = f32({1, 1, 1, 3}, {1, 2, 3});
  auto k = f32({1, 1, 1, 2}, {1, 10});
  const auto plain = XlaBuilder::CreateDefaultConvDimensionNumbers(2);
  RUNS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {1, 2}, {1, 1}, plain),
       f32({1, 1, 1, 4}, {1, 20, 2, 30}));
  RUNS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {1, 1}, {1, 2}, plain),
       f32({1, 1, 1, 1}, {31}));
  RUNS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {1, 1}, {1, 1}, plain, 1, 1,
                          nullptr, std::nullopt, std::vector<bool>{false, true}),
       f32({1, 1, 1, 2}, {12, 23}));
  FAILS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {0, 1}, {1, 1}, plain),
        "base dilation holds");
  FAILS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {1}, {1, 1}, plain),
        "entries, the window has");
  FAILS(ConvGeneralDilated(x(b), k(b), {1, 1}, {{0, 0}, {0, 0}}, {1, 1}, {1, -1}, plain),
        "window dilation holds");
}

ROW(Cholesky, "Cholesky(a, lower)", "tr: Cholesky") {
  // [[4, 2], [2, 10]] = [[2, 0], [1, 3]] [[2, 1], [0, 3]]; only one triangle of the result counts.
  auto a = f32({2, 2}, {4, 2, 2, 10});
  auto lowerOnes = pred({2, 2}, {1, 0, 1, 1});
  auto upperOnes = pred({2, 2}, {1, 1, 0, 1});
  auto zeros = f32({2, 2}, {0, 0, 0, 0});
  RUNS_NEAR(Select(lowerOnes(b), Cholesky(a(b), true), zeros(b)), 1e-6, f32({2, 2}, {2, 0, 1, 3}));
  RUNS_NEAR(Select(upperOnes(b), Cholesky(a(b), false), zeros(b)), 1e-6, f32({2, 2}, {2, 1, 0, 3}));
  auto rows = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  FAILS(Cholesky(rows(b), true), "the matrices must be square, have");
  auto v = f32({4}, {1, 2, 3, 4});
  FAILS(Cholesky(v(b), true), "the rank must be at least");
  auto i = s32({1, 1}, {4});
  FAILS(Cholesky(i(b), true), "its element type must be floating or complex");
}

ROW(TriangularSolve, "TriangularSolve(a, b, left_side, lower, unit_diagonal, transpose_a)",
    "tr: TriangularSolve") {
  const auto plain = TriangularSolveOptions::NO_TRANSPOSE;
  const auto transposed = TriangularSolveOptions::TRANSPOSE;
  auto a = f32({2, 2}, {2, 99, 1, 4}); // 99 is not read
  auto y = f32({2, 1}, {2, 9});
  RUNS_NEAR(TriangularSolve(a(b), y(b), true, true, false, plain), 1e-6, f32({2, 1}, {1, 2}));
  // a^T x = y: 2 x0 + x1 = 2, 4 x1 = 9.
  RUNS_NEAR(TriangularSolve(a(b), y(b), true, true, false, transposed), 1e-6,
            f32({2, 1}, {-0.125, 2.25}));
  // x a = z: 4 x1 = 8, 2 x0 + x1 = 4.
  auto z = f32({1, 2}, {4, 8});
  RUNS_NEAR(TriangularSolve(a(b), z(b), false, true, false, plain), 1e-6, f32({1, 2}, {1, 2}));
  // The diagonal is taken as 1: x0 = 2, x0 + x1 = 9.
  RUNS_NEAR(TriangularSolve(a(b), y(b), true, true, true, plain), 1e-6, f32({2, 1}, {2, 7}));
  auto three = f32({3, 1}, {1, 2, 3});
  FAILS(TriangularSolve(a(b), three(b), true, true, false, plain), "sizes differ: a has");
  auto rows = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  FAILS(TriangularSolve(rows(b), y(b), true, true, false, plain),
        "the matrices must be square, have");
  auto d = f64({2, 1}, {1, 2});
  FAILS(TriangularSolve(a(b), d(b), true, true, false, plain), "element types differ: a is");
  auto batch = f32({2, 2, 1}, {1, 2, 3, 4});
  FAILS(TriangularSolve(a(b), batch(b), true, true, false, plain), "ranks differ: a is");
  FAILS(TriangularSolve(a(b), y(b), true, true, false, TriangularSolveOptions::TRANSPOSE_INVALID),
        "transpose_a is TRANSPOSE_INVALID");
}

ROW(Fft, "Fft(operand, fft_type, fft_length)", "tr: Fft", "tr: Uygulama ayrıntıları") {
  auto c = c64({2}, {{1, 0}, {3, 0}});
  RUNS_NEAR(Fft(c(b), FftType::FFT, {2}), 1e-6, c64({2}, {{4, 0}, {-2, 0}}));
  RUNS_NEAR(Fft(c(b), FftType::IFFT, {2}), 1e-6, c64({2}, {{2, 0}, {-1, 0}}));
  auto x = f32({4}, {1, 2, 3, 4});
  RUNS_NEAR(Fft(x(b), FftType::RFFT, {4}), 1e-6, c64({3}, {{10, 0}, {-2, 2}, {-2, 0}}));
  auto half = c64({3}, {{10, 0}, {-2, 2}, {-2, 0}});
  RUNS_NEAR(Fft(half(b), FftType::IRFFT, {4}), 1e-6, f32({4}, {1, 2, 3, 4}));
  // 17 and 16 have one shape of result: the length says which one an IRFFT makes.
  auto half5 = c64({3}, {{15, 0}, {0, 0}, {0, 0}});
  RUNS_NEAR(Fft(half5(b), FftType::IRFFT, {5}), 1e-6, f32({5}, {3, 3, 3, 3, 3}));
  FAILS(Fft(x(b), FftType::FFT, {4}), "FFT takes a complex operand, has");
  FAILS(Fft(c(b), FftType::RFFT, {2}), "RFFT takes");
  FAILS(Fft(x(b), FftType::RFFT, {8}), "fft_length asks for");
  FAILS(Fft(half(b), FftType::IRFFT, {8}), "fft_length asks for");
  FAILS(Fft(c(b), FftType::FFT, {}), "and not more than the rank");
  FAILS(Fft(c(b), FftType::FFT, {2, 2, 2, 2}), "and not more than the rank");
}

ROW(FftOfSeveralDimensions, "Fft(operand, fft_type, fft_length)", "tr: Çok boyutlu FFT") {
  auto c = c64({2, 2}, {{1, 0}, {2, 0}, {3, 0}, {4, 0}});
  RUNS_NEAR(Fft(c(b), FftType::FFT, {2, 2}), 1e-6,
            c64({2, 2}, {{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}));
  // The innermost dimension first, from real to complex; then the others.
  auto x = f32({2, 2}, {1, 2, 3, 4});
  RUNS_NEAR(Fft(x(b), FftType::RFFT, {2, 2}), 1e-6,
            c64({2, 2}, {{10, 0}, {-2, 0}, {-4, 0}, {0, 0}}));
  RUNS_NEAR(Fft(Fft(x(b), FftType::RFFT, {2, 2}), FftType::IRFFT, {2, 2}), 1e-6,
            f32({2, 2}, {1, 2, 3, 4}));
  FAILS(Fft(c(b), FftType::FFT, {2, 2, 2}), "and not more than the rank");
}

// Formulas of the documents, for x [N, F] with the features in dimension 1.
ROW(BatchNormTraining, "BatchNormTraining(operand, scale, offset, epsilon, feature_index)",
    "zh: BatchNormTraining", "en: BatchNormTraining", "tr: BatchNormTraining") {
  auto x = f32({2, 2}, {1, 10, 3, 30}); // means 2, 20; variances 1, 100
  auto scale = f32({2}, {2, 3});
  auto offset = f32({2}, {5, 7});
  RUNS_NEAR(BatchNormTraining(x(b), scale(b), offset(b), 0, 1), 1e-6,
            tuple({f32({2, 2}, {3, 4, 7, 10}), f32({2}, {2, 20}), f32({2}, {1, 100})}));
  const double s = std::sqrt(1 + 3.0), t = std::sqrt(100 + 3.0); // epsilon
  RUNS_NEAR(GetTupleElement(BatchNormTraining(x(b), scale(b), offset(b), 3, 1), 0), 1e-6,
            f32({2, 2}, {5 - 2 / s, 7 - 30 / t, 5 + 2 / s, 7 + 30 / t}));
  FAILS(BatchNormTraining(x(b), scale(b), offset(b), 0, 2), "feature_index holds");
  FAILS(BatchNormTraining(x(b), scale(b), offset(b), 0, -1), "feature_index holds");
  auto three = f32({3}, {1, 2, 3});
  FAILS(BatchNormTraining(x(b), three(b), offset(b), 0, 1), "must be a vector of");
  auto i = s32({2, 2}, {1, 2, 3, 4});
  FAILS(BatchNormTraining(i(b), scale(b), offset(b), 0, 1), "its element type must be floating");
}

ROW(BatchNormInference,
    "BatchNormInference(operand, scale, offset, mean, variance, epsilon, feature_index)",
    "zh: BatchNormInference", "en: BatchNormInference", "tr: BatchNormInference") {
  auto x = f32({2, 2}, {1, 10, 3, 30});
  auto scale = f32({2}, {2, 3});
  auto offset = f32({2}, {5, 7});
  auto mean = f32({2}, {2, 20});
  auto variance = f32({2}, {1, 100});
  RUNS_NEAR(BatchNormInference(x(b), scale(b), offset(b), mean(b), variance(b), 0, 1), 1e-6,
            f32({2, 2}, {3, 4, 7, 10}));
  FAILS(BatchNormInference(x(b), scale(b), offset(b), mean(b), variance(b), 0, 2),
        "feature_index holds");
  auto three = f32({3}, {1, 2, 3});
  FAILS(BatchNormInference(x(b), scale(b), offset(b), three(b), variance(b), 0, 1),
        "must be a vector of");
}

ROW(BatchNormGrad,
    "BatchNormGrad(operand, scale, batch_mean, batch_var, grad_output, epsilon, feature_index)",
    "zh: BatchNormGrad", "en: BatchNormGrad", "tr: BatchNormGrad") {
  auto x = f32({4, 1}, {1, 1, 3, 3}); // mean 2, variance 1
  auto scale = f32({1}, {2});
  auto mean = f32({1}, {2});
  auto variance = f32({1}, {1});
  auto grad = f32({4, 1}, {1, 0, 0, 3});
  // c = mean(grad (x - 2)) = (-1 + 3) / 4 = 0.5, d = 1; grad_x = 2 (grad - d - c (x - 2)).
  RUNS_NEAR(BatchNormGrad(x(b), scale(b), mean(b), variance(b), grad(b), 0, 1), 1e-6,
            tuple({f32({4, 1}, {1, -1, -3, 3}), f32({1}, {2}), f32({1}, {4})}));
  FAILS(BatchNormGrad(x(b), scale(b), mean(b), variance(b), grad(b), 0, 2), "feature_index holds");
  auto other = f32({2, 1}, {1, 2});
  FAILS(BatchNormGrad(x(b), scale(b), mean(b), variance(b), other(b), 0, 1),
        "shapes differ: the operand is");
}
