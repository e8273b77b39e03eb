//===- seed_control.cpp - Calls, branches, loops, custom calls ------------===//
//
// Rows of the table of the specification's sections: see SeedTable.h.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"

using namespace seed;

static XlaComputation unary(PrimitiveType type, XlaOp (*function)(XlaOp, SourceLocation)) {
  XlaBuilder builder("unary");
  function(Parameter(&builder, 0, ShapeUtil::MakeShape(type, {}), "x"), SourceLocation::current());
  return builder.Build().value();
}

static XlaComputation constant(float value) {
  XlaBuilder builder("constant");
  ConstantR0<float>(&builder, value);
  return builder.Build().value();
}

ROW(Call, "Call(builder, computation, operands)", "zh: 调用（Call）", "en: Call", "old: Call",
    "tr: Telefon") {
  const XlaComputation add = Scalar2(F32, "add"), seven = constant(7);
  auto x = f32(1);
  auto y = f32(2);
  RUNS(Call(b, add, {x(b), y(b)}), f32(3));
  RUNS(Call(b, seven, {}), f32(7));
  FAILS(Call(b, add, {x(b)}), "parameters");
  auto i = s32(1);
  FAILS(Call(b, add, {x(b), i(b)}), "as parameter");
  auto v = f32({1}, {1});
  FAILS(Call(b, add, {x(b), v(b)}), "as parameter");
  FAILS(Call(b, XlaComputation(), {x(b)}), "computation");
}

ROW(CompositeCall, "CompositeCall(builder, computation, operands, name, attributes, version)",
    "tr: CompositeCall") {
  const XlaComputation add = Scalar2(F32, "add");
  auto x = f32(1);
  RUNS(CompositeCall(b, add, {x(b), x(b)}, "foo.bar", "{n = 1 : i32}", 1), f32(2));
  RUNS(CompositeCall(b, add, {x(b), x(b)}, "foo.bar"), f32(2));
  COMPILES(CompositeCall(b, add, {x(b), x(b)}, "foo.bar", "{n = 1 : i32}", 1), "is_composite=true");
  FAILS(CompositeCall(b, add, {x(b)}, "foo.bar"), "parameters");
  FAILS(CompositeCall(b, add, {x(b), x(b)}, ""), "a composite call needs a name");
}

ROW(Conditional,
    "Conditional(predicate, true_operand, true_computation, false_operand, false_computation)",
    "zh: Conditional", "en: Conditional", "tr: Şart Kipi") {
  const XlaComputation neg = unary(F32, Neg), ceil = unary(F32, Ceil);
  auto yes = pred(1);
  auto no = pred(0);
  auto x = f32(1.5);
  auto y = f32(2.5);
  RUNS(Conditional(yes(b), x(b), neg, y(b), ceil), f32(-1.5));
  RUNS(Conditional(no(b), x(b), neg, y(b), ceil), f32(3));
  auto i = s32(1);
  FAILS(Conditional(i(b), x(b), neg, y(b), ceil), "has branch_computations");
  auto p = pred({1}, {1});
  FAILS(Conditional(p(b), x(b), neg, y(b), ceil), "the selector of a conditional is pred");
  FAILS(Conditional(yes(b), i(b), neg, y(b), ceil), "as parameter");
  FAILS(Conditional(yes(b), x(b), neg, i(b), ceil), "as parameter");
  const XlaComputation integer = unary(S32, Neg); // another result
  FAILS(Conditional(yes(b), x(b), neg, i(b), integer), "branches give different shapes");
  const XlaComputation two = Scalar2(F32, "add"); // two parameters
  FAILS(Conditional(yes(b), x(b), two, y(b), ceil), "parameters");
}

ROW(ConditionalOfIndex, "Conditional(branch_index, branch_computations, branch_operands)",
    "tr: Şart Kipi") {
  const XlaComputation neg = unary(F32, Neg), ceil = unary(F32, Ceil), floor = unary(F32, Floor);
  auto zero = s32(0);
  auto one = s32(1);
  auto far = s32(7);
  auto minus = s32(-1);
  auto x = f32(1.5);
  RUNS(Conditional(zero(b), {&neg, &ceil, &floor}, {x(b), x(b), x(b)}), f32(-1.5));
  RUNS(Conditional(one(b), {&neg, &ceil, &floor}, {x(b), x(b), x(b)}), f32(2));
  RUNS(Conditional(far(b), {&neg, &ceil, &floor}, {x(b), x(b), x(b)}), f32(1)); // the last one
  RUNS(Conditional(minus(b), {&neg, &ceil, &floor}, {x(b), x(b), x(b)}), f32(1));
  FAILS(Conditional(zero(b), {&neg, &ceil}, {x(b)}), "conditional has");
  FAILS(Conditional(x(b), {&neg, &ceil}, {x(b), x(b)}), "the selector of a conditional is pred");
  FAILS(Conditional(zero(b), {&neg, &ceil}, {x(b), zero(b)}), "as parameter");
}

ROW(While, "While(condition, body, init)", "zh: While", "en: While", "old: While", "tr: While") {
  // As the documents have it: 1000 times the iteration count plus 1, the vector plus a constant.
  const Shape state =
      ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(S32, {}), ShapeUtil::MakeShape(F32, {10})});
  XlaBuilder c("condition");
  Lt(GetTupleElement(Parameter(&c, 0, state, "result"), 0), ConstantR0<std::int32_t>(&c, 1000));
  const XlaComputation condition = c.Build().value();
  XlaBuilder d("body");
  const XlaOp result = Parameter(&d, 0, state, "result");
  const XlaOp iteration = GetTupleElement(result, 0) + ConstantR0<std::int32_t>(&d, 1);
  const XlaOp vector = GetTupleElement(result, 1) + ConstantR1<float>(&d, 10, 0.5f);
  Tuple(&d, {iteration, vector});
  const XlaComputation body = d.Build().value();
  auto zero = s32(0);
  auto zeros = f32({10}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  RUNS(While(condition, body, Tuple(b, {zero(b), zeros(b)})),
       tuple({s32(1000), f32({10}, {500, 500, 500, 500, 500, 500, 500, 500, 500, 500})}));
  auto done = s32(2000); // the body does not run
  RUNS(While(condition, body, Tuple(b, {done(b), zeros(b)})),
       tuple({s32(2000), f32({10}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}));
  FAILS(While(condition, body, zero(b)), "as parameter");
  FAILS(While(condition, condition, Tuple(b, {zero(b), zeros(b)})), "the loop carries");
  FAILS(While(body, body, Tuple(b, {zero(b), zeros(b)})), "must give pred");
  auto nine = f32({9}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  FAILS(While(condition, body, Tuple(b, {zero(b), nine(b)})), "as parameter");
}

ROW(Fusion, "Fusion(builder, operands, fusion_kind, fused_computation)", "tr: Karma") {
  const XlaComputation add = Scalar2(F32, "add");
  auto x = f32(1);
  RUNS(Fusion(b, {x(b), x(b)}, "kLoop", add), f32(2));
  FAILS(Fusion(b, {x(b)}, "kLoop", add), "parameters");
  FAILS(Fusion(b, {x(b), x(b)}, "kNothing", add), "known are kLoop, kInput, kOutput, kCustom");
}

ROW(Async, "AsyncStart(builder, operands, execution_thread, computation); AsyncUpdate; AsyncDone",
    "tr: Asenk.") {
  const XlaComputation add = Scalar2(F32, "add");
  auto x = f32(1);
  RUNS(AsyncDone(AsyncStart(b, {x(b), x(b)}, "main", add)), f32(2));
  RUNS(AsyncDone(AsyncUpdate(AsyncStart(b, {x(b), x(b)}, "main", add))), f32(2));
  FAILS(AsyncDone(x(b)), "the state must be");
  FAILS(AsyncUpdate(x(b)), "the state must be");
  FAILS(AsyncStart(b, {x(b)}, "main", add),
        "only a done may use its state, it is the result of the computation");
}

// The documents' myfunc: z[0][0] = x[1] + y[1][0]; here all of z is filled.
extern "C" void seedMyFunc(void *out, const void **in) {
  const float *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  float *z = static_cast<float *>(out);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      z[3 * i + k] = x[1] + y[3 + i] * static_cast<float>(k == 0);
    }
  }
}

ROW(CustomCall, "CustomCall(builder, call_target_name, operands, shape, ...)", "zh: CustomCall",
    "en: CustomCall", "old: CustomCall", "tr: CustomCall") {
  AddCustomCall("myfunc", reinterpret_cast<void (*)()>(seedMyFunc));
  auto x = f32({2}, {1, 2});
  auto y = f32({2, 3}, {10, 20, 30, 40, 50, 60});
  RUNS(CustomCall(b, "myfunc", {x(b), y(b)}, ShapeUtil::MakeShape(F32, {3, 3})),
       f32({3, 3}, {42, 2, 2, 52, 2, 2, 62, 2, 2}));
  RUNS(CustomCall("myfunc", {x(b), y(b)}, ShapeUtil::MakeShape(F32, {3, 3})),
       f32({3, 3}, {42, 2, 2, 52, 2, 2, 62, 2, 2}));
  COMPILES(CustomCall(b, "myfunc", {x(b)}, ShapeUtil::MakeShape(F32, {2}), "opaque", true),
           "custom_call_has_side_effect=true");
  COMPILES(CustomCallWithLayout(b, "myfunc", {y(b)},
                                ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1}),
                                {ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1})}),
           "operand_layout_constraints=");
  const XlaComputation add = Scalar2(F32, "add");
  COMPILES(CustomCallWithComputation(b, "myfunc", {x(b)}, add, ShapeUtil::MakeShape(F32, {2})),
           "called_computations=");
  FAILS(CustomCall(b, "", {x(b)}, ShapeUtil::MakeShape(F32, {2})), "custom_call_target is empty");
  FAILS(CustomCall(b, "myfunc", {x(b)}, ShapeUtil::MakeShape(F32, {-2})), "has negative size");
  FAILS(CustomCallWithLayout(b, "myfunc", {y(b)}, ShapeUtil::MakeShape(F32, {2, 3}), {}),
        "shapes of operands");
}
