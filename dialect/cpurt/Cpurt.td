//===- Cpurt.td - The cpurt dialect: a planned program --------------------===//
//
// A module after its memory is planned consists of `cpurt.global`s (constants),
// `cpurt.kernel`s (each holds one `hlo.fusion`; equal kernels are merged) and one
// `cpurt.entry` that launches kernels over buffers. A buffer is an `!llvm.ptr`:
// an input, an output, a slice of the arena, or a global. No op of this dialect
// allocates, and every byte a program touches is named by one of
// `cpurt.input/output/arena/constant`.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_CPURT_CPURT_TD
#define DIALECT_CPURT_CPURT_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cpurt_Dialect : Dialect {
  let name = "cpurt";
  let cppNamespace = "::hlo::cpurt";
  let summary = "A planned program: launches of kernels over buffers";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::hlo::HloDialect"];
  let usePropertiesForAttributes = 0;
}

/// A buffer. The type can be built without context, so no op prints it.
def Cpurt_Buffer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "buffer pointer",
                        "::mlir::LLVM::LLVMPointerType">,
                   BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

class Cpurt_Op<string mnemonic, list<Trait> traits = []> : Op<Cpurt_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

def Cpurt_EntryOp : Cpurt_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoRegionArguments]> {
  let summary = "The program: what one call executes, in order";
  let description = [{
    `arena_bytes` is the size of the caller's scratch block, whose start is
    aligned to `arena_align`. The body ends in `cpurt.return`. With `prepare` the
    entry is not executed by a call: it fills the prepared block, which the
    module's other entry reads. That other entry comes first.

    ```mlir
    cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
      %in = cpurt.input 0
      %out = cpurt.output 0
      cpurt.launch @k0_loop_add(%in, %out)
      cpurt.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena_bytes, I64Attr:$arena_align,
                       UnitAttr:$prepare);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Cpurt_GlobalOp : Cpurt_Op<"global", [Symbol]> {
  let summary = "A constant in the object's read-only data";
  let description = "Its bytes are the elements of `value`, row-major, as held in memory (compiler/README.md).";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value,
                       DefaultValuedAttr<I64Attr, "64">:$alignment);
  let assemblyFormat = "$sym_name attr-dict `=` $value";
}

def Cpurt_KernelOp : Cpurt_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "One kernel: a fusion that becomes one function";
  let description = [{
    Block arguments have the types of the fusion's operands. The body is one
    `hlo.fusion` whose operands are these arguments, and a `cpurt.yield` of its
    results.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The fusion that the kernel consists of.
    ::hlo::FusionOp getFusion() {
      return ::llvm::cast<::hlo::FusionOp>(getBody().front().front());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

class Cpurt_BufferOp<string mnemonic, list<Trait> traits = []>
    : Cpurt_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Cpurt_Buffer:$buffer);
}

def Cpurt_InputOp : Cpurt_BufferOp<"input"> {
  let summary = "The caller's buffer of entry leaf `index`; read-only unless donated";
  let arguments = (ins I64Attr:$index);
  let assemblyFormat = "$index attr-dict";
}
def Cpurt_OutputOp : Cpurt_BufferOp<"output"> {
  let summary = "The caller's buffer of result leaf `index`";
  let description = [{
    Outputs overlap neither each other nor an input, unless the module's
    `hlo.leaf_alias` pairs them: then input and output may be one buffer.

    With an offset: the bytes of that buffer from the offset on, used as scratch
    memory before the result is written.
  }];
  let arguments = (ins I64Attr:$index, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$index (`,` $offset^)? attr-dict";
}
def Cpurt_ArenaOp : Cpurt_BufferOp<"arena"> {
  let summary = "Bytes [offset, offset + bytes) of the arena";
  let arguments = (ins I64Attr:$offset, I64Attr:$bytes);
  let assemblyFormat = "$offset `,` $bytes attr-dict";
}
def Cpurt_PreparedOp : Cpurt_BufferOp<"prepared"> {
  let summary = "Bytes [offset, offset + bytes) of the prepared block";
  let description = "Written by the entry with `prepare`, read-only in the other one.";
  let arguments = (ins I64Attr:$offset, I64Attr:$bytes);
  let assemblyFormat = "$offset `,` $bytes attr-dict";
}
def Cpurt_ConstantOp : Cpurt_BufferOp<"constant", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The bytes of a cpurt.global";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let assemblyFormat = "$global attr-dict";
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

def Cpurt_LaunchOp : Cpurt_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs all tasks of a kernel";
  let description = [{
    `buffers`: one per operand of the kernel's fusion, then one per result. An
    operand's and a result's buffer are the same only where the fusion's
    `in_place` or `may_alias` lists the pair; otherwise no result overlaps
    anything. `tasks` is set once the kernel has been emitted.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Cpurt_Buffer>:$buffers,
                       OptionalAttr<I64Attr>:$tasks);
  let assemblyFormat = "$kernel `(` $buffers `)` attr-dict";
}

def Cpurt_CopyOp : Cpurt_Op<"copy"> {
  let summary = "Copies `bytes` bytes between disjoint ranges";
  let description = [{
    With `may_be_same`, dst is an output and src the input donated for it: if
    the caller passed the same buffer for both, nothing is copied.
  }];
  let arguments = (ins Cpurt_Buffer:$dst, Cpurt_Buffer:$src, I64Attr:$bytes,
                       UnitAttr:$may_be_same);
  let assemblyFormat = "$dst `,` $src attr-dict";
}

def Cpurt_CallOp : Cpurt_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls the runtime for one operation: a custom call, a feed, a collective, ...";
  let description = [{
    `kind` is the opcode as HLO text has it. `buffers`: one per operand, then one
    per result, then one of `scratch_bytes` bytes if that is not 0. The types are
    the ones that the callee sees, with layouts; the bytes are already in the
    order of these layouts. A result shares an operand's buffer only if `alias`
    (result, operand, result, operand, ...) lists the pair. `config` holds the
    attributes of the HLO op; `kernels` are functions over a range of elements
    that the runtime may call (for a reduction: one for each operand).

    ```mlir
    cpurt.call "all-reduce"(%in, %out) {config = {channel_id = 1 : i64},
        kernels = [@k0_range_map], operand_types = [tensor<8xf32>],
        result_types = [tensor<8xf32>], scratch_bytes = 0 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$kind, Variadic<Cpurt_Buffer>:$buffers, TypeArrayAttr:$operand_types,
                       TypeArrayAttr:$result_types, I64Attr:$scratch_bytes, DictionaryAttr:$config,
                       OptionalAttr<DenseI64ArrayAttr>:$alias, OptionalAttr<ArrayAttr>:$kernels);
  let assemblyFormat = "$kind `(` $buffers `)` attr-dict";
  let hasVerifier = 1;
}

def Cpurt_RandomStateOp : Cpurt_Op<"random_state"> {
  let summary = "Writes 16 bytes to seed a random generator with";
  let description = [{
    With `offset`: the 128-bit state at that offset of the caller's hlo_call.state, which then advances
    by `delta`. Without it: the caller's seed and the number of random_state ops executed so far in
    this call.
  }];
  let arguments = (ins Cpurt_Buffer:$dst, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$delta);
  let assemblyFormat = "$dst attr-dict";
}

def Cpurt_WhileOp : Cpurt_Op<"while", [NoRegionArguments]> {
  let summary = "Runs `body` as long as `condition` gives a byte that is not zero";
  let description = [{
    The carries live in buffers that both regions name, so the op has no operands
    or results. With `trip_count` the body runs that many times and the condition
    is an empty region.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$trip_count);
  let regions = (region MaxSizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $condition `do` $body";
  let hasVerifier = 1;
}

def Cpurt_CaseOp : Cpurt_Op<"case", [NoRegionArguments]> {
  let summary = "Runs one of the branches";
  let description = [{
    `selector` points to an s32: branch `selector` runs, or the last branch if
    the value is out of range. With `predicated` it points to a pred byte: branch 0 if true,
    branch 1 if false.
  }];
  let arguments = (ins Cpurt_Buffer:$selector, UnitAttr:$predicated);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$selector attr-dict-with-keyword $branches";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Terminators
//===----------------------------------------------------------------------===//

def Cpurt_ReturnOp : Cpurt_Op<"return", [Terminator, HasParent<"EntryOp">]> {
  let summary = "The end of the program";
  let assemblyFormat = "attr-dict";
}
def Cpurt_ConditionOp : Cpurt_Op<"condition", [Terminator, HasParent<"WhileOp">]> {
  let summary = "The end of a loop's condition; `pred` points to its byte";
  let arguments = (ins Cpurt_Buffer:$pred);
  let assemblyFormat = "$pred attr-dict";
}
def Cpurt_YieldOp : Cpurt_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "WhileOp", "CaseOp"]>]> {
  let summary = "The end of a kernel (its results), of a loop's body or of a branch (nothing)";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
