//===- LinalgOps.td - Products, convolutions, factorizations, random ------===//
include "dialect/stablehlo/Attrs.td"

class Stable_MathOp<string mnemonic, dag inputs, list<Trait> traits = [Pure]> : Stable_Op<mnemonic, traits> {
  let arguments = inputs;
  let results = (outs Stable_Array:$result);
}

def Stable_DotOp
    : Stable_MathOp<"dot", (ins Stable_Array:$lhs, Stable_Array:$rhs,
                                OptionalAttr<Stable_PrecisionConfigAttr>:$precision_config)> {
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_DotGeneralOp
    : Stable_MathOp<"dot_general", (ins Stable_Array:$lhs, Stable_Array:$rhs,
                                        Stable_DotDimensionNumbers:$dot_dimension_numbers,
                                        OptionalAttr<Stable_PrecisionConfigAttr>:$precision_config,
                                        OptionalAttr<Stable_DotAlgorithm>:$algorithm)> {
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
      custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_EinsumOp
    : Stable_MathOp<"einsum", (ins Stable_Array:$lhs, Stable_Array:$rhs, StrAttr:$einsum_config)> {
  let assemblyFormat =
      "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}
def Stable_UnaryEinsumOp : Stable_MathOp<"unary_einsum", (ins Stable_Array:$operand, StrAttr:$einsum_config)> {
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
}

defvar Stable_convAttributes =
    (ins OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation, OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
         OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
         Stable_ConvDimensionNumbers:$dimension_numbers, I64Attr:$feature_group_count,
         I64Attr:$batch_group_count, OptionalAttr<Stable_PrecisionConfigAttr>:$precision_config);
def Stable_ConvolutionOp
    : Stable_MathOp<"convolution", !con((ins Stable_Array:$lhs, Stable_Array:$rhs,
                                             OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                                             OptionalAttr<I64ElementsAttr>:$padding), Stable_convAttributes)> {
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
      `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation,
                                                $window_reversal) `}`
      attr-dict `:` functional-type(operands, results)
  }];
}
def Stable_DynamicConvOp
    : Stable_MathOp<"dynamic_conv", !con((ins Stable_Array:$lhs, Stable_Array:$rhs, Stable_Array:$padding,
                                              OptionalAttr<DenseI64ArrayAttr>:$window_strides),
                                         Stable_convAttributes)>;

def Stable_CholeskyOp : Stable_MathOp<"cholesky", (ins Stable_Array:$a, Stable_FlagOff:$lower)> {
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}
def Stable_TriangularSolveOp
    : Stable_MathOp<"triangular_solve", (ins Stable_Array:$a, Stable_Array:$b, BoolAttr:$left_side,
                                             BoolAttr:$lower, BoolAttr:$unit_diagonal,
                                             Stable_TransposeAttr:$transpose_a)>;
def Stable_FftOp : Stable_MathOp<"fft", (ins Stable_Array:$operand, Stable_FftTypeAttr:$fft_type,
                                             DenseI64ArrayAttr:$fft_length)> {
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<EnumWord>($fft_type) `,` `length` `=` $fft_length attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stable_BatchNormInferenceOp
    : Stable_MathOp<"batch_norm_inference", (ins Stable_Array:$operand, Stable_Array:$scale, Stable_Array:$offset,
                                                 Stable_Array:$mean, Stable_Array:$variance, F32Attr:$epsilon,
                                                 I64Attr:$feature_index)>;
def Stable_BatchNormTrainingOp : Stable_Op<"batch_norm_training", [Pure]> {
  let arguments = (ins Stable_Array:$operand, Stable_Array:$scale, Stable_Array:$offset, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs Stable_Array:$output, Stable_Array:$batch_mean, Stable_Array:$batch_var);
}
def Stable_BatchNormGradOp : Stable_Op<"batch_norm_grad", [Pure]> {
  let arguments = (ins Stable_Array:$operand, Stable_Array:$scale, Stable_Array:$mean, Stable_Array:$variance,
                       Stable_Array:$grad_output, F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Stable_Array:$grad_operand, Stable_Array:$grad_scale, Stable_Array:$grad_offset);
}

/// Random numbers differ from call to call.
def Stable_RngOp : Stable_MathOp<"rng", (ins Stable_Array:$a, Stable_Array:$b, Stable_Array:$shape,
                                             Stable_RngDistributionAttr:$rng_distribution), []> {
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<EnumWord>($rng_distribution) attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_RngBitGeneratorOp : Stable_Op<"rng_bit_generator", [Pure]> {
  let arguments = (ins Stable_RngAlgorithmAttr:$rng_algorithm, Stable_Array:$initial_state);
  let results = (outs Stable_Array:$output_state, Stable_Array:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<EnumWord>($rng_algorithm) attr-dict `:` functional-type(operands, results)
  }];
}
