//===- Types.td - Types and attributes of the hlo dialect -----------------===//
#ifndef DIALECT_HLO_TYPES_TD
#define DIALECT_HLO_TYPES_TD

include "dialect/hlo/Base.td"

def Hlo_TokenType : Hlo_Type<"Token", "token"> {
  let summary = "An ordering value, `token[]`";
}
def Hlo_OpaqueType : Hlo_Type<"Opaque", "opaque"> {
  let summary = "An untyped pointer, `opaque[]`";
}
def Hlo_BufferType : Hlo_Type<"Buffer", "buffer"> {
  let summary = "A mutable buffer holding one array, `b(f32[4])`";
  let parameters = (ins "::mlir::Type":$array);
  let assemblyFormat = "`<` $array `>`";
}

def Hlo_LayoutAttr : Hlo_Attr<"Layout", "layout"> {
  let summary = "Layout and dynamic dimensions of an array (tensor encoding)";
  let description = [{
    `minor_to_major`: a permutation of the dimensions, fastest-varying first.
    `dynamic`: the dimensions whose size is bounded, `<=N`. `properties`: what
    follows the colon in the text (tiles, memory space, ...), normalized, or "".
    A row-major static array without properties has no encoding at all.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$minorToMajor,
                        OptionalArrayRefParameter<"int64_t">:$dynamic,
                        StringRefParameter<"text after the colon", [{""}]>:$properties);
  // <[1, 0]>, <[0, 1], dynamic = [0], properties = "S(1)">
  let hasCustomAssemblyFormat = 1;
}

def Hlo_WindowAttr : Hlo_Attr<"Window", "window"> {
  let summary = "Window of convolution, reduce-window, select-and-scatter";
  let description = "Seven arrays of one length; `reversal` holds 0 or 1.";
  let parameters = (ins
      OptionalArrayRefParameter<"int64_t">:$size,
      OptionalArrayRefParameter<"int64_t">:$strides,
      OptionalArrayRefParameter<"int64_t">:$padLow,
      OptionalArrayRefParameter<"int64_t">:$padHigh,
      OptionalArrayRefParameter<"int64_t">:$baseDilations,
      OptionalArrayRefParameter<"int64_t">:$windowDilations,
      OptionalArrayRefParameter<"int64_t">:$reversal);
  let assemblyFormat = [{
    `<` (`size` `=` `[` $size^ `]`)? (`,` `stride` `=` `[` $strides^ `]`)?
        (`,` `pad_low` `=` `[` $padLow^ `]`)? (`,` `pad_high` `=` `[` $padHigh^ `]`)?
        (`,` `lhs_dilate` `=` `[` $baseDilations^ `]`)?
        (`,` `rhs_dilate` `=` `[` $windowDilations^ `]`)?
        (`,` `reversal` `=` `[` $reversal^ `]`)? `>`
  }];
}

def Hlo_ConvDimsAttr : Hlo_Attr<"ConvDims", "conv_dims"> {
  let summary = "Dimension numbers of a convolution (`dim_labels`)";
  let parameters = (ins
      "int64_t":$inputBatch, "int64_t":$inputFeature,
      OptionalArrayRefParameter<"int64_t">:$inputSpatial,
      "int64_t":$kernelInputFeature, "int64_t":$kernelOutputFeature,
      OptionalArrayRefParameter<"int64_t">:$kernelSpatial,
      "int64_t":$outputBatch, "int64_t":$outputFeature,
      OptionalArrayRefParameter<"int64_t">:$outputSpatial);
  let assemblyFormat = [{
    `<` `input` `=` `[` `b` `=` $inputBatch `,` `f` `=` $inputFeature (`,` $inputSpatial^)? `]` `,`
        `kernel` `=` `[` `i` `=` $kernelInputFeature `,` `o` `=` $kernelOutputFeature (`,` $kernelSpatial^)? `]` `,`
        `output` `=` `[` `b` `=` $outputBatch `,` `f` `=` $outputFeature (`,` $outputSpatial^)? `]` `>`
  }];
}

#endif
