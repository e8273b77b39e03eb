//===- Element.h - Element values, element types, loads and stores --------===//
//
// The basis of every kernel emitter. See "How elements are held" in compiler/README.md for the
// representation of each HLO type.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENT_H
#define COMPILER_CODEGEN_ELEMENT_H

#include "compiler/machine/Emit.h"
#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"

namespace hlo::codegen {

/// What is known of the lower 16 bits of f32 numbers: whether they are numbers of bf16, which
/// rounding leaves as they are.
enum class LowerHalf : uint8_t {
  Any,
  ZeroInNaN, ///< zero where the number is a NaN; arithmetic passes NaNs of its operands on
  Zero,      ///< zero: every number is one of bf16
};

/// One element, or one vector of elements: a scalar, or a 1-D vector. `im` is
/// set for complex types only.
struct Elem {
  mlir::Value re;
  mlir::Value im;
  LowerHalf lower = LowerHalf::Any;
  Elem() = default;
  Elem(mlir::Value re, mlir::Value im = {}) : re(re), im(im) {}
  Elem(mlir::Value re, LowerHalf lower) : re(re), lower(lower) {}
  explicit operator bool() const { return static_cast<bool>(re); }
};

/// What an emitter needs at hand: where to put ops, and for which machine.
struct Emission : Emitter {
  const Machine &machine;
};

/// Elements of an HLO type as instructions know them; pred: unsigned integers of one bit.
Number numberOf(mlir::Type element);

/// Element type of an HLO array type, e.g. si32, i1 (pred), bf16, complex<f32>.
mlir::Type elementType(mlir::Type arrayType);
llvm::SmallVector<mlir::Type> elementTypes(mlir::ValueRange arrays);
/// True for unsigned integers and pred.
bool isUnsignedElement(mlir::Type element);
/// True for floats of fewer than 32 bits, which are held as f32.
bool isNarrowFloat(mlir::Type element);
/// What is known of every number of the element type.
LowerHalf lowerHalfOf(mlir::Type element);
/// The type of the value in a kernel (of one part, for complex): i1, iN, f32, f64.
mlir::Type computeType(mlir::Type element);
/// Bytes of one element in memory (both parts, for complex).
int64_t storageBytes(mlir::Type element);
/// `scalar`, or vector<lanes x scalar> if lanes > 1 (lanes == 0 or 1: scalar).
mlir::Type laneType(mlir::Type scalar, int64_t lanes);
/// Lanes of a value: 1 for a scalar.
int64_t lanesOf(mlir::Value value);

/// Loads `lanes` consecutive elements of HLO type `element`; `index` (i64) counts elements. With a
/// mask (vector<lanes x i1>, or i1), masked-off lanes are not read and are zero.
Elem loadElements(Emission &e, mlir::Type element, mlir::Value base, mlir::Value index,
                  int64_t lanes, mlir::Value mask = {});
/// Loads element `indices[l]` for each lane l (`indices`: vector of i64).
Elem gatherElements(Emission &e, mlir::Type element, mlir::Value base, mlir::Value indices,
                    mlir::Value mask = {});
/// Loads memory element `indices[l]` (of a type that loads support) for each lane l by a load of
/// its own. Lanes that the constant `mask`, if there is one, has off are zero.
mlir::Value gatherByLane(Emission &e, mlir::Type memory, mlir::Value base, mlir::Value indices,
                         mlir::Value mask);
/// True if a few vector loads and shuffles cost less than a gather for these offsets.
bool isNear(mlir::Type element, llvm::ArrayRef<int64_t> offsets);
/// Loads element `index + offsets[l]` for each lane l by a few vector loads and shuffles; an empty
/// Elem if a gather is cheaper. Reads only between the first and the last lane that is set in the
/// mask.
Elem loadNear(Emission &e, mlir::Type element, mlir::Value base, mlir::Value index,
              llvm::ArrayRef<int64_t> offsets, mlir::Value mask = {});
/// Stores consecutive elements; masked-off lanes are not written.
void storeElements(Emission &e, mlir::Type element, const Elem &value, mlir::Value base,
                   mlir::Value index, mlir::Value mask = {});
/// A vector with the scalar `value` in every lane.
Elem splat(Emission &e, const Elem &value, int64_t lanes);
/// mask ? a : b, part by part; `condition` i1 or vector of i1.
Elem selectElem(Emission &e, mlir::Value condition, const Elem &a, const Elem &b);
/// A scalar constant of HLO type `element` from a literal's element `index`.
Elem literalElement(Emission &e, mlir::DenseElementsAttr literal, int64_t index);
/// Zero of HLO type `element`.
Elem zeroElem(Emission &e, mlir::Type element, int64_t lanes = 1);
/// Zero of a numeric or vector type of MLIR.
mlir::Value zeroOf(Emission &e, mlir::Type type);

/// A constant mask, vector<N x i1>.
mlir::Value constantMask(Emission &e, llvm::ArrayRef<bool> on);
/// The constant mask of the first `count` of `lanes` lanes.
mlir::Value firstLanes(Emission &e, int64_t count, int64_t lanes);
/// The constant mask of the last `count` of `lanes` lanes.
mlir::Value lastLanes(Emission &e, int64_t count, int64_t lanes);
/// i64 constant.
mlir::Value constI64(Emission &e, int64_t value);
/// base + bytes, as an !llvm.ptr; `bytes` is i64.
mlir::Value addBytes(Emission &e, mlir::Value base, mlir::Value bytes);
/// The address of memory element `index` (i64) of an array at `base`.
mlir::Value elementPointer(Emission &e, mlir::Type memory, mlir::Value base, mlir::Value index);

} // namespace hlo::codegen

#endif
