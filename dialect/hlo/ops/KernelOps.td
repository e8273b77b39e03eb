//===- KernelOps.td - Ops of kernels and buffers that are no opcodes ------===//
include "dialect/hlo/Base.td"

/// The choice of a kernel's lane dimension: lanes along the arrays, and separate code in each
/// iteration for the few positions of the stacked dimension.
def Hlo_StackOp : Op<Hlo_Dialect, "stack", [Pure]> {
  let summary = "N arrays of one shape as the N positions of a new dimension, computed together";
  let description = [{
    The root of a loop kernel that walks the shape of the operands. An iteration computes element i
    of each operand and stores all of them: interleaved if the new dimension is the minor one, one
    array after the other if it is the first.

    ```
    %r = hlo.stack %x, %y {dimension = 1 : i64}    x[i] in r[i,0], y[i] in r[i,1]
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$parts, "int64_t":$dimension)>];
  let hasVerifier = 1;
}

def Hlo_ResizeOp : Op<Hlo_Dialect, "resize", [Pure]> {
  let summary = "An array with more or fewer elements in the same buffer";
  let description = [{
    The result begins with the elements of the operand, in row-major order. If it is longer, the
    elements behind them are arbitrary. No kernel takes the op in, and it costs nothing: the
    program's versions for several sizes use the beginning of buffers of the bound's size.

    ```
    %r = hlo.resize %x : (tensor<64x10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class Hlo_PackingOp<string mnemonic> : Op<Hlo_Dialect, mnemonic, [Pure]> {
  let arguments = (ins AnyRankedTensor:$operand, Variadic<AnyRankedTensor>:$sizes,
                       DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Hlo_UnpackOp : Hlo_PackingOp<"unpack"> {
  let summary = "A dense array of sizes known at run time in an array of constant shape";
  let description = [{
    The operand's buffer begins with a dense array of the result's shape, but with `sizes`, s64[],
    in the dimensions `dims`. The result has its elements at their indices, and arbitrary ones
    elsewhere.
  }];
}
def Hlo_PackOp : Hlo_PackingOp<"pack"> {
  let summary = "The leading part of an array, of a size known at run time, as a dense array";
  let description = "The opposite of `unpack`: of the result's buffer only those elements are written.";
}
