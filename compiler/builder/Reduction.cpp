//===- Reduction.cpp - Reductions, windows, scatter, sorting --------------===//
#include "compiler/builder/Window.h"

namespace hlo {

using detail::Instruction;
using detail::Ops;
using detail::Window;

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

XlaOp Reduce(XlaBuilder *builder, absl::Span<const XlaOp> operands,
             absl::Span<const XlaOp> init_values, const XlaComputation &computation,
             absl::Span<const std::int64_t> dimensions_to_reduce, SourceLocation at) {
  Instruction inst("reduce", operands, at, builder);
  if (operands.empty() || operands.size() != init_values.size()) {
    return inst.fail("has ", operands.size(), " operands and ", init_values.size(),
                     " initial values");
  }
  return inst.operands(init_values)
      .numbers("dimensions", dimensions_to_reduce)
      .computation("to_apply", computation)
      .add();
}

XlaOp Reduce(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputation &computation, absl::Span<const std::int64_t> dimensions_to_reduce,
             SourceLocation at) {
  return Reduce(nullptr, operands, init_values, computation, dimensions_to_reduce, at);
}

XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
             absl::Span<const std::int64_t> dimensions_to_reduce, SourceLocation at) {
  return Reduce(nullptr, {operand}, {init_value}, computation, dimensions_to_reduce, at);
}

XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                SourceLocation at) {
  Instruction inst("reduce", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  std::vector<std::int64_t> all = LayoutUtil::MakeAscendingLayout(from->rank()).minor_to_major();
  return Reduce(operand, init_value, computation, all, at);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Fills in a window over all dimensions of operand 0; false after an error.
static bool makeWindow(Instruction &inst, detail::Numbers size, detail::Numbers strides,
                       Window &window) {
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    inst.add();
    return false;
  }
  if (static_cast<std::int64_t>(size.size()) != from->rank()) {
    inst.fail("window_dimensions has ", size.size(), " entries, the operand is ", from->ToString());
    return false;
  }
  window.size.assign(size.begin(), size.end());
  window.strides.assign(strides.begin(), strides.end());
  return true;
}

/// Adds the attribute of a complete window; false after an error.
static bool addWindow(Instruction &inst, const Window &window) {
  if (std::string wrong = window.check(); !wrong.empty()) {
    inst.fail(wrong);
    return false;
  }
  if (std::string text = window.text(); !text.empty()) {
    inst.attribute("window", text);
  }
  return true;
}

static XlaOp invalid(const Instruction &inst) {
  return inst.builder ? inst.builder->ReportError(absl::OkStatus(), inst.at) : XlaOp();
}

/// Gives the window its padding, which is that of `kind` if `padding` is null, and the instruction
/// the window. False after an error.
static bool padAndAddWindow(Instruction &inst, Window &window, const detail::Pairs *padding,
                            Padding kind, size_t rank) {
  if (padding) {
    window.padding.assign(padding->begin(), padding->end());
  } else {
    window.padding.resize(rank);
    if (window.check().empty()) {
      window.pad(inst.arrayOf(0)->dimensions(), kind);
    }
  }
  return addWindow(inst, window);
}

static XlaOp reduceWindow(Ops operands, Ops initValues, const XlaComputation &computation,
                          detail::Numbers size, detail::Numbers strides,
                          detail::Numbers baseDilations, detail::Numbers windowDilations,
                          const detail::Pairs *padding, Padding kind, SourceLocation at) {
  Instruction inst("reduce-window", operands, at);
  if (operands.empty() || operands.size() != initValues.size()) {
    return inst.fail("has ", operands.size(), " operands and ", initValues.size(),
                     " initial values");
  }
  Window window;
  if (!makeWindow(inst, size, strides, window)) {
    return invalid(inst);
  }
  window.baseDilations.assign(baseDilations.begin(), baseDilations.end());
  window.windowDilations.assign(windowDilations.begin(), windowDilations.end());
  if (!padAndAddWindow(inst, window, padding, kind, size.size())) {
    return invalid(inst);
  }
  return inst.operands(initValues).computation("to_apply", computation).add();
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides, Padding padding,
                   SourceLocation at) {
  return reduceWindow({operand}, {init_value}, computation, window_dimensions, window_strides, {},
                      {}, nullptr, padding, at);
}

XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides, Padding padding,
                   SourceLocation at) {
  return reduceWindow(operands, init_values, computation, window_dimensions, window_strides, {}, {},
                      nullptr, padding, at);
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides,
                   absl::Span<const std::int64_t> base_dilations,
                   absl::Span<const std::int64_t> window_dilations, Padding padding,
                   SourceLocation at) {
  return reduceWindow({operand}, {init_value}, computation, window_dimensions, window_strides,
                      base_dilations, window_dilations, nullptr, padding, at);
}

XlaOp ReduceWindowWithGeneralPadding(
    XlaOp operand, XlaOp init_value, const XlaComputation &computation,
    absl::Span<const std::int64_t> window_dimensions, absl::Span<const std::int64_t> window_strides,
    absl::Span<const std::int64_t> base_dilations, absl::Span<const std::int64_t> window_dilations,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding, SourceLocation at) {
  return reduceWindow({operand}, {init_value}, computation, window_dimensions, window_strides,
                      base_dilations, window_dilations, &padding, Padding::kValid, at);
}

XlaOp ReduceWindowWithGeneralPadding(
    absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
    const XlaComputation &computation, absl::Span<const std::int64_t> window_dimensions,
    absl::Span<const std::int64_t> window_strides, absl::Span<const std::int64_t> base_dilations,
    absl::Span<const std::int64_t> window_dilations,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding, SourceLocation at) {
  return reduceWindow(operands, init_values, computation, window_dimensions, window_strides,
                      base_dilations, window_dilations, &padding, Padding::kValid, at);
}

static XlaOp selectAndScatter(XlaOp operand, const XlaComputation &select, detail::Numbers size,
                              detail::Numbers strides, const detail::Pairs *padding, Padding kind,
                              XlaOp source, XlaOp initValue, const XlaComputation &scatter,
                              SourceLocation at) {
  Instruction inst("select-and-scatter", {operand, source, initValue}, at);
  Window window;
  if (!makeWindow(inst, size, strides, window)) {
    return invalid(inst);
  }
  if (!padAndAddWindow(inst, window, padding, kind, size.size())) {
    return invalid(inst);
  }
  return inst.computation("select", select).computation("scatter", scatter).add();
}

XlaOp SelectAndScatter(XlaOp operand, const XlaComputation &select,
                       absl::Span<const std::int64_t> window_dimensions,
                       absl::Span<const std::int64_t> window_strides, Padding padding, XlaOp source,
                       XlaOp init_value, const XlaComputation &scatter, SourceLocation at) {
  return selectAndScatter(operand, select, window_dimensions, window_strides, nullptr, padding,
                          source, init_value, scatter, at);
}

XlaOp SelectAndScatterWithGeneralPadding(
    XlaOp operand, const XlaComputation &select, absl::Span<const std::int64_t> window_dimensions,
    absl::Span<const std::int64_t> window_strides,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding, XlaOp source, XlaOp init_value,
    const XlaComputation &scatter, SourceLocation at) {
  return selectAndScatter(operand, select, window_dimensions, window_strides, &padding,
                          Padding::kValid, source, init_value, scatter, at);
}

//===----------------------------------------------------------------------===//
// Scan, scatter
//===----------------------------------------------------------------------===//

XlaOp Scan(absl::Span<const XlaOp> inputs, absl::Span<const XlaOp> inits,
           const XlaComputation &to_apply, std::int64_t scan_dimension, bool is_reverse,
           std::optional<bool> is_associative, SourceLocation at) {
  Instruction inst("scan", inputs, at);
  inst.operands(inits)
      .numbers("dimensions", {scan_dimension})
      .number("num_carries", static_cast<std::int64_t>(inits.size()));
  if (is_reverse) {
    inst.boolean("is_reverse", true);
  }
  if (is_associative) {
    inst.boolean("is_associative", *is_associative);
  }
  return inst.computation("to_apply", to_apply).add();
}

XlaOp Scatter(absl::Span<const XlaOp> operands, XlaOp scatter_indices,
              absl::Span<const XlaOp> updates, const XlaComputation &update_computation,
              const ScatterDimensionNumbers &dimension_numbers, bool indices_are_sorted,
              bool unique_indices, SourceLocation at) {
  Instruction inst("scatter", operands, at);
  if (operands.empty() || operands.size() != updates.size()) {
    return inst.fail("has ", operands.size(), " operands and ", updates.size(), " updates");
  }
  inst.operand(scatter_indices)
      .operands(updates)
      .numbers("update_window_dims", dimension_numbers.update_window_dims())
      .numbers("inserted_window_dims", dimension_numbers.inserted_window_dims())
      .numbers("scatter_dims_to_operand_dims", dimension_numbers.scatter_dims_to_operand_dims())
      .number("index_vector_dim", dimension_numbers.index_vector_dim());
  if (dimension_numbers.input_batching_dims_size() ||
      dimension_numbers.scatter_indices_batching_dims_size()) {
    inst.numbers("input_batching_dims", dimension_numbers.input_batching_dims())
        .numbers("scatter_indices_batching_dims",
                 dimension_numbers.scatter_indices_batching_dims());
  }
  if (indices_are_sorted) {
    inst.boolean("indices_are_sorted", true);
  }
  if (unique_indices) {
    inst.boolean("unique_indices", true);
  }
  return inst.computation("to_apply", update_computation).add();
}

XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates,
              const XlaComputation &update_computation,
              const ScatterDimensionNumbers &dimension_numbers, bool indices_are_sorted,
              bool unique_indices, SourceLocation at) {
  return Scatter(Ops({operand}), scatter_indices, Ops({updates}), update_computation,
                 dimension_numbers, indices_are_sorted, unique_indices, at);
}

XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates,
              const XlaComputation &update_computation, std::int64_t index_vector_dim,
              absl::Span<const std::int64_t> update_window_dims,
              absl::Span<const std::int64_t> inserted_window_dims,
              absl::Span<const std::int64_t> scatter_dims_to_operand_dims, SourceLocation at) {
  ScatterDimensionNumbers numbers;
  numbers.set_index_vector_dim(index_vector_dim)
      .set_update_window_dims(update_window_dims)
      .set_inserted_window_dims(inserted_window_dims)
      .set_scatter_dims_to_operand_dims(scatter_dims_to_operand_dims);
  return Scatter(operand, scatter_indices, updates, update_computation, numbers, false, false, at);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputation &comparator,
           std::int64_t dimension, bool is_stable, SourceLocation at) {
  Instruction inst("sort", operands, at);
  if (operands.empty()) {
    return inst.fail("there are no operands");
  }
  const Shape *first = inst.arrayOf(0);
  if (!first) {
    return inst.add();
  }
  if (is_stable) {
    inst.boolean("is_stable", true);
  }
  return inst.numbers("dimensions", {dimension == -1 ? first->rank() - 1 : dimension})
      .computation("to_apply", comparator)
      .add();
}

/// Sorts by the first operand.
static XlaOp sortAscending(Ops operands, std::int64_t dimension, SourceLocation at) {
  Instruction inst("sort", operands, at);
  std::vector<PrimitiveType> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape *shape = inst.arrayOf(static_cast<int>(i));
    if (!shape) {
      return inst.add();
    }
    types.push_back(shape->element_type());
  }
  if (primitive_util::IsComplexType(types[0])) {
    return inst.fail("complex keys have no order");
  }
  return Sort(operands, detail::scalarLess(types), dimension, false, at);
}

XlaOp Sort(XlaOp operand, std::int64_t dimension, SourceLocation at) {
  return sortAscending({operand}, dimension, at);
}

XlaOp Sort(XlaOp keys, XlaOp values, std::int64_t dimension, SourceLocation at) {
  return sortAscending({keys, values}, dimension, at);
}

XlaOp TopK(XlaOp operand, std::int64_t k, bool largest, SourceLocation at) {
  return Instruction("topk", {operand}, at).number("k", k).boolean("largest", largest).add();
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

static XlaOp rng(const char *distribution, XlaOp a, XlaOp b, const Shape &shape,
                 SourceLocation at) {
  Instruction inst("rng", {a, b}, at);
  const Shape *parameter = inst.arrayOf(0);
  if (!parameter) {
    return inst.add();
  }
  if (parameter->element_type() != shape.element_type()) {
    return inst.fail("the parameters are ", parameter->ToString(), ", the shape is ",
                     shape.ToString(), "; their types must be equal");
  }
  return inst.attribute("distribution", distribution).shape(shape).add();
}

XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape &shape, SourceLocation at) {
  return rng("rng_normal", mu, sigma, shape, at);
}

XlaOp RngUniform(XlaOp a, XlaOp b, const Shape &shape, SourceLocation at) {
  return rng("rng_uniform", a, b, shape, at);
}

XlaOp RngBernoulli(XlaOp mean, const Shape &shape, SourceLocation at) {
  Instruction inst("rng-bernoulli", {mean}, at);
  const Shape *parameter = inst.arrayOf(0);
  if (!parameter) {
    return inst.add();
  }
  PrimitiveType type = parameter->element_type();
  bool isResult =
      primitive_util::IsIntegralType(shape.element_type()) || shape.element_type() == PRED;
  if (parameter->rank() != 0 || !primitive_util::IsFloatingPointType(type) || !isResult) {
    return inst.fail("takes a floating scalar and a shape of integers or pred, the mean is ",
                     parameter->ToString(), ", the shape ", shape.ToString());
  }
  XlaOp uniform = RngUniform(Zero(inst.builder, type, at), One(inst.builder, type, at),
                             ShapeUtil::ChangeElementType(shape, type), at);
  XlaOp isOne = Lt(uniform, mean, {}, at);
  return shape.element_type() == PRED ? isOne : Convert(isOne, shape.element_type(), at);
}

XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape &shape,
                      SourceLocation at) {
  constexpr const char *names[] = {"rng_default", "rng_three_fry", "rng_philox"};
  Instruction inst("rng-bit-generator", {initial_state}, at);
  const Shape *state = inst.arrayOf(0);
  return state ? inst.attribute("algorithm", names[static_cast<int>(algorithm)])
                     .shape(Shape({*state, shape}))
                     .add()
               : inst.add();
}

XlaOp RngGetAndUpdateState(XlaBuilder *builder, std::int64_t delta, SourceLocation at) {
  return Instruction("rng-get-and-update-state", {}, at, builder).number("delta", delta).add();
}

} // namespace hlo
