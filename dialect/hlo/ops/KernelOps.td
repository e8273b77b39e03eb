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
    elements behind them are arbitrary. The shapes differ in their slowest dimension that is not 1,
    or the operand is empty. No kernel takes the op in, and it costs nothing: the program's versions
    for several sizes use the beginning of buffers of the bound's size.

    ```
    %r = hlo.resize %x : (tensor<64x10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
