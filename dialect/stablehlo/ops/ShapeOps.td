//===- ShapeOps.td - Constants, shapes, slices, indices -------------------===//
include "dialect/stablehlo/Attrs.td"

class Stable_ShapeOp<string mnemonic, dag inputs, list<Trait> traits = [Pure]> : Stable_Op<mnemonic, traits> {
  let arguments = inputs;
  let results = (outs Stable_Array:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Stable_ConstantOp : Stable_Op<"constant", [Pure, ConstantLike,
                                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Stable_Array:$output);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}
def Stable_IotaOp : Stable_Op<"iota", [Pure]> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs Stable_Array:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}
def Stable_DynamicIotaOp
    : Stable_ShapeOp<"dynamic_iota", (ins Stable_Array:$output_shape, I64Attr:$iota_dimension)> {
  let assemblyFormat =
      "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
}
def Stable_BitcastConvertOp : Stable_ShapeOp<"bitcast_convert", (ins Stable_Array:$operand)>;
def Stable_ReshapeOp : Stable_ShapeOp<"reshape", (ins Stable_Array:$operand)>;
def Stable_DynamicReshapeOp
    : Stable_ShapeOp<"dynamic_reshape", (ins Stable_Array:$operand, Stable_Array:$output_shape)>;

def Stable_BroadcastOp
    : Stable_ShapeOp<"broadcast", (ins Stable_Array:$operand, DenseI64ArrayAttr:$broadcast_sizes)> {
  let assemblyFormat =
      "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)";
}
def Stable_BroadcastInDimOp
    : Stable_ShapeOp<"broadcast_in_dim", (ins Stable_Array:$operand, DenseI64ArrayAttr:$broadcast_dimensions)> {
  let assemblyFormat =
      "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
}
def Stable_DynamicBroadcastInDimOp
    : Stable_ShapeOp<"dynamic_broadcast_in_dim",
                     (ins Stable_Array:$operand, Stable_Array:$output_dimensions,
                          DenseI64ArrayAttr:$broadcast_dimensions,
                          OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                          OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions)> {
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_ConcatenateOp
    : Stable_ShapeOp<"concatenate", (ins Variadic<Stable_Array>:$inputs, I64Attr:$dimension)> {
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stable_SliceOp
    : Stable_ShapeOp<"slice", (ins Stable_Array:$operand, DenseI64ArrayAttr:$start_indices,
                                   DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides)> {
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_DynamicSliceOp
    : Stable_ShapeOp<"dynamic_slice", (ins Stable_Array:$operand, Variadic<Stable_Array>:$start_indices,
                                           DenseI64ArrayAttr:$slice_sizes)> {
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_DynamicUpdateSliceOp
    : Stable_ShapeOp<"dynamic_update_slice", (ins Stable_Array:$operand, Stable_Array:$update,
                                                  Variadic<Stable_Array>:$start_indices)>;
def Stable_RealDynamicSliceOp
    : Stable_ShapeOp<"real_dynamic_slice", (ins Stable_Array:$operand, Stable_Array:$start_indices,
                                                Stable_Array:$limit_indices, Stable_Array:$strides)>;

def Stable_PadOp
    : Stable_ShapeOp<"pad", (ins Stable_Array:$operand, Stable_Array:$padding_value,
                                 DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
                                 DenseI64ArrayAttr:$interior_padding)> {
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
      `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}
def Stable_DynamicPadOp
    : Stable_ShapeOp<"dynamic_pad", (ins Stable_Array:$operand, Stable_Array:$padding_value,
                                         Stable_Array:$edge_padding_low, Stable_Array:$edge_padding_high,
                                         Stable_Array:$interior_padding)>;

def Stable_ReverseOp : Stable_ShapeOp<"reverse", (ins Stable_Array:$operand, DenseI64ArrayAttr:$dimensions)> {
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
      `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}
def Stable_TransposeOp : Stable_ShapeOp<"transpose", (ins Stable_Array:$operand, DenseI64ArrayAttr:$permutation)> {
  let assemblyFormat =
      "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}

def Stable_GetDimensionSizeOp
    : Stable_ShapeOp<"get_dimension_size", (ins Stable_Array:$operand, I64Attr:$dimension)> {
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}
def Stable_SetDimensionSizeOp
    : Stable_ShapeOp<"set_dimension_size", (ins Stable_Array:$operand, Stable_Array:$size, I64Attr:$dimension)> {
  let assemblyFormat =
      "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
}

class Stable_GenericOp<string mnemonic, dag inputs, list<Trait> traits = [Pure]> : Stable_Op<mnemonic, traits> {
  let arguments = inputs;
  let results = (outs Stable_Array:$result);
}
def Stable_GatherOp
    : Stable_GenericOp<"gather", (ins Stable_Array:$operand, Stable_Array:$start_indices,
                                      Stable_GatherDimensionNumbers:$dimension_numbers,
                                      DenseI64ArrayAttr:$slice_sizes, Stable_FlagOff:$indices_are_sorted)>;
def Stable_DynamicGatherOp
    : Stable_GenericOp<"dynamic_gather", (ins Stable_Array:$operand, Stable_Array:$start_indices,
                                              Stable_Array:$slice_sizes,
                                              Stable_GatherDimensionNumbers:$dimension_numbers,
                                              Stable_FlagOff:$indices_are_sorted)>;
def Stable_TorchIndexSelectOp
    : Stable_GenericOp<"torch_index_select", (ins Stable_Array:$operand, Stable_Array:$index, I64Attr:$dim,
                                                  I64Attr:$batch_dims)>;
