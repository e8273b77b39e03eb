//===- seed_shape.cpp - Moving data, constants, parameters, tuples --------===//
//
// Rows of the table of the specification's sections: see SeedTable.h.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"

using namespace seed;

ROW(Broadcast, "Broadcast(operand, broadcast_sizes)", "zh: 广播（Broadcast）", "en: Broadcast",
    "old: Broadcast", "tr: Yayın") {
  auto two = f32(2);
  RUNS(Broadcast(two(b), {2, 3}), f32({2, 3}, {2, 2, 2, 2, 2, 2}));
  auto x = s32({2}, {1, 2});
  RUNS(Broadcast(x(b), {3}), s32({3, 2}, {1, 2, 1, 2, 1, 2}));
  FAILS(Broadcast(x(b), {-1}), "is negative");
}

ROW(BroadcastInDim, "BroadcastInDim(operand, out_dim_size, broadcast_dimensions)",
    "tr: BroadcastInDim") {
  auto x = s32({2}, {1, 2});
  RUNS(BroadcastInDim(x(b), {2, 3}, {0}), s32({2, 3}, {1, 1, 1, 2, 2, 2}));
  RUNS(BroadcastInDim(x(b), {3, 2}, {1}), s32({3, 2}, {1, 2, 1, 2, 1, 2}));
  auto row = s32({1, 3}, {1, 2, 3}); // a dimension of 1 is extended
  RUNS(BroadcastInDim(row(b), {2, 3}, {0, 1}), s32({2, 3}, {1, 2, 3, 1, 2, 3}));
  FAILS(BroadcastInDim(x(b), {3, 3}, {0}), "its size must be equal or");
  FAILS(BroadcastInDim(x(b), {2, 3}, {2}), "must be different dimensions of");
  FAILS(BroadcastInDim(x(b), {2, 3}, {0, 1}), "entries, the operand is");
  FAILS(BroadcastInDim(row(b), {2, 3}, {1, 1}), "must be different dimensions of");
  FAILS(BroadcastInDim(x(b), {2, -3}, {0}), "is negative");
}

static Values v423() {
  return f32({4, 2, 3}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                         30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47});
}

ROW(Collapse, "Collapse(operand, dimensions)", "zh: 折叠（Collapse）", "en: Collapse",
    "old: Collapse", "tr: Daralt") {
  auto v = v423();
  RUNS(Collapse(v(b), {0, 1, 2}), f32({24}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                             30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  RUNS(Collapse(v(b), {0, 1}), f32({8, 3}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                            30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  RUNS(Collapse(v(b), {1, 2}), f32({4, 6}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                            30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  FAILS(Collapse(v(b), {1, 0}), "must be consecutive dimensions of");
  FAILS(Collapse(v(b), {0, 2}), "must be consecutive dimensions of");
  FAILS(Collapse(v(b), {2, 3}), "must be consecutive dimensions of");
}

ROW(ConcatInDim, "ConcatInDim(builder, operands, dimension)", "zh: 串连（Concatenate）",
    "en: Concatenate", "old: Concatenate", "tr: ConcatInDim (Birleştir)") {
  auto p = s32({2}, {2, 3});
  auto q = s32({2}, {4, 5});
  auto r = s32({2}, {6, 7});
  RUNS(ConcatInDim(b, {p(b), q(b), r(b)}, 0), s32({6}, {2, 3, 4, 5, 6, 7}));
  auto x = s32({3, 2}, {1, 2, 3, 4, 5, 6});
  auto y = s32({1, 2}, {7, 8});
  RUNS(ConcatInDim(b, {x(b), y(b)}, 0), s32({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  FAILS(ConcatInDim(b, {x(b), y(b)}, 1), "differ: operand"); // ragged
  FAILS(ConcatInDim(b, {x(b), y(b)}, 2), "dimensions holds");
  FAILS(ConcatInDim(b, {x(b), y(b)}, -1), "dimensions holds");
  FAILS(ConcatInDim(b, {x(b), p(b)}, 0), "ranks differ: operand");
  FAILS(ConcatInDim(b, {}, 0), "concatenate takes at least");
  auto scalar = s32(1);
  FAILS(ConcatInDim(b, {scalar(b), scalar(b)}, 0), "dimensions holds");
  auto f = f32({1, 2}, {7, 8});
  FAILS(ConcatInDim(b, {x(b), f(b)}, 0), "element types differ: operand");
}

ROW(ConstantLiteral, "ConstantLiteral(builder, literal); Constant(builder, literal)", "tr: Sabit") {
  RUNS(Constant(b, LiteralUtil::CreateR0<float>(2)), f32(2));
  RUNS(ConstantLiteral(b, LiteralUtil::CreateR1<float>({1, 2.5, -3})), f32({3}, {1, 2.5, -3}));
  RUNS(ConstantR0<std::int32_t>(b, 7), s32(7));
  RUNS(ConstantR1<float>(b, {1, 2}), f32({2}, {1, 2}));
  RUNS(ConstantR2<float>(b, {{1, 2}, {3, 4}}), f32({2, 2}, {1, 2, 3, 4}));
  RUNS(ConstantLiteral(b, LiteralUtil::Zero(S4)), int4(0));
  RUNS(ConstantLiteral(b, LiteralUtil::CreateR1<bfloat16>({bfloat16(1.5f)})), bf16({1}, {1.5}));
  FAILS(ConstantLiteral(b, Literal(ShapeUtil::MakeTokenShape())),
        "there are no constants of shape token");
}

ROW(DynamicReshape, "DynamicReshape(operand, dim_sizes, new_size_bounds, dims_are_dynamic)",
    "tr: DynamicReshape") {
  auto x = s32({6}, {1, 2, 3, 4, 5, 6});
  auto two = s32(2);
  auto three = s32(3);
  RUNS(DynamicReshape(x(b), {two(b), three(b)}, {2, 3}, {false, false}),
       s32({2, 3}, {1, 2, 3, 4, 5, 6}));
  COMPILES(DynamicReshape(SetDimensionSize(x(b), two(b), 0), {two(b)}, {6}, {true}),
           "dynamic-reshape(");
  FAILS(DynamicReshape(x(b), {two(b)}, {2, 3}, {false, false}), "entries, new_size_bounds");
  FAILS(DynamicReshape(x(b), {two(b), three(b)}, {2, 3}, {false}), "entries, new_size_bounds");
  FAILS(DynamicReshape(x(b), {two(b), three(b)}, {2, 4}, {false, false}),
        "element counts differ: operand");
  auto f = f32(3);
  FAILS(DynamicReshape(x(b), {two(b), f(b)}, {2, 3}, {false, false}),
        "must be an integer scalar, is");
}

ROW(DynamicSlice, "DynamicSlice(operand, start_indices, slice_sizes)", "zh: DynamicSlice",
    "en: DynamicSlice", "old: DynamicSlice", "tr: DynamicSlice") {
  auto a = f32({5}, {0, 1, 2, 3, 4});
  auto two = s32(2);
  RUNS(DynamicSlice(a(b), {two(b)}, {2}), f32({2}, {2, 3}));
  auto m = f32({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  auto one = s32(1);
  RUNS(DynamicSlice(m(b), {two(b), one(b)}, {2, 2}), f32({2, 2}, {7, 8, 10, 11}));
  auto s = s32({2}, {2, 1}); // the older form: one array of all indices
  RUNS(DynamicSlice(m(b), s(b), {2, 2}), f32({2, 2}, {7, 8, 10, 11}));
  auto far = s32(9); // clamped
  auto before = s32(-9);
  RUNS(DynamicSlice(a(b), {far(b)}, {2}), f32({2}, {3, 4}));
  RUNS(DynamicSlice(a(b), {before(b)}, {2}), f32({2}, {0, 1}));
  FAILS(DynamicSlice(a(b), {two(b)}, {6}), "the operand's size is");
  FAILS(DynamicSlice(a(b), {two(b)}, {-1}), "the operand's size is");
  FAILS(DynamicSlice(m(b), {two(b)}, {2, 2}), "dynamic-slice of rank");
  FAILS(DynamicSlice(m(b), {two(b), one(b)}, {2}), "entries, the operand's rank is");
  auto f = f32(1);
  FAILS(DynamicSlice(a(b), {f(b)}, {2}), "must be an integer scalar, is");
  FAILS(DynamicSlice(a(b), s(b), {2}), "the index vector is");
}

ROW(DynamicUpdateSlice, "DynamicUpdateSlice(operand, update, start_indices)",
    "zh: DynamicUpdateSlice", "en: DynamicUpdateSlice", "old: DynamicUpdateSlice",
    "tr: DynamicUpdateSlice") {
  auto a = f32({5}, {0, 1, 2, 3, 4});
  auto u = f32({2}, {5, 6});
  auto two = s32(2);
  RUNS(DynamicUpdateSlice(a(b), u(b), {two(b)}), f32({5}, {0, 1, 5, 6, 4}));
  auto m = f32({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  auto w = f32({3, 2}, {12, 13, 14, 15, 16, 17});
  auto one = s32(1);
  RUNS(DynamicUpdateSlice(m(b), w(b), {one(b), one(b)}),
       f32({4, 3}, {0, 1, 2, 3, 12, 13, 6, 14, 15, 9, 16, 17}));
  auto s = s32({2}, {1, 1});
  RUNS(DynamicUpdateSlice(m(b), w(b), s(b)),
       f32({4, 3}, {0, 1, 2, 3, 12, 13, 6, 14, 15, 9, 16, 17}));
  auto far = s32(9); // clamped
  RUNS(DynamicUpdateSlice(a(b), u(b), {far(b)}), f32({5}, {0, 1, 2, 5, 6}));
  auto large = f32({6}, {0, 0, 0, 0, 0, 0});
  FAILS(DynamicUpdateSlice(a(b), large(b), {two(b)}), "of the update is");
  FAILS(DynamicUpdateSlice(m(b), u(b), {one(b), one(b)}), "ranks differ: operand is");
  FAILS(DynamicUpdateSlice(m(b), w(b), {one(b)}), "dynamic-update-slice of rank");
  auto i = s32({2}, {5, 6});
  FAILS(DynamicUpdateSlice(a(b), i(b), {two(b)}), "element types differ: operand is");
}

ROW(GetDimensionSize, "GetDimensionSize(operand, dimension)", "tr: GetDimensionSize") {
  auto x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(GetDimensionSize(x(b), 1), s32(3));
  auto one = s32(1);
  RUNS(GetDimensionSize(SetDimensionSize(x(b), one(b), 1), 1), s32(1));
  FAILS(GetDimensionSize(x(b), 2), "dimensions holds");
  FAILS(GetDimensionSize(x(b), -1), "dimensions holds");
  FAILS(GetDimensionSize(Tuple(b, {x(b)}), 0), "must be an array, is");
}

ROW(SetDimensionSize, "SetDimensionSize(operand, val, dimension)", "tr: SetDimensionSize") {
  auto v = f32({10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  auto five = s32(5);
  auto six = s32(6);
  auto zero = f32(0);
  auto one = f32(1);
  const XlaComputation add = Scalar2(F32, "add"), mul = Scalar2(F32, "multiply");
  RUNS(Reduce(SetDimensionSize(v(b), five(b), 0), zero(b), add, {0}), f32(15));
  RUNS(Reduce(SetDimensionSize(v(b), five(b), 0), one(b), mul, {0}), f32(120));
  RUNS(Reduce(SetDimensionSize(v(b), six(b), 0), zero(b), add, {0}), f32(21));
  FAILS(SetDimensionSize(v(b), five(b), 1), "dimensions holds");
  FAILS(SetDimensionSize(v(b), five(b), -1), "dimensions holds");
  FAILS(SetDimensionSize(v(b), zero(b), 0), "the size must be");
  auto sizes = s32({1}, {5});
  FAILS(SetDimensionSize(v(b), sizes(b), 0), "the size must be");
}

ROW(Iota, "Iota(builder, shape, iota_dimension); Iota(builder, type, size)", "zh: Iota",
    "tr: Iota") {
  RUNS(Iota(b, ShapeUtil::MakeShape(S32, {4, 8}), 0),
       s32({4, 8}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                    2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3}));
  RUNS(Iota(b, ShapeUtil::MakeShape(S32, {4, 8}), 1),
       s32({4, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
                    0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}));
  RUNS(Iota(b, ShapeUtil::MakeShape(F32, {3}), 0), f32({3}, {0, 1, 2}));
  RUNS(Iota(b, U8, 4), u8({4}, {0, 1, 2, 3}));
  FAILS(Iota(b, ShapeUtil::MakeShape(S32, {4, 8}), 2), "iota_dimension holds");
  FAILS(Iota(b, ShapeUtil::MakeShape(S32, {4, 8}), -1), "iota_dimension holds");
  FAILS(Iota(b, ShapeUtil::MakeShape(S32, {}), 0), "iota_dimension holds");
  FAILS(Iota(b, U8, -4), "has negative size");
}

ROW(Pad, "Pad(operand, padding_value, padding_config)", "zh: 填充（Pad）", "en: Pad", "old: Pad",
    "tr: Ped") {
  auto x = s32({3}, {1, 2, 3});
  auto zero = s32(0);
  RUNS(Pad(x(b), zero(b), Config({{1, 2, 0}})), s32({6}, {0, 1, 2, 3, 0, 0}));
  RUNS(Pad(x(b), zero(b), Config({{0, 0, 2}})), s32({7}, {1, 0, 0, 2, 0, 0, 3}));
  // Negative: elements of what interior padding makes are removed.
  RUNS(Pad(x(b), zero(b), Config({{-1, 1, 1}})), s32({5}, {0, 2, 0, 3, 0}));
  RUNS(Pad(x(b), zero(b), Config({{0, 0, 0}})), s32({3}, {1, 2, 3}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  RUNS(Pad(m(b), zero(b), Config({{0, 1, 0}, {1, 0, 1}})),
       s32({3, 4}, {0, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 0}));
  RUNS(PadInDim(m(b), zero(b), 1, 1, 0), s32({2, 3}, {0, 1, 2, 0, 3, 4}));
  FAILS(Pad(x(b), zero(b), Config({{0, 0, -1}})), "interior_padding of dimension");
  FAILS(Pad(x(b), zero(b), Config({{-2, -2, 0}})), "the padded size of dim");
  FAILS(Pad(x(b), zero(b), Config({{0, 0, 0}, {0, 0, 0}})), "dimensions, the operand is");
  auto f = f32(0);
  FAILS(Pad(x(b), f(b), Config({{1, 1, 0}})), "element types differ: operand is");
  FAILS(Pad(x(b), x(b), Config({{1, 1, 0}})), "the padding value must be a scalar, is");
}

ROW(Parameter, "Parameter(builder, parameter_number, shape, name)", "tr: Parametre") {
  auto x = f32({2}, {1, 2});
  RUNS(x(b), f32({2}, {1, 2}));
  FAILS(Parameter(b, -1, ShapeUtil::MakeShape(F32, {2}), "p"), "parameter number");
  FAILS(Parameter(b, 1, ShapeUtil::MakeShape(F32, {2}), "p"),
        "but there is no parameter"); // 0 is missing
  FAILS(Add(x(b), Parameter(b, 0, ShapeUtil::MakeShape(F32, {2}), "p")),
        "is defined twice"); // used twice
  FAILS(Parameter(b, 0, ShapeUtil::MakeShape(F32, {-2}), "p"), "is negative");
}

ROW(Reshape, "Reshape(operand, dimensions); Reshape(operand, dimensions, new_sizes)", "zh: Reshape",
    "en: Reshape", "old: Reshape", "tr: Yeniden şekillendirme") {
  auto v = v423();
  RUNS(Reshape(v(b), {24}), f32({24}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                       30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  RUNS(Reshape(v(b), {8, 3}), f32({8, 3}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                           30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  // The older form, which collapses the dimensions in any order.
  RUNS(Reshape(v(b), {0, 1, 2}, {24}), f32({24}, {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27,
                                                  30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}));
  RUNS(Reshape(v(b), {1, 2, 0}, {24}), f32({24}, {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42,
                                                  15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}));
  RUNS(Reshape(v(b), {1, 2, 0}, {8, 3}),
       f32({8, 3}, {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42,
                    15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}));
  RUNS(Reshape(v(b), {1, 2, 0}, {2, 6, 2}),
       f32({2, 6, 2}, {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42,
                       15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}));
  auto one = f32({1, 1}, {5});
  RUNS(Reshape(one(b), {}), f32(5));
  RUNS(Reshape(one(b), {0, 1}, {}), f32(5));
  auto five = f32(5);
  RUNS(Reshape(five(b), {1, 1}), f32({1, 1}, {5}));
  RUNS(Reshape(five(b), {}, {1, 1}), f32({1, 1}, {5}));
  FAILS(Reshape(v(b), {5, 5}), "elements to");
  FAILS(Reshape(v(b), {-8, -3}), "is negative");
  FAILS(Reshape(v(b), {0, 1}, {24}), "entries, the operand's rank is");
  FAILS(Reshape(v(b), {0, 1, 1}, {24}), "dimensions holds");
  FAILS(Reshape(v(b), {0, 1, 3}, {24}), "dimensions holds");
  FAILS(Reshape(Tuple(b, {v(b)}), {24}), "must be an array, is");
}

ROW(ReshapeExplicit, "Reshape(shape, operand)", "tr: Yeniden şekillendirme (açık)") {
  auto x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Reshape(ShapeUtil::MakeShape(F32, {3, 2}), x(b)), f32({3, 2}, {1, 2, 3, 4, 5, 6}));
  FAILS(Reshape(ShapeUtil::MakeShape(F32, {4, 2}), x(b)), "elements to");
  FAILS(Reshape(ShapeUtil::MakeShape(S32, {3, 2}), x(b)), "element types differ: the operand is");
}

ROW(Rev, "Rev(operand, dimensions)", "zh: Rev（反转）", "en: Rev (reverse)", "old: Rev (reverse)",
    "tr: Rev (ters)") {
  auto x = s32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Rev(x(b), {0}), s32({2, 3}, {4, 5, 6, 1, 2, 3}));
  RUNS(Rev(x(b), {1}), s32({2, 3}, {3, 2, 1, 6, 5, 4}));
  RUNS(Rev(x(b), {0, 1}), s32({2, 3}, {6, 5, 4, 3, 2, 1}));
  FAILS(Rev(x(b), {2}), "dimensions holds");
  FAILS(Rev(x(b), {-1}), "dimensions holds");
  FAILS(Rev(x(b), {0, 0}), "dimensions holds");
}

ROW(Slice, "Slice(operand, start_indices, limit_indices, strides)", "zh: Slice", "en: Slice",
    "old: Slice", "tr: Dilim") {
  auto a = f32({5}, {0, 1, 2, 3, 4});
  RUNS(Slice(a(b), {2}, {4}, {1}), f32({2}, {2, 3}));
  RUNS(Slice(a(b), {2}, {4}), f32({2}, {2, 3}));
  auto m = f32({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  RUNS(Slice(m(b), {2, 1}, {4, 3}, {1, 1}), f32({2, 2}, {7, 8, 10, 11}));
  RUNS(Slice(a(b), {0}, {5}, {2}), f32({3}, {0, 2, 4}));
  RUNS(SliceInDim(m(b), 1, 4, 2, 0), f32({2, 3}, {3, 4, 5, 9, 10, 11}));
  RUNS(Slice(a(b), {2}, {2}, {1}), f32({0}, {}));
  FAILS(Slice(a(b), {-1}, {4}, {1}), "range of dimension");
  FAILS(Slice(a(b), {2}, {6}, {1}), "range of dim");
  FAILS(Slice(a(b), {3}, {2}, {1}), "range of dimension");
  FAILS(Slice(a(b), {0}, {4}, {0}), "range of dimension");
  FAILS(Slice(a(b), {0, 0}, {4, 1}, {1, 1}), "ranges, the operand's rank is");
  FAILS(Slice(m(b), {0, 0}, {4}, {1, 1}), "entries, limit_indices");
  FAILS(SliceInDim(m(b), 0, 1, 1, 2), "is not one of");
}

ROW(Transpose, "Transpose(operand, permutation)", "zh: Transpose", "en: Transpose",
    "old: Transpose", "tr: Transpoze") {
  auto x = s32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Transpose(x(b), {1, 0}), s32({3, 2}, {1, 4, 2, 5, 3, 6}));
  // Dimension i of the result is dimension permutation[i] of the operand.
  auto v = v423();
  RUNS(Transpose(v(b), {1, 2, 0}),
       f32({2, 3, 4}, {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42,
                       15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}));
  FAILS(Transpose(x(b), {0, 0}), "dimensions holds");
  FAILS(Transpose(x(b), {0, 2}), "dimensions holds");
  FAILS(Transpose(x(b), {0}), "entries, the operand's rank is");
}

ROW(Tuple, "Tuple(builder, elements)", "zh: Tuple", "en: Tuple", "old: Tuple", "tr: Unsur") {
  auto v = f32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto s = s32(5);
  RUNS(Tuple(b, {v(b), s(b)}), tuple({f32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), s32(5)}));
  RUNS(Tuple(b, {s(b), Tuple(b, {s(b)})}), tuple({s32(5), tuple({s32(5)})}));
  RUNS(Tuple(b, {}), tuple({}));
  XlaBuilder other("other");
  const XlaOp foreign = Parameter(&other, 0, ShapeUtil::MakeShape(S32, {}), "p");
  FAILS(Tuple(b, {s(b), foreign}), "is a value of the builder"); // of another builder
  FAILS(Tuple(b, {s(b), XlaOp()}), "is not a value");
}

ROW(GetTupleElement, "GetTupleElement(tuple_data, index)", "zh: GetTupleElement",
    "en: GetTupleElement", "old: GetTupleElement", "tr: GetTupleElement") {
  auto v = f32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto s = s32(5);
  RUNS(GetTupleElement(Tuple(b, {v(b), s(b)}), 1), s32(5));
  FAILS(GetTupleElement(Tuple(b, {v(b), s(b)}), 2), "the tuple has");
  FAILS(GetTupleElement(Tuple(b, {v(b), s(b)}), -1), "the tuple has");
  FAILS(GetTupleElement(v(b), 0), "the operand must be a tuple, is");
}

ROW(OptimizationBarrier, "OptimizationBarrier(operand)", "tr: OptimizationBarrier") {
  auto x = f32({2}, {1, 2});
  RUNS(OptimizationBarrier(x(b)), f32({2}, {1, 2}));
  RUNS(OptimizationBarrier(Tuple(b, {x(b), x(b)})), tuple({f32({2}, {1, 2}), f32({2}, {1, 2})}));
  FAILS(OptimizationBarrier(XlaOp()), "Build: the root is not a value of the builder");
}

// Of no use to programs, the documents say; they appear in dumps.
ROW(Copy, "Copy(operand)", "tr: Kopyala") {
  auto x = f32({2}, {1, 2});
  RUNS(Copy(x(b)), f32({2}, {1, 2}));
  RUNS(CopyDone(CopyStart(x(b))), f32({2}, {1, 2}));
  FAILS(CopyDone(x(b)), "the operand must be");
}

ROW(Bitcast, "Bitcast(operand, shape)", "tr: Bitcast") {
  auto x = f32({2, 2}, {1, 2, 3, 4});
  RUNS(Bitcast(x(b), ShapeUtil::MakeShape(F32, {4})), f32({4}, {1, 2, 3, 4}));
  FAILS(Bitcast(x(b), ShapeUtil::MakeShape(F32, {5})), "sizes in bytes differ: the operand has");
}

ROW(AddDependency, "AddDependency(operand, token)", "tr: AddDependency") {
  auto x = f32({2}, {1, 2});
  RUNS(AddDependency(x(b), CreateToken(b)), f32({2}, {1, 2}));
  FAILS(AddDependency(x(b), x(b)), "must be token");
}

ROW(AfterAll, "AfterAll(builder, tokens)", "tr: AfterAll") {
  auto x = f32({2}, {1, 2});
  RUNS(AddDependency(x(b), AfterAll(b, {CreateToken(b), CreateToken(b)})), f32({2}, {1, 2}));
  FAILS(AfterAll(b, {x(b)}), "must be token");
}

ROW(Domain, "Domain(operand, kind, entry, exit)", "tr: Alan") {
  auto x = f32({2}, {1, 2});
  RUNS(Domain(x(b), "sharding", "{maximal device=0}", "{maximal device=1}"), f32({2}, {1, 2}));
  FAILS(Domain(x(b), "sharding", "{nothing", "{replicated}"),
        "expected an item of a sharding, got");
}
