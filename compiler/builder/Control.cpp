//===- Control.cpp - Tuples, calls, loops, custom calls -------------------===//
#include "absl/strings/str_join.h"
#include "compiler/builder/Instruction.h"
#include <hlo/ops/control.h>

namespace hlo {

using detail::Instruction;

//===----------------------------------------------------------------------===//
// Tuples and order
//===----------------------------------------------------------------------===//

XlaOp Tuple(XlaBuilder *builder, absl::Span<const XlaOp> elements, SourceLocation at) {
  return Instruction("tuple", elements, at, builder).add();
}

XlaOp Tuple(absl::Span<const XlaOp> elements, SourceLocation at) {
  return Tuple(nullptr, elements, at);
}

XlaOp GetTupleElement(XlaOp tuple_data, std::int64_t index, SourceLocation at) {
  return Instruction("get-tuple-element", {tuple_data}, at).number("index", index).add();
}

XlaOp CreateToken(XlaBuilder *builder, SourceLocation at) { return AfterAll(builder, {}, at); }

XlaOp AfterAll(XlaBuilder *builder, absl::Span<const XlaOp> tokens, SourceLocation at) {
  return Instruction("after-all", tokens, at, builder).add();
}

XlaOp AfterAll(absl::Span<const XlaOp> tokens, SourceLocation at) {
  return AfterAll(nullptr, tokens, at);
}

XlaOp AddDependency(XlaOp operand, XlaOp token, SourceLocation at) {
  return Instruction("add-dependency", {operand, token}, at).add();
}

XlaOp OptimizationBarrier(XlaOp operand, SourceLocation at) {
  return Instruction("opt-barrier", {operand}, at).add();
}

XlaOp Domain(XlaOp operand, absl::string_view kind, absl::string_view entry, absl::string_view exit,
             SourceLocation at) {
  return Instruction("domain", {operand}, at)
      .attribute("domain", absl::StrCat("{kind=", detail::quoted(kind), ", entry=", entry,
                                        ", exit=", exit, "}"))
      .add();
}

XlaOp CopyStart(XlaOp operand, SourceLocation at) {
  return Instruction("copy-start", {operand}, at).add();
}

XlaOp CopyDone(XlaOp context, SourceLocation at) {
  return Instruction("copy-done", {context}, at).add();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

XlaOp Call(XlaBuilder *builder, const XlaComputation &computation, absl::Span<const XlaOp> operands,
           SourceLocation at) {
  return Instruction("call", operands, at, builder).computation("to_apply", computation).add();
}

XlaOp Call(const XlaComputation &computation, absl::Span<const XlaOp> operands, SourceLocation at) {
  return Call(nullptr, computation, operands, at);
}

XlaOp CompositeCall(XlaBuilder *builder, const XlaComputation &computation,
                    absl::Span<const XlaOp> operands, const std::string &name,
                    std::optional<absl::string_view> attributes,
                    std::optional<std::int64_t> version, SourceLocation at) {
  Instruction inst("call", operands, at, builder);
  if (name.empty()) {
    return inst.fail("a composite call needs a name");
  }
  inst.computation("to_apply", computation)
      .boolean("is_composite", true)
      .frontend("composite.name", name)
      .frontend("composite.version", absl::StrCat(version.value_or(0)));
  if (attributes) {
    inst.frontend("composite.attributes", std::string(*attributes));
  }
  return inst.add();
}

XlaOp CompositeCall(const XlaComputation &computation, absl::Span<const XlaOp> operands,
                    const std::string &name, std::optional<absl::string_view> attributes,
                    std::optional<std::int64_t> version, SourceLocation at) {
  return CompositeCall(nullptr, computation, operands, name, attributes, version, at);
}

XlaOp Map(XlaBuilder *builder, absl::Span<const XlaOp> operands, const XlaComputation &computation,
          absl::Span<const std::int64_t> dimensions, absl::Span<const XlaOp> static_operands,
          SourceLocation at) {
  Instruction inst("map", operands, at, builder);
  if (operands.empty()) {
    return inst.fail("there are no operands");
  }
  const Shape *first = inst.arrayOf(0);
  if (!first) {
    return inst.add();
  }
  // The instruction has no static operands: a scalar is the same everywhere.
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < first->rank(); ++i) {
    all.push_back(i);
  }
  for (XlaOp op : static_operands) {
    Instruction one("map", {op}, at, inst.builder);
    const Shape *shape = one.arrayOf(0);
    if (!shape) {
      return one.add();
    }
    if (shape->rank() != 0) {
      return inst.fail("static operands must be scalars, one is ", shape->ToString());
    }
    inst.operand(detail::expandTo(op, *shape, *first, {}, at));
  }
  return inst.numbers("dimensions", dimensions.empty() ? detail::Numbers(all) : dimensions)
      .computation("to_apply", computation)
      .add();
}

XlaOp Map(absl::Span<const XlaOp> operands, const XlaComputation &computation,
          absl::Span<const std::int64_t> dimensions, absl::Span<const XlaOp> static_operands,
          SourceLocation at) {
  return Map(nullptr, operands, computation, dimensions, static_operands, at);
}

/// The shape of a computation's result; none, and an error, if there is no computation.
static absl::StatusOr<Shape> resultOf(const XlaComputation &computation) {
  absl::StatusOr<ProgramShape> program = computation.GetProgramShape();
  return program.ok() ? absl::StatusOr<Shape>(program->result()) : program.status();
}

XlaOp Fusion(XlaBuilder *builder, absl::Span<const XlaOp> operands, absl::string_view fusion_kind,
             const XlaComputation &fused_computation, SourceLocation at) {
  Instruction inst("fusion", operands, at, builder);
  absl::StatusOr<Shape> result = resultOf(fused_computation);
  if (!result.ok()) {
    return inst.fail(result.status().message());
  }
  return inst.shape(*result)
      .attribute("kind", std::string(fusion_kind))
      .computation("calls", fused_computation)
      .add();
}

XlaOp AsyncStart(XlaBuilder *builder, absl::Span<const XlaOp> operands,
                 const std::string &execution_thread, const XlaComputation &called_computation,
                 SourceLocation at) {
  Instruction inst("async-start", operands, at, builder);
  absl::StatusOr<Shape> result = resultOf(called_computation);
  if (!result.ok()) {
    return inst.fail(result.status().message());
  }
  std::vector<Shape> arguments;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape *shape = inst.shapeOf(static_cast<int>(i));
    if (!shape) {
      return inst.add();
    }
    arguments.push_back(*shape);
  }
  if (!execution_thread.empty()) {
    inst.text("async_execution_thread", execution_thread);
  }
  return inst.shape(Shape({Shape(std::move(arguments)), *result, ShapeUtil::MakeScalarShape(U32)}))
      .computation("calls", called_computation)
      .add();
}

XlaOp AsyncUpdate(XlaOp operand, SourceLocation at) {
  return Instruction("async-update", {operand}, at).add();
}

XlaOp AsyncDone(XlaOp operand, SourceLocation at) {
  return Instruction("async-done", {operand}, at).add();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

XlaOp While(const XlaComputation &condition, const XlaComputation &body, XlaOp init,
            SourceLocation at) {
  return Instruction("while", {init}, at)
      .computation("condition", condition)
      .computation("body", body)
      .add();
}

XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation &true_computation,
                  XlaOp false_operand, const XlaComputation &false_computation, SourceLocation at) {
  return Instruction("conditional", {predicate, true_operand, false_operand}, at)
      .computation("true_computation", true_computation)
      .computation("false_computation", false_computation)
      .add();
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation *const> branch_computations,
                  absl::Span<const XlaOp> branch_operands, SourceLocation at) {
  Instruction inst("conditional", {branch_index}, at);
  if (branch_computations.empty()) {
    return inst.fail("there are no branches");
  }
  return inst.operands(branch_operands)
      .computations("branch_computations", branch_computations)
      .add();
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation> branch_computations,
                  absl::Span<const XlaOp> branch_operands, SourceLocation at) {
  std::vector<const XlaComputation *> pointers;
  for (const XlaComputation &computation : branch_computations) {
    pointers.push_back(&computation);
  }
  return Conditional(branch_index, absl::MakeConstSpan(pointers), branch_operands, at);
}

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

/// A literal that states its shapes with layouts: in `s32[2] {1}` the braces would be a layout.
static std::string typedLiteral(const Literal &literal) {
  if (literal.IsTuple()) {
    return absl::StrCat("(",
                        absl::StrJoin(literal.tuple_elements(), ", ",
                                      [](std::string *out, const Literal &element) {
                                        *out += typedLiteral(element);
                                      }),
                        ")");
  }
  Shape shape = literal.shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  return absl::StrCat(shape.ToString(/*print_layout=*/true), " ", literal.ToStringWithoutShape());
}

namespace {
/// What the variants of CustomCall have in common.
struct CustomCallOptions {
  const std::string &target, &opaque;
  bool hasSideEffect;
  absl::Span<const OutputOperandAliasing> aliasing;
  const Literal *literal;
  CustomCallSchedule schedule;
  CustomCallApiVersion version;
};
} // namespace

static XlaOp customCall(Instruction &inst, const Shape &shape, const CustomCallOptions &options) {
  inst.shape(shape).text("custom_call_target", options.target);
  if (options.hasSideEffect) {
    inst.boolean("custom_call_has_side_effect", true);
  }
  if (options.literal) {
    inst.attribute("literal", typedLiteral(*options.literal));
  }
  if (!options.aliasing.empty()) {
    auto one = [](std::string *out, const OutputOperandAliasing &alias) {
      absl::StrAppend(out, detail::listText(alias.first), ": (", alias.second.first, ", ",
                      detail::listText(alias.second.second), ")");
    };
    inst.attribute("output_to_operand_aliasing",
                   absl::StrCat("{", absl::StrJoin(options.aliasing, ", ", one), "}"));
  }
  switch (options.schedule) {
  case CustomCallSchedule::SCHEDULE_NONE: break;
  case CustomCallSchedule::SCHEDULE_LATEST: inst.attribute("schedule", "SCHEDULE_LATEST"); break;
  case CustomCallSchedule::SCHEDULE_EARLIEST:
    inst.attribute("schedule", "SCHEDULE_EARLIEST");
    break;
  }
  switch (options.version) {
  case CustomCallApiVersion::API_VERSION_UNSPECIFIED:
  case CustomCallApiVersion::API_VERSION_ORIGINAL: break;
  case CustomCallApiVersion::API_VERSION_STATUS_RETURNING:
    inst.attribute("api_version", "API_VERSION_STATUS_RETURNING");
    break;
  case CustomCallApiVersion::API_VERSION_STATUS_RETURNING_UNIFIED:
    inst.attribute("api_version", "API_VERSION_STATUS_RETURNING_UNIFIED");
    break;
  case CustomCallApiVersion::API_VERSION_TYPED_FFI:
    inst.attribute("api_version", "API_VERSION_TYPED_FFI");
    break;
  }
  if (!options.opaque.empty()) {
    inst.text("backend_config", options.opaque);
  }
  return inst.add();
}

XlaOp CustomCall(XlaBuilder *builder, const std::string &call_target_name,
                 absl::Span<const XlaOp> operands, const Shape &shape, const std::string &opaque,
                 bool has_side_effect,
                 absl::Span<const OutputOperandAliasing> output_operand_aliasing,
                 const Literal *literal, CustomCallSchedule schedule,
                 CustomCallApiVersion api_version, SourceLocation at) {
  Instruction inst("custom-call", operands, at, builder);
  return customCall(inst, shape,
                    {call_target_name, opaque, has_side_effect, output_operand_aliasing, literal,
                     schedule, api_version});
}

XlaOp CustomCall(const std::string &call_target_name, absl::Span<const XlaOp> operands,
                 const Shape &shape, SourceLocation at) {
  return CustomCall(nullptr, call_target_name, operands, shape, "", false, {}, nullptr,
                    CustomCallSchedule::SCHEDULE_NONE, CustomCallApiVersion::API_VERSION_ORIGINAL,
                    at);
}

XlaOp CustomCallWithComputation(XlaBuilder *builder, const std::string &call_target_name,
                                absl::Span<const XlaOp> operands, const XlaComputation &computation,
                                const Shape &shape, const std::string &opaque, bool has_side_effect,
                                absl::Span<const OutputOperandAliasing> output_operand_aliasing,
                                const Literal *literal, CustomCallSchedule schedule,
                                CustomCallApiVersion api_version, SourceLocation at) {
  Instruction inst("custom-call", operands, at, builder);
  inst.computation("called_computations", computation);
  return customCall(inst, shape,
                    {call_target_name, opaque, has_side_effect, output_operand_aliasing, literal,
                     schedule, api_version});
}

XlaOp CustomCallWithLayout(XlaBuilder *builder, const std::string &call_target_name,
                           absl::Span<const XlaOp> operands, const Shape &shape_with_layout,
                           absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string &opaque, bool has_side_effect,
                           absl::Span<const OutputOperandAliasing> output_operand_aliasing,
                           const Literal *literal, CustomCallSchedule schedule,
                           CustomCallApiVersion api_version, SourceLocation at) {
  Instruction inst("custom-call", operands, at, builder);
  if (operand_shapes_with_layout.size() != operands.size()) {
    return inst.fail("has ", operands.size(), " operands and ", operand_shapes_with_layout.size(),
                     " shapes of operands");
  }
  auto withLayout = [](Shape shape) {
    if (!shape.IsTuple() && !shape.has_layout()) {
      LayoutUtil::SetToDefaultLayout(&shape);
    }
    return shape;
  };
  auto one = [&](std::string *out, const Shape &shape) {
    *out += withLayout(shape).ToString(/*print_layout=*/true);
  };
  inst.attribute("operand_layout_constraints",
                 absl::StrCat("{", absl::StrJoin(operand_shapes_with_layout, ", ", one), "}"));
  return customCall(inst, withLayout(shape_with_layout),
                    {call_target_name, opaque, has_side_effect, output_operand_aliasing, literal,
                     schedule, api_version});
}

} // namespace hlo
