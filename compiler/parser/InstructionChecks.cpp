//===- InstructionChecks.cpp - Counts, attributes, result shapes ---------===//
//
// The checks of one instruction that XLA's parser makes, and the result shape where the text omits
// it or the format recomputes it. All other checks belong to the verifier.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "compiler/support/Checked.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/rules/InferType.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
/// Elements of an array, or nullopt if unknown or too many to count.
std::optional<int64_t> countElements(RankedTensorType type) {
  auto layout = llvm::dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!type.hasStaticShape() || (layout && !layout.getDynamic().empty())) {
    return std::nullopt;
  }
  return checkedProduct(type.getShape());
}
} // namespace

Parser::Result Parser::checkOperandCount(Instruction &inst) {
  int64_t count = inst.operands.size();
  int64_t least = inst.info->minOperands, most = inst.info->maxOperands;
  StringRef opcode = inst.opcode;
  if (inst.async == AsyncPart::Update || inst.async == AsyncPart::Done) {
    least = most = 1;
  } else if (inst.async == AsyncPart::Start) {
    least = 0;
    most = -1; // the wrapped op's operands may be given by updates
  }
  if (count < least || (most >= 0 && count > most)) {
    InFlightDiagnostic diagnostic = error(inst.opcodePosition);
    diagnostic << opcode << " takes " << (most < 0 ? "at least " : "") << least << " operand"
               << (least == 1 ? "" : "s") << ", got " << count;
    return diagnostic;
  }
  if ((opcode == "reduce" || opcode == "reduce-window") && count % 2) {
    return error(inst.opcodePosition)
           << opcode << " takes as many initial values as arrays, got " << count << " operands";
  }
  if (opcode == "scatter" && count % 2 == 0) {
    return error(inst.opcodePosition)
           << "scatter takes N arrays, the indices and N updates, got " << count << " operands";
  }
  bool slice = opcode == "dynamic-slice", update = opcode == "dynamic-update-slice";
  if ((slice || update) && inst.async == AsyncPart::None) {
    auto array = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    int64_t indices = count - (slice ? 1 : 2);
    bool vector = indices == 1 && !isScalar(inst.operands.back().getType());
    if (array && indices != array.getRank() && !vector) {
      return error(inst.opcodePosition) << opcode << " of rank " << array.getRank() << " takes "
                                        << array.getRank() << " start indices, got " << indices;
    }
  }
  return success();
}

/// Checks required attributes, and conditions between attributes and operands.
Parser::Result Parser::checkAttributes(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (inst.async == AsyncPart::None || inst.async == AsyncPart::Start) {
    for (const AttrSpec &spec : inst.info->attributes) {
      if (spec.required && !inst.hasSeen(spec.name)) {
        return error(inst.opcodePosition)
               << inst.opcode << " needs the attribute '" << spec.name << "'";
      }
    }
  } else {
    return success();
  }
  NamedAttrList &attributes = inst.attributes;
  if (opcode == "broadcast" && !inst.hasSeen("dimensions")) {
    if (!inst.operands.empty() && !isScalar(inst.operands[0].getType())) {
      return error(inst.opcodePosition) << "broadcast needs the attribute 'dimensions'";
    }
    attributes.append("dimensions", builder.getDenseI64ArrayAttr({}));
  }
  if ((opcode == "all-reduce" || opcode == "all-reduce-start" || opcode == "reduce-scatter") &&
      !attributes.get("channel_id")) {
    auto global = llvm::dyn_cast_or_null<BoolAttr>(attributes.get("use_global_device_ids"));
    if (global && global.getValue()) {
      return error(inst.opcodePosition)
             << opcode << ": use_global_device_ids=true needs a channel_id";
    }
  }
  if (attributes.get("slice_sizes") && opcode.starts_with("collective-permute") &&
      inst.operands.size() != 4) {
    return error(inst.opcodePosition)
           << opcode << " with slice_sizes takes 4 operands, got " << inst.operands.size();
  }
  if (opcode == "conditional" && !inst.operands.empty()) {
    auto selector = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    Type element = selector && selector.getRank() == 0 ? selector.getElementType() : Type();
    bool pred = element && element.isSignlessInteger(1);
    if (!pred && !(element && element.isSignedInteger(32))) {
      return error(inst.operandPositions[0]) << "the selector of a conditional is pred[] or s32[], "
                                                "got "
                                             << typeToText(inst.operands[0].getType());
    }
    bool indexed = attributes.get("branch_computations") != nullptr;
    if (pred && (indexed || !inst.trueBranch || !inst.falseBranch)) {
      return error(inst.opcodePosition)
             << "a conditional on pred[] has true_computation and false_computation";
    }
    if (!pred && (!indexed || inst.trueBranch || inst.falseBranch)) {
      return error(inst.opcodePosition) << "a conditional on s32[] has branch_computations";
    }
    if (pred) {
      attributes.append("branch_computations",
                        builder.getArrayAttr({inst.trueBranch, inst.falseBranch}));
    }
    size_t branches = llvm::cast<ArrayAttr>(attributes.get("branch_computations")).size();
    if (branches == 0 || branches + 1 != inst.operands.size()) {
      return error(inst.opcodePosition) << "conditional has " << branches << " branches and "
                                        << inst.operands.size() - 1 << " branch operands";
    }
  }
  if (auto constraints =
          llvm::dyn_cast_or_null<ArrayAttr>(attributes.get("operand_layout_constraints"))) {
    if (constraints.size() != inst.operands.size()) {
      return error(inst.opcodePosition)
             << "operand_layout_constraints has " << constraints.size() << " shapes, there are "
             << inst.operands.size() << " operands";
    }
    for (auto [index, shape] : llvm::enumerate(constraints)) {
      Type written = llvm::cast<TypeAttr>(shape).getValue();
      if (!areCompatible(written, inst.operands[index].getType())) {
        return error(inst.operandPositions[index])
               << "operand " << index << " is " << typeToText(inst.operands[index].getType())
               << ", its layout constraint is " << typeToText(written);
      }
    }
  }
  if ((opcode == "send-done" || opcode == "recv-done") && !inst.operands.empty()) {
    Operation *start = inst.operands[0].getDefiningOp();
    if (start && (llvm::isa<SendOp, RecvOp>(start)) &&
        start->getAttr("channel_id") != attributes.get("channel_id")) {
      auto text = [](Attribute id) {
        auto value = llvm::dyn_cast_or_null<IntegerAttr>(id);
        return value ? std::to_string(value.getInt()) : std::string("absent");
      };
      return error(inst.opcodePosition)
             << opcode << " has channel_id " << text(attributes.get("channel_id")) << ", its "
             << (opcode == "send-done" ? "send" : "recv") << " has "
             << text(start->getAttr("channel_id"));
    }
  }
  return success();
}

/// The extent of each element is cached, so a type made of known types costs one step per element.
TypeExtent Parser::extentOf(Type type) {
  auto tuple = llvm::dyn_cast_or_null<TupleType>(type);
  if (!tuple) {
    return {};
  }
  if (auto known = extents.find(type); known != extents.end()) {
    return known->second;
  }
  TypeExtent extent{tuple.size() == 0 ? 1u : 0u, 0, 0};
  for (Type element : tuple.getTypes()) {
    TypeExtent inner = extentOf(element);
    extent.leaves = llvm::SaturatingAdd(extent.leaves, inner.leaves);
    extent.levels = std::max(extent.levels, inner.levels);
    extent.steps = llvm::SaturatingAdd(extent.steps, inner.steps, inner.leaves);
  }
  ++extent.levels;
  extents[type] = extent;
  return extent;
}

/// Refuses a value with more leaves or levels than the budget, before anything visits them.
Parser::Result Parser::checkExtent(const Instruction &inst) {
  TypeExtent extent = extentOf(inst.type);
  if (extent.leaves > budget.leaves) {
    return error(inst.opcodePosition)
           << inst.opcode << " has "
           << (extent.leaves == UINT64_MAX ? "more than 2^64" : std::to_string(extent.leaves))
           << " arrays in its tuples; " << budget.text(&Budget::leaves);
  }
  if (extent.levels > budget.nesting) {
    return error(inst.opcodePosition) << inst.opcode << " has " << extent.levels
                                      << " levels of tuples; " << budget.text(&Budget::nesting);
  }
  return success();
}

/// Infers the instruction's type if the text omits it.
Parser::Result Parser::completeShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (inst.async != AsyncPart::None) {
    if (!inst.type) {
      return error(inst.opcodePosition) << "the shape of an asynchronous instruction must be "
                                           "written";
    }
    return success();
  }
  Type token = TokenType::get(context);
  Type handle = RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/false));
  // The first element of a tuple type.
  auto data = [&](Type type, const char *at, Type &element) -> Result {
    auto tuple = llvm::dyn_cast_or_null<TupleType>(type);
    if (!tuple || tuple.size() == 0) {
      InFlightDiagnostic diagnostic = error(at);
      diagnostic << opcode << " needs a tuple of the data and more";
      if (type) {
        diagnostic << ", got " << typeToText(type);
      }
      return diagnostic;
    }
    element = tuple.getType(0);
    return success();
  };
  Type element;
  // A shape that is written and ignored must still be a valid shape.
  bool isIgnored = llvm::is_contained({"after-all", "add-dependency", "send", "send-done",
                                       "recv-done", "outfeed", "recv", "infeed"},
                                      opcode);
  if (isIgnored && inst.type && inst.shapePosition) {
    for (Type leaf : leafTypes(inst.type)) {
      std::string problem = asArray(leaf) ? shapeProblem(asArray(leaf)) : std::string();
      if (!problem.empty()) {
        return error(inst.shapePosition) << opcode << ": " << problem;
      }
    }
  }
  if (opcode == "after-all" || opcode == "send-done" || opcode == "outfeed") {
    inst.type = token;
  } else if (opcode == "add-dependency") {
    inst.type = inst.operands[0].getType();
  } else if (opcode == "send") {
    inst.type = TupleType::get(context, {inst.operands[0].getType(), handle, token});
  } else if (opcode == "recv-done") {
    if (failed(data(inst.operands[0].getType(), inst.operandPositions[0], element))) {
      return failure();
    }
    inst.type = TupleType::get(context, {element, token});
  } else if (opcode == "recv" || opcode == "infeed") {
    const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
    if (failed(data(inst.type, place, element))) {
      return failure();
    }
    inst.type = opcode == "recv" ? TupleType::get(context, {element, handle, token})
                                 : TupleType::get(context, {element, token});
  } else if (!inst.type) {
    return inferShape(inst);
  }
  return success();
}

Parser::Result Parser::inferShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (!infersAll && !inst.info->mayOmitShape()) {
    return error(inst.opcodePosition)
           << "the shape of " << opcode << " cannot be inferred and must be written";
  }
  if (opcode == "broadcast") {
    auto dims = llvm::cast<DenseI64ArrayAttr>(inst.attributes.get("dimensions"));
    if (!dims.empty()) {
      return error(inst.opcodePosition)
             << "the shape of a broadcast with dimensions must be written";
    }
  }
  if (opcode == "map" && !inst.attributes.get("dimensions")) {
    return error(inst.opcodePosition) << "map without a shape needs the attribute 'dimensions'";
  }
  if (opcode == "triangular-solve" && !inst.attributes.get("transpose_a")) {
    return error(inst.opcodePosition)
           << "triangular-solve without a shape needs the attribute 'transpose_a'";
  }
  // Rules read frontend attributes as well: a composite call has a name.
  NamedAttrList attributes = inst.attributes;
  attributes.append(inst.common);
  // Only the name of a computation with errors is known: users of it report nothing more.
  bool silent = false;
  FailureOr<Type> type = hlo::inferType(
      opcodes.getOpName(*inst.info).getStringRef(), inst.operands,
      attributes.getDictionary(context),
      [&](StringRef name) -> ComputationOp {
        auto it = computations.find(name);
        ComputationOp op = it == computations.end() ? ComputationOp() : it->second.op;
        silent |= !op;
        return op;
      },
      [&]() {
        return silent ? reporter.silentError(inst.opcodePosition) : error(inst.opcodePosition);
      });
  reporter.unmute();
  if (failed(type)) {
    if (!reporter.hasErrors()) {
      error(inst.opcodePosition) << "the shape of this " << opcode << " cannot be inferred";
    }
    return failure();
  }
  inst.type = *type;
  return success();
}

/// The parser's checks of result shapes.
Parser::Result Parser::checkShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  bool async = inst.async != AsyncPart::None || opcode.starts_with("async-");
  if (async) {
    return checkAsync(inst);
  }
  const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
  if (opcode == "reshape") {
    auto from = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    auto to = llvm::dyn_cast<RankedTensorType>(inst.type);
    if (from && to) {
      std::optional<int64_t> before = countElements(from), after = countElements(to);
      if (before && after && *before != *after) {
        return error(place) << "reshape of " << *before << " elements to " << *after;
      }
    }
  }
  if (opcode == "dynamic-reshape") {
    auto to = llvm::dyn_cast<RankedTensorType>(inst.type);
    if (!to || to.getRank() + 1 != int64_t(inst.operands.size())) {
      return error(inst.opcodePosition) << "dynamic-reshape to rank " << (to ? to.getRank() : 0)
                                        << " has " << inst.operands.size() - 1 << " sizes";
    }
  }
  return success();
}

Parser::Result Parser::checkAsync(Instruction &inst) {
  StringRef opcode = inst.info->name;
  const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
  bool start = inst.async == AsyncPart::Start || opcode == "async-start";
  bool update = inst.async == AsyncPart::Update || opcode == "async-update";
  auto checkState = [&](Type type, const char *at) -> Result {
    auto tuple = llvm::dyn_cast<TupleType>(type);
    if (tuple && tuple.size() >= 2 && llvm::isa<TupleType>(tuple.getType(0))) {
      return success();
    }
    return error(at) << "the state of an asynchronous operation is "
                        "((operands...), result, context...), got "
                     << typeToText(type);
  };
  if ((start || update) && failed(checkState(inst.type, place))) {
    return failure();
  }
  if (start) {
    auto calls = llvm::dyn_cast_or_null<FlatSymbolRefAttr>(inst.attributes.get("calls"));
    if (opcode == "async-start" && calls && !wrapped.insert(calls.getValue()).second) {
      return error(inst.opcodePosition) << "another async-start calls '" << calls.getValue()
                                        << "' already; each has a computation of its own";
    }
    return success();
  }
  Value state = inst.operands[0];
  if (failed(checkState(state.getType(), inst.operandPositions[0]))) {
    return failure();
  }
  if (update && !areCompatible(inst.type, state.getType())) {
    return error(place) << "an update keeps the shape " << typeToText(state.getType())
                        << " of the state, got " << typeToText(inst.type);
  }
  Operation *previous = state.getDefiningOp();
  if (llvm::isa_and_nonnull<TupleOp>(previous)) {
    return error(inst.operandPositions[0])
           << "the state of an asynchronous operation comes from its start or update, not a tuple";
  }
  if (!llvm::isa_and_nonnull<AsyncStartOp, AsyncUpdateOp>(previous)) {
    return success();
  }
  auto sugar = previous->getAttrOfType<StringAttr>("sugar");
  if (inst.async != AsyncPart::None && sugar && sugar.getValue() != opcode) {
    return error(inst.opcodePosition)
           << "this continues " << sugar.getValue() << "-start, not " << opcode << "-start";
  }
  // Attributes of the start apply to the whole chain; updates need not repeat them.
  if (auto earlier = llvm::dyn_cast<AsyncUpdateOp>(previous)) {
    // Its state is of a start, or of an update whose start is known by now.
    Operation *before = earlier->getOperand(0).getDefiningOp();
    Operation *first = asyncStarts.lookup(before);
    previous = asyncStarts[earlier] = first ? first : before;
  }
  if (!llvm::isa_and_nonnull<AsyncStartOp>(previous)) {
    return success();
  }
  Attribute calls = previous->getAttr("calls");
  Attribute written = inst.attributes.get("calls");
  if (calls && written && calls != written) {
    return error(inst.opcodePosition)
           << "this calls '" << llvm::cast<FlatSymbolRefAttr>(written).getValue()
           << "', its start calls '" << llvm::cast<FlatSymbolRefAttr>(calls).getValue() << "'";
  }
  auto thread = llvm::dyn_cast_or_null<StringAttr>(inst.attributes.get("async_execution_thread"));
  auto startThread = previous->getAttrOfType<StringAttr>("async_execution_thread");
  StringRef expected = startThread ? startThread.getValue() : "main";
  if (thread && thread.getValue() != expected) {
    return error(inst.opcodePosition) << "this runs on the thread '" << thread.getValue()
                                      << "', its start on '" << expected << "'";
  }
  return success();
}
