//===- seed_reduce.cpp - Reductions, windows, gather, scatter, sort -------===//
//
// Rows of the table of the specification's sections: see SeedTable.h.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"
#include <limits>

using namespace seed;

static const XlaComputation &add() {
  static const XlaComputation computation = Scalar2(F32, "add");
  return computation;
}
static const XlaComputation &addS32() {
  static const XlaComputation computation = Scalar2(S32, "add");
  return computation;
}

ROW(Reduce, "Reduce(operand, init_value, computation, dimensions_to_reduce)", "zh: Reduce",
    "en: Reduce", "old: Reduce", "tr: Azaltma", "tr: Örnekler") {
  auto zero = f32(0);
  auto v = f32({4}, {10, 11, 12, 13});
  RUNS(Reduce(v(b), zero(b), add(), {0}), f32(46));
  auto m = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Reduce(m(b), zero(b), add(), {0}), f32({3}, {5, 7, 9}));
  RUNS(Reduce(m(b), zero(b), add(), {1}), f32({2}, {6, 15}));
  // 1 to 6, four times in dimension 0.
  auto cube =
      f32({4, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  RUNS(Reduce(cube(b), zero(b), add(), {0}), f32({2, 3}, {4, 8, 12, 16, 20, 24}));
  RUNS(Reduce(cube(b), zero(b), add(), {2}), f32({4, 2}, {6, 15, 6, 15, 6, 15, 6, 15}));
  RUNS(Reduce(cube(b), zero(b), add(), {0, 1}), f32({3}, {20, 28, 36}));
  RUNS(Reduce(cube(b), zero(b), add(), {1, 0}), f32({3}, {20, 28, 36})); // unordered
  RUNS(Reduce(cube(b), zero(b), add(), {0, 1, 2}), f32(84));
  RUNS(ReduceAll(cube(b), zero(b), add()), f32(84));
  FAILS(Reduce(m(b), zero(b), add(), {2}), "dimensions holds");
  FAILS(Reduce(m(b), zero(b), add(), {-1}), "dimensions holds");
  FAILS(Reduce(m(b), zero(b), add(), {0, 0}), "dimensions holds");
  FAILS(Reduce(m(b), v(b), add(), {0}), "must be a scalar, is");
  auto i = s32(0);
  FAILS(Reduce(m(b), i(b), add(), {0}), "element types differ: input");
  FAILS(Reduce(m(b), zero(b), addS32(), {0}), "as parameter");
  FAILS(Reduce(m(b), zero(b), XlaComputation(), {0}), "computation");
}

// f(max, argmax, value, index), as in the documents.
static XlaComputation argMax() {
  XlaBuilder builder("argmax");
  const Shape f = ShapeUtil::MakeShape(F32, {}), i = ShapeUtil::MakeShape(S32, {});
  const XlaOp max = Parameter(&builder, 0, f, "max"), argmax = Parameter(&builder, 1, i, "argmax");
  const XlaOp value = Parameter(&builder, 2, f, "value");
  const XlaOp index = Parameter(&builder, 3, i, "index");
  const XlaOp isLarger = Ge(value, max);
  Tuple(&builder, {Select(isLarger, value, max), Select(isLarger, index, argmax)});
  return builder.Build().value();
}

ROW(VariadicReduce, "Reduce(operands, init_values, computation, dimensions_to_reduce)",
    "tr: Variadic Reduce") {
  auto v = f32({4}, {3, 9, 9, 1});
  auto lowest = f32(-std::numeric_limits<float>::infinity());
  auto zero = s32(0);
  const XlaComputation f = argMax();
  // Ge: of equal values the last one, or, as reductions may go in any order, another one.
  auto distinct = f32({4}, {3, 9, 8, 1});
  RUNS(Reduce(b, {distinct(b), Iota(b, S32, 4)}, {lowest(b), zero(b)}, f, {0}),
       tuple({f32(9), s32(1)}));
  RUNS(GetTupleElement(Reduce(b, {v(b), Iota(b, S32, 4)}, {lowest(b), zero(b)}, f, {0}), 0),
       f32(9));
  FAILS(Reduce(b, {v(b), Iota(b, S32, 4)}, {lowest(b)}, f, {0}), "initial values");
  FAILS(Reduce(b, {v(b), Iota(b, S32, 5)}, {lowest(b), zero(b)}, f, {0}), "sizes differ: operand");
  FAILS(Reduce(b, {v(b), Iota(b, S32, 4)}, {zero(b), zero(b)}, f, {0}),
        "element types differ: input");
  FAILS(Reduce(b, {v(b), Iota(b, S32, 4)}, {lowest(b), zero(b)}, add(), {0}), "parameters");
  FAILS(Reduce(b, {}, {}, f, {0}), "initial values");
}

ROW(ReduceWindow,
    "ReduceWindow(operands, init_values, computation, window_dimensions, window_strides, padding)",
    "zh: ReduceWindow", "en: ReduceWindow", "old: ReduceWindow", "tr: ReduceWindow",
    "tr: ReduceWindow - Example 1") {
  const XlaComputation max = Scalar2(F32, "maximum"), min = Scalar2(F32, "minimum");
  auto input = f32({4, 6}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                            13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24});
  RUNS(ReduceWindow(input(b), ConstantLiteral(b, LiteralUtil::MinValue(F32)), max, {2, 3}, {2, 3},
                    Padding::kValid),
       f32({2, 2}, {9, 12, 21, 24}));
  // As a member of the builder, the older documents' form.
  RUNS(b->ReduceWindow(input(b), b->ConstantLiteral(LiteralUtil::MinValue(F32)), max, {2, 3},
                       {2, 3}, Padding::kValid),
       f32({2, 2}, {9, 12, 21, 24}));
  auto powers = f32({5}, {10000, 1000, 100, 10, 1});
  RUNS(ReduceWindow(powers(b), ConstantLiteral(b, LiteralUtil::MaxValue(F32)), min, {3}, {2},
                    Padding::kValid),
       f32({2}, {100, 1}));
  RUNS(ReduceWindow(powers(b), ConstantLiteral(b, LiteralUtil::MaxValue(F32)), min, {3}, {2},
                    Padding::kSame),
       f32({3}, {1000, 10, 1}));
  auto zero = f32(0);
  RUNS(ReduceWindow(input(b), zero(b), add(), {4, 1}, {1, 1}, Padding::kValid),
       f32({1, 6}, {40, 44, 48, 52, 56, 60}));
  FAILS(ReduceWindow(input(b), zero(b), add(), {2}, {2}, Padding::kValid),
        "entries, the operand is");
  FAILS(ReduceWindow(input(b), zero(b), add(), {0, 3}, {2, 3}, Padding::kValid),
        "window_dimensions holds");
  FAILS(ReduceWindow(input(b), zero(b), add(), {2, 3}, {0, 3}, Padding::kValid),
        "window_strides holds");
  FAILS(ReduceWindow(input(b), input(b), add(), {2, 3}, {2, 3}, Padding::kValid),
        "must be a scalar of the type of input");
  FAILS(ReduceWindow(input(b), zero(b), addS32(), {2, 3}, {2, 3}, Padding::kValid), "as parameter");
  // Several arrays at once.
  const XlaComputation f = argMax();
  auto lowest = f32(-std::numeric_limits<float>::infinity());
  auto none = s32(-1);
  RUNS(ReduceWindow({powers(b), Iota(b, S32, 5)}, {lowest(b), none(b)}, f, {2}, {1},
                    Padding::kValid),
       tuple({f32({4}, {10000, 1000, 100, 10}), s32({4}, {0, 1, 2, 3})}));
  FAILS(ReduceWindow({powers(b), Iota(b, S32, 4)}, {lowest(b), none(b)}, f, {2}, {1},
                     Padding::kValid),
        "sizes differ: operand");
}

ROW(ReduceWindowDilated,
    "ReduceWindow(operand, init_value, computation, window_dimensions, window_strides, "
    "base_dilations, window_dilations, padding); ReduceWindowWithGeneralPadding",
    "tr: ReduceWindow - Example 2 - StableHLO") {
  auto x = s32({3, 2}, {1, 2, 3, 4, 5, 6});
  auto zero = s32(0);
  RUNS(ReduceWindowWithGeneralPadding(x(b), zero(b), addS32(), {2, 1}, {4, 1}, {2, 1}, {3, 1},
                                      {{2, 1}, {0, 0}}),
       s32({2, 2}, {0, 0, 3, 4}));
  RUNS(ReduceWindow(x(b), zero(b), addS32(), {2, 1}, {1, 1}, {2, 1}, {2, 1}, Padding::kValid),
       s32({3, 2}, {4, 6, 0, 0, 8, 10}));
  FAILS(ReduceWindowWithGeneralPadding(x(b), zero(b), addS32(), {2, 1}, {4, 1}, {0, 1}, {3, 1},
                                       {{2, 1}, {0, 0}}),
        "base dilation holds");
  FAILS(ReduceWindowWithGeneralPadding(x(b), zero(b), addS32(), {2, 1}, {4, 1}, {2, 1}, {3},
                                       {{2, 1}, {0, 0}}),
        "entries, the window has");
  FAILS(ReduceWindowWithGeneralPadding(x(b), zero(b), addS32(), {2, 1}, {4, 1}, {2, 1}, {3, 1},
                                       {{2, 1}}),
        "entries, the window has");
}

ROW(SelectAndScatter,
    "SelectAndScatter(operand, select, window_dimensions, window_strides, padding, source, "
    "init_value, scatter)",
    "zh: SelectAndScatter", "en: SelectAndScatter", "old: SelectAndScatter",
    "tr: SelectAndScatter") {
  const XlaComputation ge = Scalar2(F32, "ge");
  auto x = f32({4, 6}, {7, 2, 5, 3, 10, 2, 3, 8, 9, 3, 4, 2, 1, 5, 7, 5, 6, 1, 0, 6, 2, 7, 2, 8});
  auto source = f32({2, 2}, {2, 6, 3, 1});
  auto zero = f32(0);
  RUNS(SelectAndScatter(x(b), ge, {2, 3}, {2, 3}, Padding::kValid, source(b), zero(b), add()),
       f32({4, 6}, {0, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  // Overlapping windows: 9 is selected twice, 2 + 6.
  auto y = f32({1, 5}, {7, 2, 9, 3, 8});
  auto two = f32({1, 2}, {2, 6});
  RUNS(SelectAndScatter(y(b), ge, {1, 3}, {1, 2}, Padding::kValid, two(b), zero(b), add()),
       f32({1, 5}, {0, 0, 8, 0, 0}));
  FAILS(SelectAndScatter(x(b), ge, {2, 3}, {2, 3}, Padding::kValid, two(b), zero(b), add()),
        "the window's output over the operand is");
  FAILS(SelectAndScatter(x(b), ge, {2}, {2}, Padding::kValid, source(b), zero(b), add()),
        "entries, the operand is");
  FAILS(SelectAndScatter(x(b), add(), {2, 3}, {2, 3}, Padding::kValid, source(b), zero(b), add()),
        "expected pred");
  FAILS(SelectAndScatter(x(b), ge, {2, 3}, {2, 3}, Padding::kValid, source(b), zero(b), ge),
        "gives pred");
}

ROW(Map, "Map(builder, operands, computation, dimensions, static_operands)", "zh: 映射（Map）",
    "en: Map", "old: Map", "tr: Harita") {
  auto x = f32({2, 2}, {1, 2, 3, 4});
  auto y = f32({2, 2}, {10, 20, 30, 40});
  RUNS(Map(b, {x(b), y(b)}, add(), {0, 1}), f32({2, 2}, {11, 22, 33, 44}));
  auto seven = f32(7); // a static operand
  RUNS(Map(b, {x(b)}, add(), {0, 1}, {seven(b)}), f32({2, 2}, {8, 9, 10, 11}));
  const XlaComputation ge = Scalar2(F32, "ge"); // another type of result
  RUNS(Map(b, {x(b), x(b)}, ge, {0, 1}), pred({2, 2}, {1, 1, 1, 1}));
  FAILS(Map(b, {x(b), y(b)}, add(), {1, 0}),
        "dimensions must be all of the operand's in order, is");
  FAILS(Map(b, {x(b), y(b)}, add(), {0}), "dimensions must be all of the operand's in order, is");
  FAILS(Map(b, {x(b)}, add(), {0, 1}), "parameters");
  auto i = s32({2, 2}, {1, 2, 3, 4});
  FAILS(Map(b, {x(b), i(b)}, add(), {0, 1}), "as parameter");
  auto v = f32({2}, {1, 2});
  FAILS(Map(b, {x(b), v(b)}, add(), {0, 1}), "sizes differ: operand");
}

ROW(Scan, "Scan(inputs, inits, to_apply, scan_dimension, is_reverse, is_associative)",
    "tr: Dijital izler") {
  // f(x, c) -> (y, c') with y = c' = x + c.
  XlaBuilder step("step");
  const Shape f = ShapeUtil::MakeShape(F32, {});
  const XlaOp sum = Add(Parameter(&step, 0, f, "x"), Parameter(&step, 1, f, "c"));
  Tuple(&step, {sum, sum});
  const XlaComputation running = step.Build().value();
  auto x = f32({3}, {1, 2, 3});
  auto init = f32(10);
  RUNS(Scan({x(b)}, {init(b)}, running, 0), tuple({f32({3}, {11, 13, 16}), f32(16)}));
  RUNS(Scan({x(b)}, {init(b)}, running, 0, true), tuple({f32({3}, {16, 15, 13}), f32(16)}));
  RUNS(Scan({x(b)}, {init(b)}, running, 0, false, true), tuple({f32({3}, {11, 13, 16}), f32(16)}));
  FAILS(Scan({x(b)}, {init(b)}, running, 1), "dimensions holds");
  FAILS(Scan({x(b)}, {init(b)}, addS32(), 0), "as parameter");
  auto i = s32(0);
  FAILS(Scan({x(b)}, {i(b)}, running, 0), "as parameter");
}

ROW(Gather, "Gather(operand, start_indices, dimension_numbers, slice_sizes, indices_are_sorted)",
    "zh: 收集", "zh: 一般语义", "en: Gather", "en: General Semantics", "tr: Gather",
    "tr: Genel Semantik") {
  auto x = s32({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  GatherDimensionNumbers rows; // whole rows
  rows.add_offset_dims(1);
  rows.add_collapsed_slice_dims(0);
  rows.add_start_index_map(0);
  rows.set_index_vector_dim(1);
  auto at = s32({2}, {2, 0}); // index_vector_dim is the rank: as [2, 1]
  RUNS(Gather(x(b), at(b), rows, {1, 4}), s32({2, 4}, {20, 21, 22, 23, 0, 1, 2, 3}));
  auto sorted = s32({2}, {0, 2});
  RUNS(Gather(x(b), sorted(b), rows, {1, 4}, true), s32({2, 4}, {0, 1, 2, 3, 20, 21, 22, 23}));
  auto far = s32({2}, {7, -7}); // clamped
  RUNS(Gather(x(b), far(b), rows, {1, 4}), s32({2, 4}, {20, 21, 22, 23, 0, 1, 2, 3}));
  // The older documents' form: offset_dims, collapsed_slice_dims, slice_sizes, start_index_map.
  auto column = s32({2, 1}, {2, 0});
  RUNS(Gather(x(b), column(b), {1}, {0}, {1, 4}, {0}), s32({2, 4}, {20, 21, 22, 23, 0, 1, 2, 3}));
  FAILS(Gather(x(b), at(b), rows, {2, 4}),
        "where the result has no such dimension"); // a collapsed dimension has size 1
  FAILS(Gather(x(b), at(b), rows, {1, 5}), "the operand's size is");
  FAILS(Gather(x(b), at(b), rows, {1}), "entries, the operand's rank is");
  auto f = f32({2}, {2, 0});
  FAILS(Gather(x(b), f(b), rows, {1, 4}), "indices must be integers, are");
  GatherDimensionNumbers wrong = rows;
  wrong.set_index_vector_dim(2);
  FAILS(Gather(x(b), at(b), wrong, {1, 4}), "the indices' rank is");
  wrong = rows;
  wrong.set_offset_dims({1, 1});
  FAILS(Gather(x(b), at(b), wrong, {1, 4}), "offset_dims holds");
  wrong = rows;
  wrong.set_start_index_map({2});
  FAILS(Gather(x(b), at(b), wrong, {1, 4}), "start_index_map holds");
}

ROW(GatherExamples, "Gather(operand, start_indices, dimension_numbers, slice_sizes)",
    "zh: 非正式说明和实例", "en: Informal Description and Examples",
    "tr: Gayri Resmi Açıklama ve Örnekler") {
  // Element [i, j] of the [16, 11] operand is 11 i + j.
  auto x = s32({16, 11}, [](const Index &i) { return 11 * i[0] + i[1]; });
  GatherDimensionNumbers slices;
  slices.set_offset_dims({1, 2});
  slices.set_start_index_map({0, 1});
  slices.set_index_vector_dim(1);
  auto five = s32({5, 2}, {0, 0, 8, 5, 1, 2, 3, 4, 7, 1});
  RUNS(Gather(x(b), five(b), slices, {8, 6}), s32({5, 8, 6}, [](const Index &i) {
         const int starts[5][2] = {{0, 0}, {8, 5}, {1, 2}, {3, 4}, {7, 1}};
         return 11 * (starts[i[0]][0] + i[1]) + starts[i[0]][1] + i[2];
       }));
  // Indices [4, 5, 2]: two batch dimensions.
  GatherDimensionNumbers two;
  two.set_offset_dims({2, 3});
  two.set_start_index_map({0, 1});
  two.set_index_vector_dim(2);
  auto twenty = s32({4, 5, 2}, [](const Index &i) { return i[2] ? i[1] : 2 * i[0]; });
  RUNS(Gather(x(b), twenty(b), two, {8, 6}),
       s32({4, 5, 8, 6}, [](const Index &i) { return 11 * (2 * i[0] + i[2]) + i[1] + i[3]; }));
  // gather_nd: slices [1, 11], whose first dimension is collapsed.
  GatherDimensionNumbers nd;
  nd.set_offset_dims({2});
  nd.set_collapsed_slice_dims({0});
  nd.set_start_index_map({0});
  nd.set_index_vector_dim(2);
  auto picks = s32({4, 5, 1}, [](const Index &i) { return 3 * i[0] + i[1]; });
  RUNS(Gather(x(b), picks(b), nd, {1, 11}),
       s32({4, 5, 11}, [](const Index &i) { return 11 * (3 * i[0] + i[1]) + i[2]; }));
  FAILS(Gather(x(b), five(b), two, {8, 6}), "entries, an index vector has");
  FAILS(Gather(x(b), five(b), slices, {17, 6}), "the operand's size is");
}

ROW(Scatter,
    "Scatter(operands, scatter_indices, updates, update_computation, dimension_numbers, "
    "indices_are_sorted, unique_indices)",
    "zh: Scatter", "tr: Dağılım") {
  auto x = s32({3, 2}, {1, 2, 3, 4, 5, 6});
  ScatterDimensionNumbers rows;
  rows.set_update_window_dims({1});
  rows.set_inserted_window_dims({0});
  rows.set_scatter_dims_to_operand_dims({0});
  rows.set_index_vector_dim(1);
  auto at = s32({2}, {2, 0});
  auto updates = s32({2, 2}, {10, 20, 30, 40});
  RUNS(Scatter(x(b), at(b), updates(b), addS32(), rows), s32({3, 2}, {31, 42, 3, 4, 15, 26}));
  RUNS(Scatter(x(b), at(b), updates(b), addS32(), rows, false, true),
       s32({3, 2}, {31, 42, 3, 4, 15, 26}));
  // The same row twice; outside of the operand: skipped.
  auto same = s32({2}, {1, 1});
  RUNS(Scatter(x(b), same(b), updates(b), addS32(), rows), s32({3, 2}, {1, 2, 43, 64, 5, 6}));
  auto far = s32({2}, {3, -1});
  RUNS(Scatter(x(b), far(b), updates(b), addS32(), rows), s32({3, 2}, {1, 2, 3, 4, 5, 6}));
  // The current value is the first argument.
  const XlaComputation sub = Scalar2(S32, "subtract");
  RUNS(Scatter(x(b), at(b), updates(b), sub, rows), s32({3, 2}, {-29, -38, 3, 4, -5, -14}));
  // The older documents' form: index_vector_dim and the three lists.
  RUNS(Scatter(x(b), at(b), updates(b), addS32(), 1, {1}, {0}, {0}),
       s32({3, 2}, {31, 42, 3, 4, 15, 26}));
  // Several arrays at once.
  XlaBuilder both("both");
  const Shape i = ShapeUtil::MakeShape(S32, {}), f = ShapeUtil::MakeShape(F32, {});
  const XlaOp p0 = Parameter(&both, 0, i, "x"), p1 = Parameter(&both, 1, f, "y");
  const XlaOp p2 = Parameter(&both, 2, i, "u"), p3 = Parameter(&both, 3, f, "v");
  Tuple(&both, {Add(p0, p2), Mul(p1, p3)});
  const XlaComputation addAndMultiply = both.Build().value();
  auto y = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  auto factors = f32({2, 2}, {10, 20, 30, 40});
  RUNS(Scatter({x(b), y(b)}, at(b), {updates(b), factors(b)}, addAndMultiply, rows),
       tuple({s32({3, 2}, {31, 42, 3, 4, 15, 26}), f32({3, 2}, {30, 80, 3, 4, 50, 120})}));
  FAILS(Scatter(x(b), at(b), factors(b), addS32(), rows), "element types differ: operand");
  FAILS(Scatter(x(b), at(b), updates(b), add(), rows), "as parameter");
  auto three = s32({3, 2}, {1, 2, 3, 4, 5, 6});
  FAILS(Scatter(x(b), at(b), three(b), addS32(), rows), "of the update is");
  auto wide = s32({2, 3}, {1, 2, 3, 4, 5, 6});
  FAILS(Scatter(x(b), at(b), wide(b), addS32(), rows), "of the operand is");
  auto flat = s32({2}, {1, 2});
  FAILS(Scatter(x(b), at(b), flat(b), addS32(), rows), "its rank must be");
  ScatterDimensionNumbers wrong = rows;
  wrong.set_update_window_dims({2});
  FAILS(Scatter(x(b), at(b), updates(b), addS32(), wrong), "update_window_dims holds");
  wrong = rows;
  wrong.set_inserted_window_dims({2});
  FAILS(Scatter(x(b), at(b), updates(b), addS32(), wrong), "inserted_window_dims holds");
  wrong = rows;
  wrong.set_scatter_dims_to_operand_dims({0, 1});
  FAILS(Scatter(x(b), at(b), updates(b), addS32(), wrong), "scatter_dims_to_operand_dims has");
  wrong = rows;
  wrong.set_index_vector_dim(2);
  FAILS(Scatter(x(b), at(b), updates(b), addS32(), wrong), "the indices' rank is");
}

ROW(ScatterBatched,
    "Scatter(operand, scatter_indices, updates, update_computation, "
    "dimension_numbers)",
    "tr: Scatter - Example 1 - StableHLO") {
  // The figure's shapes: [2, 3, 4, 2], [2, 2, 3, 2], [2, 2, 3, 1, 2]. Dimension 0 of the operand is
  // dimension 1 of the indices; index vectors give dimensions 2 and 1 of the operand.
  auto x = s32({2, 3, 4, 2}, [](const Index &) { return 0; });
  auto at =
      s32({2, 2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0});
  auto ones = s32({2, 2, 3, 1, 2}, [](const Index &) { return 1; });
  ScatterDimensionNumbers numbers;
  numbers.set_update_window_dims({3, 4});
  numbers.set_inserted_window_dims({1});
  numbers.set_input_batching_dims({0});
  numbers.set_scatter_indices_batching_dims({1});
  numbers.set_scatter_dims_to_operand_dims({2, 1});
  numbers.set_index_vector_dim(3);
  RUNS(Scatter(x(b), at(b), ones(b), addS32(), numbers), s32({2, 3, 4, 2}, [](const Index &o) {
         const int starts[2][2][3][2] = {{{{0, 0}, {1, 0}, {2, 1}}, {{0, 1}, {1, 1}, {0, 9}}},
                                         {{{0, 0}, {2, 1}, {2, 2}}, {{1, 2}, {0, 1}, {1, 0}}}};
         int count = 0; // of updates of this element; {0, 9} is outside
         for (int i = 0; i < 2; ++i) {
           for (int k = 0; k < 3; ++k) {
             const int *s = starts[i][o[0]][k];
             count += s[1] == o[1] && s[0] == o[2];
           }
         }
         return count;
       }));
  ScatterDimensionNumbers wrong = numbers;
  wrong.set_scatter_indices_batching_dims({2}); // sizes 2 and 3
  FAILS(Scatter(x(b), at(b), ones(b), addS32(), wrong), "batch sizes differ: operand dim");
}

ROW(Sort, "Sort(operands, comparator, dimension, is_stable); Sort(operand); Sort(keys, values)",
    "zh: Sort", "en: Sort", "old: Sort", "tr: Sırala") {
  const XlaComputation lt = Scalar2(F32, "lt");
  auto v = f32({4}, {3, 1, 4, 1.5});
  RUNS(Sort({v(b)}, lt), f32({4}, {1, 1.5, 3, 4}));
  RUNS(Sort(v(b)), f32({4}, {1, 1.5, 3, 4}));
  auto m = s32({2, 3}, {3, 1, 2, 1, 5, 0});
  RUNS(Sort(m(b), 0), s32({2, 3}, {1, 1, 0, 3, 5, 2}));
  RUNS(Sort(m(b), 1), s32({2, 3}, {1, 2, 3, 0, 1, 5}));
  RUNS(Sort(m(b)), s32({2, 3}, {1, 2, 3, 0, 1, 5})); // the last dimension
  auto keys = s32({2}, {3, 1});
  auto values = s32({2}, {42, 50});
  RUNS(Sort(keys(b), values(b), 0), tuple({s32({2}, {1, 3}), s32({2}, {50, 42})}));
  // Three operands, of which the comparator looks at the first one.
  XlaBuilder compare("compare");
  const Shape i = ShapeUtil::MakeShape(S32, {}), f = ShapeUtil::MakeShape(F32, {});
  const XlaOp p0 = Parameter(&compare, 0, i, "a0"), p1 = Parameter(&compare, 1, i, "b0");
  for (int k = 2; k < 6; ++k) {
    Parameter(&compare, k, k < 4 ? i : f, "p");
  }
  const XlaComputation first = compare.Build(Lt(p0, p1)).value();
  auto floats = f32({2}, {-3, 1.1f});
  RUNS(Sort({keys(b), values(b), floats(b)}, first, 0),
       tuple({s32({2}, {1, 3}), s32({2}, {50, 42}), f32({2}, {1.1f, -3})}));
  // Stable: equal keys keep their order.
  XlaBuilder compare2("compare2");
  const XlaOp q0 = Parameter(&compare2, 0, i, "a0"), q1 = Parameter(&compare2, 1, i, "b0");
  Parameter(&compare2, 2, i, "a1");
  Parameter(&compare2, 3, i, "b1");
  const XlaComputation byKey = compare2.Build(Lt(q0, q1)).value();
  auto equal = s32({4}, {1, 0, 1, 0});
  RUNS(Sort({equal(b), Iota(b, S32, 4)}, byKey, 0, true),
       tuple({s32({4}, {0, 0, 1, 1}), s32({4}, {1, 3, 0, 2})}));
  FAILS(Sort({v(b)}, lt, 1), "dimension is");
  FAILS(Sort({v(b)}, lt, -2), "dimension is");
  FAILS(Sort({v(b)}, add()), "expected pred");
  FAILS(Sort({keys(b)}, lt), "as parameter");
  FAILS(Sort({keys(b), m(b)}, byKey, 0), "sizes differ: operand");
  FAILS(Sort(keys(b), v(b), 0), "sizes differ: operand");
}

ROW(TopK, "TopK(operand, k, largest)", "tr: TopK") {
  auto v = f32({5}, {3, 9, 1, 9, 4});
  RUNS(TopK(v(b), 3, true), tuple({f32({3}, {9, 9, 4}), s32({3}, {1, 3, 4})}));
  RUNS(TopK(v(b), 2, false), tuple({f32({2}, {1, 3}), s32({2}, {2, 0})}));
  auto m = s32({2, 3}, {1, 2, 3, 6, 5, 4});
  RUNS(TopK(m(b), 2, true), tuple({s32({2, 2}, {3, 2, 6, 5}), s32({2, 2}, {2, 1, 0, 1})}));
  FAILS(TopK(v(b), 6, true), "the last dimension has");
  FAILS(TopK(v(b), -1, true), "the last dimension has");
  auto scalar = f32(1);
  FAILS(TopK(scalar(b), 1, true), "the operand must have a dimension, is");
}
