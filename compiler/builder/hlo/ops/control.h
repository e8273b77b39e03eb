//===- hlo/ops/control.h - Tuples, calls, loops, custom calls --*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
// Computations are copied into the caller's module, each once.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OPS_CONTROL_H
#define HLO_OPS_CONTROL_H

#include <hlo/attributes.h>
#include <hlo/computation.h>
#include <hlo/literal.h>
#include <hlo/op.h>
#include <optional>

namespace hlo {

//===----------------------------------------------------------------------===//
// Tuples and order
//===----------------------------------------------------------------------===//

/// A tuple of these values.
XlaOp Tuple(XlaBuilder *builder, absl::Span<const XlaOp> elements,
            SourceLocation at = SourceLocation::current());
/// At least one element.
XlaOp Tuple(absl::Span<const XlaOp> elements, SourceLocation at = SourceLocation::current());
/// Element `index` of a tuple, from 0.
XlaOp GetTupleElement(XlaOp tuple_data, std::int64_t index,
                      SourceLocation at = SourceLocation::current());

/// A token without a past.
XlaOp CreateToken(XlaBuilder *builder, SourceLocation at = SourceLocation::current());
/// A token that comes after all of these.
XlaOp AfterAll(XlaBuilder *builder, absl::Span<const XlaOp> tokens,
               SourceLocation at = SourceLocation::current());
/// At least one token.
XlaOp AfterAll(absl::Span<const XlaOp> tokens, SourceLocation at = SourceLocation::current());
/// The operand, but computed after the token.
XlaOp AddDependency(XlaOp operand, XlaOp token, SourceLocation at = SourceLocation::current());
/// The operand; no optimization moves computations across it.
XlaOp OptimizationBarrier(XlaOp operand, SourceLocation at = SourceLocation::current());
/// The operand, at the border of two domains of this kind: "sharding" with entry and exit
/// shardings in the text format's syntax, as "{replicated}".
XlaOp Domain(XlaOp operand, absl::string_view kind, absl::string_view entry, absl::string_view exit,
             SourceLocation at = SourceLocation::current());
/// Asynchronous copy: CopyDone(CopyStart(operand)) is the operand.
XlaOp CopyStart(XlaOp operand, SourceLocation at = SourceLocation::current());
XlaOp CopyDone(XlaOp context, SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The computation's result for these operands, which have its parameters' shapes.
XlaOp Call(XlaBuilder *builder, const XlaComputation &computation, absl::Span<const XlaOp> operands,
           SourceLocation at = SourceLocation::current());
/// At least one operand.
XlaOp Call(const XlaComputation &computation, absl::Span<const XlaOp> operands,
           SourceLocation at = SourceLocation::current());
/// A call of the decomposition of the operation `name`, which the compiler may replace.
/// `attributes`: the operation's own, in any syntax.
XlaOp CompositeCall(XlaBuilder *builder, const XlaComputation &computation,
                    absl::Span<const XlaOp> operands, const std::string &name,
                    std::optional<absl::string_view> attributes = std::nullopt,
                    std::optional<std::int64_t> version = std::nullopt,
                    SourceLocation at = SourceLocation::current());
XlaOp CompositeCall(const XlaComputation &computation, absl::Span<const XlaOp> operands,
                    const std::string &name,
                    std::optional<absl::string_view> attributes = std::nullopt,
                    std::optional<std::int64_t> version = std::nullopt,
                    SourceLocation at = SourceLocation::current());
/// A scalar function of the elements at the same position of all operands. `dimensions` are
/// {0, 1, ...}. `static_operands`, scalars, are the function's further arguments.
XlaOp Map(XlaBuilder *builder, absl::Span<const XlaOp> operands, const XlaComputation &computation,
          absl::Span<const std::int64_t> dimensions, absl::Span<const XlaOp> static_operands = {},
          SourceLocation at = SourceLocation::current());
/// Without `dimensions`: all.
XlaOp Map(absl::Span<const XlaOp> operands, const XlaComputation &computation,
          absl::Span<const std::int64_t> dimensions = {},
          absl::Span<const XlaOp> static_operands = {},
          SourceLocation at = SourceLocation::current());
/// `computation` as one kernel. `fusion_kind`: "kLoop", "kInput", "kOutput" or "kCustom".
XlaOp Fusion(XlaBuilder *builder, absl::Span<const XlaOp> operands, absl::string_view fusion_kind,
             const XlaComputation &fused_computation,
             SourceLocation at = SourceLocation::current());

/// Asynchronous call: AsyncDone(AsyncStart(...)) is the result. A chain has any number of updates.
XlaOp AsyncStart(XlaBuilder *builder, absl::Span<const XlaOp> operands,
                 const std::string &execution_thread, const XlaComputation &called_computation,
                 SourceLocation at = SourceLocation::current());
XlaOp AsyncUpdate(XlaOp operand, SourceLocation at = SourceLocation::current());
XlaOp AsyncDone(XlaOp operand, SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// body(body(... init)), as long as condition of the value is true.
XlaOp While(const XlaComputation &condition, const XlaComputation &body, XlaOp init,
            SourceLocation at = SourceLocation::current());
/// One of two computations, as the scalar `predicate` says.
XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation &true_computation,
                  XlaOp false_operand, const XlaComputation &false_computation,
                  SourceLocation at = SourceLocation::current());
/// Computation `branch_index`, s32[]; the last one if there is no such number.
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation *const> branch_computations,
                  absl::Span<const XlaOp> branch_operands,
                  SourceLocation at = SourceLocation::current());
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation> branch_computations,
                  absl::Span<const XlaOp> branch_operands,
                  SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

/// A call of the program's own function of this name, which hlo_call.custom_calls has.
XlaOp CustomCall(XlaBuilder *builder, const std::string &call_target_name,
                 absl::Span<const XlaOp> operands, const Shape &shape,
                 const std::string &opaque = "", bool has_side_effect = false,
                 absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
                 const Literal *literal = nullptr,
                 CustomCallSchedule schedule = CustomCallSchedule::SCHEDULE_NONE,
                 CustomCallApiVersion api_version = CustomCallApiVersion::API_VERSION_ORIGINAL,
                 SourceLocation at = SourceLocation::current());
/// As older documents have it; at least one operand.
XlaOp CustomCall(const std::string &call_target_name, absl::Span<const XlaOp> operands,
                 const Shape &shape, SourceLocation at = SourceLocation::current());
/// The target is given a computation, which it may ask for.
XlaOp CustomCallWithComputation(
    XlaBuilder *builder, const std::string &call_target_name, absl::Span<const XlaOp> operands,
    const XlaComputation &computation, const Shape &shape, const std::string &opaque = "",
    bool has_side_effect = false,
    absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
    const Literal *literal = nullptr,
    CustomCallSchedule schedule = CustomCallSchedule::SCHEDULE_NONE,
    CustomCallApiVersion api_version = CustomCallApiVersion::API_VERSION_ORIGINAL,
    SourceLocation at = SourceLocation::current());
/// Operands and result in these layouts. A shape without a layout means row-major.
XlaOp CustomCallWithLayout(
    XlaBuilder *builder, const std::string &call_target_name, absl::Span<const XlaOp> operands,
    const Shape &shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
    const std::string &opaque = "", bool has_side_effect = false,
    absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
    const Literal *literal = nullptr,
    CustomCallSchedule schedule = CustomCallSchedule::SCHEDULE_NONE,
    CustomCallApiVersion api_version = CustomCallApiVersion::API_VERSION_ORIGINAL,
    SourceLocation at = SourceLocation::current());

} // namespace hlo

#endif
