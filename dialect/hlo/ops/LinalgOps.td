//===- LinalgOps.td - dot, convolution, fft, factorizations, batch norm ---===//
include "dialect/hlo/Types.td"

class Hlo_MathOp<string mnemonic, dag ins> : Hlo_Op<mnemonic, [Pure]> {
  let summary = "HLO " # mnemonic;
  let arguments = ins;
  let results = (outs AnyType:$result);
}

// Absent dimension lists of dot-like ops mean {}.
def Hlo_DotOp : Hlo_MathOp<"dot",
    (ins AnyType:$lhs, AnyType:$rhs,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_batch_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_batch_dims,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_contracting_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_contracting_dims,
         OptionalAttr<StrArrayAttr>:$operand_precision, OptionalAttr<StrAttr>:$algorithm)>;
def Hlo_RaggedDotOp : Hlo_MathOp<"ragged_dot",
    (ins AnyType:$lhs, AnyType:$rhs, AnyType:$group_sizes,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_batch_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_batch_dims,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_contracting_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_contracting_dims,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_ragged_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_group_dims,
         OptionalAttr<StrArrayAttr>:$operand_precision)>;
def Hlo_ScaledDotOp : Hlo_MathOp<"scaled_dot",
    (ins AnyType:$lhs, AnyType:$rhs, AnyType:$lhs_scale, AnyType:$rhs_scale,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_batch_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_batch_dims,
         OptionalAttr<DenseI64ArrayAttr>:$lhs_contracting_dims, OptionalAttr<DenseI64ArrayAttr>:$rhs_contracting_dims,
         OptionalAttr<StrArrayAttr>:$operand_precision, OptionalAttr<StrAttr>:$algorithm)>;
def Hlo_ConvolutionOp : Hlo_MathOp<"convolution",
    (ins AnyType:$lhs, AnyType:$rhs, OptionalAttr<Hlo_WindowAttr>:$window, Hlo_ConvDimsAttr:$dim_labels,
         OptionalAttr<I64Attr>:$feature_group_count, OptionalAttr<I64Attr>:$batch_group_count,
         OptionalAttr<StrArrayAttr>:$operand_precision, OptionalAttr<StrAttr>:$convolution_kind,
         OptionalAttr<StrAttr>:$sparsity_config, OptionalAttr<StrAttr>:$algorithm)>;
def Hlo_FftOp : Hlo_MathOp<"fft",
    (ins AnyType:$operand, StrAttr:$fft_type, DenseI64ArrayAttr:$fft_length)>;
def Hlo_CholeskyOp : Hlo_MathOp<"cholesky", (ins AnyType:$operand, OptionalAttr<BoolAttr>:$lower)>;
def Hlo_TriangularSolveOp : Hlo_MathOp<"triangular_solve",
    (ins AnyType:$a, AnyType:$b, OptionalAttr<BoolAttr>:$left_side, OptionalAttr<BoolAttr>:$lower,
         OptionalAttr<BoolAttr>:$unit_diagonal, OptionalAttr<StrAttr>:$transpose_a)>;
def Hlo_BatchNormGradOp : Hlo_Op<"batch_norm_grad", [Pure]> {
  let summary = "Gradients of batch normalization";
  let arguments = (ins AnyType:$operand, AnyType:$scale, AnyType:$mean, AnyType:$variance,
                       AnyType:$grad_output, F64Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Variadic<AnyType>:$results);
}
def Hlo_BatchNormInferenceOp : Hlo_MathOp<"batch_norm_inference",
    (ins AnyType:$operand, AnyType:$scale, AnyType:$offset, AnyType:$mean, AnyType:$variance,
         F64Attr:$epsilon, I64Attr:$feature_index)>;
def Hlo_BatchNormTrainingOp : Hlo_Op<"batch_norm_training", [Pure]> {
  let summary = "Batch normalization with the batch's own statistics";
  let arguments = (ins AnyType:$operand, AnyType:$scale, AnyType:$offset,
                       F64Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs Variadic<AnyType>:$results);
}
