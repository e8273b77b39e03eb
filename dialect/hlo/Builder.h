//===- Builder.h - Building hlo ops with inferred types -------------------===//
//
// An OpBuilder with a location whose methods infer result types, so that an expander reads like its
// formula. Header only.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_BUILDER_H
#define DIALECT_HLO_BUILDER_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"

namespace hlo {

/// Makes ops at one insertion point and location.
class HloBuilder {
public:
  HloBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  static mlir::RankedTensorType type(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  static mlir::RankedTensorType array(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// The shape of `like` with another element type.
  static mlir::RankedTensorType array(mlir::Value like, mlir::Type element) {
    return array(type(like).getShape(), element);
  }

  /// An array constant.
  mlir::Value constant(mlir::DenseElementsAttr value) {
    return ConstantOp::create(b, loc, value.getType(), value);
  }
  /// A scalar of any integer, float or complex type; `value` is rounded to it.
  mlir::Value scalar(mlir::Type element, double value) {
    return constant(splatAttr(mlir::RankedTensorType::get({}, element), value));
  }
  mlir::Value index(int64_t value) { return scalar(b.getIntegerType(32, true), value); }
  /// An array of equal elements: a broadcast scalar.
  mlir::Value splat(mlir::RankedTensorType type, double value) {
    return broadcastScalar(scalar(type.getElementType(), value), type.getShape());
  }
  /// The splat attribute of `value` rounded to the element type of `type`.
  static mlir::DenseElementsAttr splatAttr(mlir::RankedTensorType type, double value) {
    mlir::Type element = type.getElementType();
    if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element)) {
      auto real = floatAttr(llvm::cast<mlir::FloatType>(complex.getElementType()), value);
      auto imag = floatAttr(llvm::cast<mlir::FloatType>(complex.getElementType()), 0.0);
      return mlir::DenseElementsAttr::get(type, std::complex<llvm::APFloat>(real, imag));
    }
    if (auto floating = llvm::dyn_cast<mlir::FloatType>(element)) {
      return mlir::DenseElementsAttr::get(type, floatAttr(floating, value));
    }
    unsigned width = element.getIntOrFloatBitWidth();
    return mlir::DenseElementsAttr::get(
        type, llvm::APInt(width, static_cast<uint64_t>(static_cast<int64_t>(value)), true, true));
  }

  template <typename Op> mlir::Value unary(mlir::Value operand) {
    return Op::create(b, loc, operand.getType(), operand, mlir::StringAttr());
  }
  template <typename Op> mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    return Op::create(b, loc, lhs.getType(), lhs, rhs);
  }
  mlir::Value add(mlir::Value l, mlir::Value r) { return binary<AddOp>(l, r); }
  mlir::Value sub(mlir::Value l, mlir::Value r) { return binary<SubtractOp>(l, r); }
  mlir::Value mul(mlir::Value l, mlir::Value r) { return binary<MultiplyOp>(l, r); }
  mlir::Value div(mlir::Value l, mlir::Value r) { return binary<DivideOp>(l, r); }
  mlir::Value compare(mlir::Value lhs, mlir::Value rhs, llvm::StringRef direction,
                      llvm::StringRef kind = {}) {
    return CompareOp::create(b, loc, array(lhs, b.getI1Type()), lhs, rhs,
                             b.getStringAttr(direction),
                             kind.empty() ? mlir::StringAttr() : b.getStringAttr(kind));
  }
  mlir::Value select(mlir::Value pred, mlir::Value onTrue, mlir::Value onFalse) {
    return SelectOp::create(b, loc, onTrue.getType(), pred, onTrue, onFalse);
  }
  mlir::Value clamp(mlir::Value min, mlir::Value operand, mlir::Value max) {
    return ClampOp::create(b, loc, operand.getType(), min, operand, max);
  }
  mlir::Value convert(mlir::Value operand, mlir::Type element) {
    if (type(operand).getElementType() == element) {
      return operand;
    }
    return ConvertOp::create(b, loc, array(operand, element), operand);
  }
  mlir::Value bitcastConvert(mlir::Value operand, mlir::RankedTensorType result) {
    return BitcastConvertOp::create(b, loc, result, operand);
  }

  mlir::Value broadcast(mlir::Value operand, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions) {
    return BroadcastOp::create(b, loc, array(shape, type(operand).getElementType()), operand,
                               b.getDenseI64ArrayAttr(dimensions));
  }
  mlir::Value broadcastScalar(mlir::Value operand, llvm::ArrayRef<int64_t> shape) {
    return shape.empty() ? operand : broadcast(operand, shape, {});
  }
  /// `operand`, a scalar or an array, broadcast to the shape of `like` (only scalars change).
  mlir::Value broadcastLike(mlir::Value operand, mlir::Value like) {
    return type(operand).getRank() == 0 ? broadcastScalar(operand, type(like).getShape()) : operand;
  }
  mlir::Value reshape(mlir::Value operand, llvm::ArrayRef<int64_t> shape) {
    if (type(operand).getShape() == shape) {
      return operand;
    }
    return ReshapeOp::create(b, loc, array(shape, type(operand).getElementType()), operand,
                             mlir::IntegerAttr());
  }
  mlir::Value transpose(mlir::Value operand, llvm::ArrayRef<int64_t> permutation) {
    llvm::SmallVector<int64_t> shape;
    bool identity = true;
    for (auto [i, dim] : llvm::enumerate(permutation)) {
      shape.push_back(type(operand).getDimSize(dim));
      identity &= dim == static_cast<int64_t>(i);
    }
    if (identity) {
      return operand;
    }
    return TransposeOp::create(b, loc, array(shape, type(operand).getElementType()), operand,
                               b.getDenseI64ArrayAttr(permutation));
  }
  mlir::Value slice(mlir::Value operand, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides = {}) {
    llvm::SmallVector<int64_t> steps(strides), shape;
    steps.resize(starts.size(), 1);
    for (auto [start, limit, step] : llvm::zip(starts, limits, steps)) {
      shape.push_back((limit - start + step - 1) / step);
    }
    return SliceOp::create(b, loc, array(shape, type(operand).getElementType()), operand,
                           b.getDenseI64ArrayAttr(starts), b.getDenseI64ArrayAttr(limits),
                           b.getDenseI64ArrayAttr(steps));
  }
  /// Elements [start, limit) of one dimension, all of the others.
  mlir::Value sliceDim(mlir::Value operand, int64_t dim, int64_t start, int64_t limit) {
    llvm::SmallVector<int64_t> starts(type(operand).getRank(), 0), limits(type(operand).getShape());
    starts[dim] = start;
    limits[dim] = limit;
    return slice(operand, starts, limits);
  }
  mlir::Value concatenate(mlir::ValueRange operands, int64_t dim) {
    llvm::SmallVector<int64_t> shape(type(operands.front()).getShape());
    for (mlir::Value operand : operands.drop_front()) {
      shape[dim] += type(operand).getDimSize(dim);
    }
    return ConcatenateOp::create(b, loc, array(shape, type(operands.front()).getElementType()),
                                 operands, b.getI64IntegerAttr(dim));
  }
  mlir::Value pad(mlir::Value operand, mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior) {
    llvm::SmallVector<int64_t> shape;
    for (auto [i, size] : llvm::enumerate(type(operand).getShape())) {
      shape.push_back(low[i] + size + std::max<int64_t>(size - 1, 0) * interior[i] + high[i]);
    }
    return PadOp::create(b, loc, array(shape, type(operand).getElementType()), operand, value,
                         b.getDenseI64ArrayAttr(low), b.getDenseI64ArrayAttr(high),
                         b.getDenseI64ArrayAttr(interior));
  }
  mlir::Value iota(mlir::RankedTensorType result, int64_t dim) {
    return IotaOp::create(b, loc, result, b.getI64IntegerAttr(dim));
  }
  mlir::Value copy(mlir::Value operand, mlir::Type result) {
    return CopyOp::create(b, loc, result, operand);
  }

private:
  static llvm::APFloat floatAttr(mlir::FloatType type, double value) {
    if (llvm::isa<mlir::Float8E8M0FNUType>(type) && value == 0) {
      return llvm::APFloat::getNaN(type.getFloatSemantics()); // the type has no zero
    }
    llvm::APFloat result(value);
    bool losesInfo = false;
    result.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return result;
  }
};

} // namespace hlo

#endif
