//===- ShapeOps.td - Data movement: shapes, slices, indices ---------------===//
include "dialect/hlo/Base.td"

class Hlo_MoveOp<string mnemonic, dag ins> : Hlo_Op<mnemonic, [Pure]> {
  let summary = "Data movement: " # mnemonic;
  let arguments = ins;
  let results = (outs AnyType:$result);
}

def Hlo_BitcastOp : Hlo_MoveOp<"bitcast", (ins AnyType:$operand)>;
def Hlo_BroadcastOp : Hlo_MoveOp<"broadcast", (ins AnyType:$operand, DenseI64ArrayAttr:$dimensions)>;
def Hlo_ConcatenateOp : Hlo_MoveOp<"concatenate", (ins Variadic<AnyType>:$inputs, I64Attr:$dimension)>;
def Hlo_CopyOp : Hlo_MoveOp<"copy", (ins AnyType:$operand)>;
def Hlo_DynamicReshapeOp : Hlo_MoveOp<"dynamic_reshape", (ins AnyType:$operand, Variadic<AnyType>:$sizes)>;
def Hlo_DynamicSliceOp : Hlo_MoveOp<"dynamic_slice",
    (ins AnyType:$operand, Variadic<AnyType>:$start_indices, DenseI64ArrayAttr:$dynamic_slice_sizes)>;
def Hlo_DynamicUpdateSliceOp : Hlo_MoveOp<"dynamic_update_slice",
    (ins AnyType:$operand, AnyType:$update, Variadic<AnyType>:$start_indices)>;
def Hlo_GatherOp : Hlo_MoveOp<"gather",
    (ins AnyType:$operand, AnyType:$start_indices,
         DenseI64ArrayAttr:$offset_dims, DenseI64ArrayAttr:$collapsed_slice_dims,
         DenseI64ArrayAttr:$start_index_map, I64Attr:$index_vector_dim,
         DenseI64ArrayAttr:$slice_sizes,
         OptionalAttr<DenseI64ArrayAttr>:$operand_batching_dims,
         OptionalAttr<DenseI64ArrayAttr>:$start_indices_batching_dims,
         OptionalAttr<BoolAttr>:$indices_are_sorted)>;
def Hlo_GetDimensionSizeOp : Hlo_MoveOp<"get_dimension_size", (ins AnyType:$operand, I64Attr:$dimension)>;
def Hlo_IotaOp : Hlo_MoveOp<"iota", (ins I64Attr:$iota_dimension)>;
def Hlo_PadOp : Hlo_MoveOp<"pad",
    (ins AnyType:$operand, AnyType:$padding_value, DenseI64ArrayAttr:$padding_low,
         DenseI64ArrayAttr:$padding_high, DenseI64ArrayAttr:$padding_interior)>;
def Hlo_ReshapeOp : Hlo_MoveOp<"reshape", (ins AnyType:$operand, OptionalAttr<I64Attr>:$inferred_dimension)>;
def Hlo_ReverseOp : Hlo_MoveOp<"reverse", (ins AnyType:$operand, DenseI64ArrayAttr:$dimensions)>;
def Hlo_SetDimensionSizeOp : Hlo_MoveOp<"set_dimension_size", (ins AnyType:$operand, AnyType:$size, I64Attr:$dimension)>;
def Hlo_SliceOp : Hlo_MoveOp<"slice",
    (ins AnyType:$operand, DenseI64ArrayAttr:$start_indices,
         DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides)>;
def Hlo_TransposeOp : Hlo_MoveOp<"transpose", (ins AnyType:$operand, DenseI64ArrayAttr:$dimensions)>;

def Hlo_ConstantOp : Hlo_Op<"constant", [Pure, ConstantLike]> {
  let summary = "A literal";
  let description = [{
    `value`: DenseElementsAttr (type without encoding), ArrayAttr of the
    elements for a tuple, or UnitAttr for an elided literal `{...}`.
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
}
def Hlo_ScatterOp : Hlo_Op<"scatter", [Pure]> {
  let summary = "Updates windows of N arrays at indices";
  let description = "Operands: N arrays, the indices, N updates.";
  let arguments = (ins Variadic<AnyType>:$inputs,
      DenseI64ArrayAttr:$update_window_dims, DenseI64ArrayAttr:$inserted_window_dims,
      DenseI64ArrayAttr:$scatter_dims_to_operand_dims, I64Attr:$index_vector_dim,
      OptionalAttr<DenseI64ArrayAttr>:$input_batching_dims,
      OptionalAttr<DenseI64ArrayAttr>:$scatter_indices_batching_dims,
      OptionalAttr<BoolAttr>:$indices_are_sorted,
      OptionalAttr<BoolAttr>:$unique_indices, FlatSymbolRefAttr:$to_apply);
  let results = (outs Variadic<AnyType>:$results);
}
