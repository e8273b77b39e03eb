//===- InferControl.cpp - Rules of calls, control flow, tuples ------------===//
//
// Values must have the types of the parameters to which they are passed, without mixed precision.
// As parsed, a loop or branch has one value, possibly a tuple; after flattening it has any number
// of values. Both are compared as lists.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/TextAttrs.h"
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

using Signature = RuleContext::Signature;

/// Checks the operands from number `first` on against the parameters.
static LogicalResult checkArguments(RuleContext &context, StringRef label, StringRef role,
                                    const Signature &called, ValueRange arguments, int64_t first) {
  auto noteCallee = [&](InFlightDiagnostic &diagnostic) {
    diagnostic.attachNote(called.loc) << "computation '" << called.name << "' is defined here";
  };
  if (called.parameters.size() != arguments.size()) {
    InFlightDiagnostic diagnostic =
        context.fail(label, role, " '", called.name, "' takes ", called.parameters.size(),
                     " parameters, ", arguments.size(), " are given");
    noteCallee(diagnostic);
    return diagnostic;
  }
  bool good = true;
  for (auto [i, parameter, argument] : llvm::enumerate(called.parameters, arguments)) {
    if (!sameShape(parameter, argument.getType())) {
      InFlightDiagnostic diagnostic =
          context.fail(label, role, " '", called.name, "' takes ", parameter, " as parameter ", i,
                       ", ", argument.getType(), " is given");
      context.note(diagnostic, first + static_cast<int64_t>(i));
      noteCallee(diagnostic);
      good = false;
    }
  }
  return success(good);
}

/// One type, or a tuple of all types of the values.
static Type typeOf(RuleContext &context, ValueRange values) {
  return values.size() == 1 ? values.front().getType()
                            : Type(TupleType::get(context.mlirContext(), values.getTypes()));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Checks that aliased outputs and operands exist and have one shape.
static void checkAliasing(RuleContext &context, Type result) {
  StringRef text = context.text("output_to_operand_aliasing");
  if (text.empty()) {
    return;
  }
  auto aliases = parseAliases(text);
  if (failed(aliases)) {
    context.fail("c3", "output_to_operand_aliasing is malformed: ", text);
    return;
  }
  for (const Alias &alias : *aliases) {
    // After flattening, leaf numbers differ from the text's tuple indices.
    if (context.isFlattened()) {
      return;
    }
    Type output = typeAtIndex(result, alias.output);
    Type input = alias.parameter >= 0 && alias.parameter < context.size()
                     ? typeAtIndex(context.type(alias.parameter), alias.parameterIndex)
                     : Type();
    if (!output || !input) {
      context.fail("c3", "output_to_operand_aliasing names ", output ? "operand " : "output ",
                   output ? std::to_string(alias.parameter) + " " : std::string(),
                   ArrayRef<int64_t>(output ? alias.parameterIndex : alias.output),
                   ", which does not exist");
    } else if (!sameShape(output, input)) {
      (void)context.failAt({alias.parameter}, "c4", "aliased shapes differ: output ",
                           ArrayRef<int64_t>(alias.output), " is ", output, ", operand ",
                           alias.parameter, " is ", input);
    }
  }
}

static FailureOr<Type> call(RuleContext &context) {
  auto called = context.computation("to_apply");
  if (failed(called)) {
    return failure();
  }
  (void)checkArguments(context, "c1", "to_apply", *called, context.all(), 0);
  if (context.flag("is_composite") &&
      !context.text("hlo.frontend_attributes").contains("composite.name")) {
    context.fail("c2", "a composite call needs the frontend attribute composite.name");
  }
  return context.result(called->result());
}

static FailureOr<Type> fusion(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written)) {
    return failure();
  }
  checkAliasing(context, *written);
  // Verify.cpp checks a fusion with a region instead of `calls`.
  if (!context.get<Attribute>("calls")) {
    return context.result(*written);
  }
  auto called = context.computation("calls");
  if (failed(called)) {
    return failure();
  }
  (void)checkArguments(context, "c1", "calls", *called, context.all(), 0);
  return context.result(called->result());
}

/// The row-major array that holds the same bytes.
static Type physicalShape(Type type) {
  RankedTensorType array = asArray(type);
  if (!array) {
    return type;
  }
  SmallVector<int64_t> sizes;
  for (int64_t dim : llvm::reverse(minorToMajor(array))) {
    sizes.push_back(dim >= 0 && dim < array.getRank() ? array.getDimSize(dim) : -1);
  }
  return arrayType(sizes, array.getElementType());
}

static FailureOr<Type> customCall(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written)) {
    return failure();
  }
  if (context.text("custom_call_target").empty()) {
    context.fail("c1", "custom_call_target is empty");
  }
  auto constraints = context.get<ArrayAttr>("operand_layout_constraints");
  if (constraints && !context.isFlattened()) {
    if (static_cast<int64_t>(constraints.size()) != context.size()) {
      context.fail("c2", "operand_layout_constraints has ", constraints.size(), " shapes, has ",
                   context.size(), " operands");
    } else {
      for (auto [i, constraint] : llvm::enumerate(constraints)) {
        auto type = dyn_cast<TypeAttr>(constraint);
        // After layout normalization, the operand has the physical shape.
        if (type && !sameShape(type.getValue(), context.type(i)) &&
            !sameShape(physicalShape(type.getValue()), context.type(i))) {
          (void)context.failAt({static_cast<int64_t>(i)}, "c2", "operand ", i, " is ",
                               context.type(i), ", its layout constraint ", type.getValue());
        }
      }
    }
  }
  checkAliasing(context, *written);
  if (auto called = context.get<ArrayAttr>("called_computations")) {
    for (Attribute symbol : called) {
      (void)context.computation(symbol, "called_computations");
    }
  }
  return context.result(*written);
}

//===----------------------------------------------------------------------===//
// While, conditional
//===----------------------------------------------------------------------===//

static FailureOr<Type> whileLoop(RuleContext &context) {
  auto condition = context.computation("condition");
  auto body = context.computation("body");
  if (failed(condition) || failed(body)) {
    return failure();
  }
  (void)checkArguments(context, "c1", "condition", *condition, context.all(), 0);
  (void)checkArguments(context, "c2", "body", *body, context.all(), 0);
  if (body->results.size() != context.all().size() ||
      !llvm::all_of(llvm::zip(body->results, context.all().getTypes()),
                    [](auto pair) { return sameShape(std::get<0>(pair), std::get<1>(pair)); })) {
    InFlightDiagnostic diagnostic =
        context.fail("c3", "body '", body->name, "' gives ", body->result(), ", the loop carries ",
                     typeOf(context, context.all()));
    diagnostic.attachNote(body->loc) << "computation '" << body->name << "' is defined here";
  }
  Type pred = scalarType(IntegerType::get(condition->loc.getContext(), 1));
  if (!sameShape(condition->result(), pred)) {
    InFlightDiagnostic diagnostic = context.fail("c4", "condition '", condition->name, "' gives ",
                                                 condition->result(), ", must give pred[]");
    diagnostic.attachNote(condition->loc)
        << "computation '" << condition->name << "' is defined here";
  }
  return context.result(typeOf(context, context.all()));
}

/// Number of operands of each branch: counted when flattened, else one each.
static FailureOr<SmallVector<int64_t>> branchCounts(RuleContext &context, int64_t branches) {
  int64_t given = context.size() - 1;
  auto counts = context.get<DenseI64ArrayAttr>("branch_operand_counts");
  if (!counts) {
    if (given != branches) {
      return context.fail("c3", "has ", branches, " branches and ", given, " branch operands");
    }
    return SmallVector<int64_t>(branches, 1);
  }
  if (static_cast<int64_t>(counts.size()) != branches) {
    return context.fail("c3", "has ", branches, " branches, branch_operand_counts has ",
                        counts.size(), " entries");
  }
  int64_t total = 0;
  for (int64_t count : counts.asArrayRef()) {
    if (count < 0 || count > given) {
      return context.fail("c3", "branch_operand_counts holds ", count, ", has ", given,
                          " branch operands");
    }
    total += count;
  }
  if (total != given) {
    return context.fail("c3", "branch_operand_counts add up to ", total, ", has ", given,
                        " branch operands");
  }
  return SmallVector<int64_t>(counts.asArrayRef());
}

static FailureOr<Type> conditional(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  RankedTensorType selector = context.array(0);
  auto branches = context.get<ArrayAttr>("branch_computations");
  if (!selector) {
    return failure();
  }
  if (!branches || branches.empty()) {
    return context.fail("c2", "has no branches");
  }
  bool byPred = isPred(selector.getElementType());
  if (selector.getRank() != 0 || (!byPred && !selector.getElementType().isSignedInteger(32))) {
    (void)context.failAt({0}, "c1", "the selector must be pred[] or s32[], is ", selector);
  } else if (byPred && branches.size() != 2) {
    (void)context.failAt({0}, "c2", "the selector is pred[], has ", branches.size(),
                         " branches, expected 2");
  }
  auto counts = branchCounts(context, branches.size());
  if (failed(counts)) {
    return failure();
  }
  int64_t first = 1;
  std::optional<Signature> reference;
  for (auto [i, symbol] : llvm::enumerate(branches)) {
    int64_t count = (*counts)[i];
    auto branch = context.computation(symbol, "branch " + std::to_string(i));
    if (succeeded(branch)) {
      (void)checkArguments(context, "c4", "branch " + std::to_string(i), *branch,
                           context.all().slice(first, count), first);
      if (!reference) {
        reference = *branch;
      } else if (!sameShape(branch->result(), reference->result())) {
        InFlightDiagnostic diagnostic =
            context.fail("c5", "branches give different shapes: '", reference->name, "' gives ",
                         reference->result(), ", '", branch->name, "' gives ", branch->result());
        diagnostic.attachNote(branch->loc)
            << "computation '" << branch->name << "' is defined here";
      }
    }
    first += count;
  }
  if (context.hasFailed() || !reference) {
    return failure();
  }
  return reference->result();
}

//===----------------------------------------------------------------------===//
// Tuples and ordering
//===----------------------------------------------------------------------===//

static FailureOr<Type> tuple(RuleContext &context) {
  return Type(TupleType::get(context.mlirContext(), context.all().getTypes()));
}

static FailureOr<Type> getTupleElement(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  auto index = context.requiredInteger("index");
  auto operand = dyn_cast<TupleType>(context.type(0));
  if (!operand) {
    return context.failAt({0}, "c1", "the operand must be a tuple, is ", context.type(0));
  }
  if (failed(index)) {
    return failure();
  }
  if (*index < 0 || *index >= static_cast<int64_t>(operand.size())) {
    return context.failAt({0}, "c2", "index is ", *index, ", the tuple has ", operand.size(),
                          " elements");
  }
  return operand.getType(*index);
}

static FailureOr<Type> optBarrier(RuleContext &context) { return typeOf(context, context.all()); }

static FailureOr<Type> domain(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  return context.type(0);
}

static void checkToken(RuleContext &context, StringRef label, int64_t i) {
  if (!isa<TokenType>(context.type(i))) {
    (void)context.failAt({i}, label, "operand ", i, " must be token[], is ", context.type(i));
  }
}

static FailureOr<Type> afterAll(RuleContext &context) {
  for (int64_t i = 0; i < context.size(); ++i) {
    checkToken(context, "c1", i);
  }
  return context.result(TokenType::get(context.mlirContext()));
}

static FailureOr<Type> addDependency(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  checkToken(context, "c1", 1);
  return context.result(context.type(0));
}

//===----------------------------------------------------------------------===//
// Asynchronous pairs
//===----------------------------------------------------------------------===//

/// The type of an async chain's state: `((operands), result, context...)`.
static TupleType asyncState(Type type) {
  auto state = dyn_cast_if_present<TupleType>(type);
  return state && state.size() >= 2 && isa<TupleType>(state.getType(0)) ? state : TupleType();
}

static LogicalResult badState(RuleContext &context, Type type) {
  return context.fail("c1", "the state must be ((operands...), result, ...), is ", type);
}

static FailureOr<Type> asyncStart(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  auto called = context.computation("calls");
  if (failed(written) || failed(called)) {
    return failure();
  }
  TupleType state = asyncState(*written);
  if (!state) {
    return badState(context, *written);
  }
  auto operands = cast<TupleType>(state.getType(0));
  Type given = TupleType::get(state.getContext(), context.all().getTypes());
  if (!sameShape(operands, given)) {
    context.fail("c2", "element 0 of the state is ", Type(operands), ", the operands are ", given);
  }
  // Updates may append operands, so the start has a prefix of the parameters.
  bool fits = called->parameters.size() >= context.all().size();
  for (int64_t i = 0; fits && i < context.size(); ++i) {
    fits = sameShape(called->parameters[i], context.type(i));
  }
  if (!fits) {
    context.fail("c3", "calls '", called->name, "' takes ",
                 Type(TupleType::get(state.getContext(), called->parameters)),
                 ", the operands are ", given);
  }
  // A done may be the op that names the result; element 1 is then ().
  auto unbound = dyn_cast<TupleType>(state.getType(1));
  if (!(unbound && unbound.size() == 0) && !sameShape(state.getType(1), called->result())) {
    context.fail("c4", "element 1 of the state is ", state.getType(1), ", calls '", called->name,
                 "' gives ", called->result());
  }
  return context.result(*written);
}

static FailureOr<Type> asyncUpdate(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  TupleType state = asyncState(context.type(0));
  if (!state) {
    return badState(context, context.type(0));
  }
  SmallVector<Type> operands(cast<TupleType>(state.getType(0)).getTypes());
  llvm::append_range(operands, context.all().drop_front().getTypes());
  SmallVector<Type> elements(state.getTypes());
  elements[0] = TupleType::get(state.getContext(), operands);
  return Type(TupleType::get(state.getContext(), elements));
}

static FailureOr<Type> asyncDone(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  TupleType state = asyncState(context.type(0));
  if (!state) {
    return badState(context, context.type(0));
  }
  auto unbound = dyn_cast<TupleType>(state.getType(1));
  if (unbound && unbound.size() == 0) {
    return context.requiredWritten();
  }
  return state.getType(1);
}

static FailureOr<Type> copyStart(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  MLIRContext *mlirContext = context.mlirContext();
  Type u32 = IntegerType::get(mlirContext, 32, IntegerType::Unsigned);
  return Type(
      TupleType::get(mlirContext, {context.type(0), context.type(0), Type(scalarType(u32))}));
}

static FailureOr<Type> copyDone(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  auto state = dyn_cast<TupleType>(context.type(0));
  if (!state || state.size() != 3) {
    return context.failAt({0}, "c1", "the operand must be (destination, source, u32[]), is ",
                          context.type(0));
  }
  return state.getType(0);
}

Rule controlRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.call", call)
      .Case("hlo.fusion", fusion)
      .Case("hlo.custom_call", customCall)
      .Case("hlo.while", whileLoop)
      .Case("hlo.conditional", conditional)
      .Case("hlo.tuple", tuple)
      .Case("hlo.get_tuple_element", getTupleElement)
      .Case("hlo.opt_barrier", optBarrier)
      .Case("hlo.domain", domain)
      .Case("hlo.after_all", afterAll)
      .Case("hlo.add_dependency", addDependency)
      .Case("hlo.async_start", asyncStart)
      .Case("hlo.async_update", asyncUpdate)
      .Case("hlo.async_done", asyncDone)
      .Case("hlo.copy_start", copyStart)
      .Case("hlo.copy_done", copyDone)
      .Default(nullptr);
}

} // namespace hlo
