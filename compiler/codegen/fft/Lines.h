//===- Lines.h - Transforms of lines that are contiguous ------------------===//
#ifndef COMPILER_CODEGEN_FFT_LINES_H
#define COMPILER_CODEGEN_FFT_LINES_H

#include "compiler/analysis/FftPlan.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/fft/Columns.h"

namespace hlo::codegen {

/// Consecutive complex elements of a line, from `index` on; lanes that the mask has off are neither
/// read nor written.
using ReadLine =
    llvm::function_ref<Elem(mlir::Value line, mlir::Value index, int64_t lanes, mlir::Value mask)>;
using WriteLine = llvm::function_ref<void(mlir::Value line, mlir::Value index, const Elem &value,
                                          mlir::Value mask)>;

/// Transforms lines of the last dimension, as `FftLine` says.
class LineTransforms {
public:
  /// `scratch`: `bytes` bytes.
  LineTransforms(ColumnTransforms &columns, const FftShape &shape, const FftLine &plan,
                 mlir::Value scratch, int64_t bytes);

  /// Lines lo <= line < hi. `result`: address of the first element of a line of the result, which
  /// serves as memory between the steps.
  void transform(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write,
                 llvm::function_ref<mlir::Value(mlir::Value line)> result);

  /// Lines in four steps as stages with a barrier between each two: units of stage `step` for each
  /// line, in order.
  static bool inStages(const FftLine &plan) { return plan.fourSteps && plan.padded == 0; }
  static int64_t stages(const FftShape &shape) { return shape.realIn ? 3 : 2; }
  static int64_t unitsOf(const FftLine &plan, const FftShape &shape, int64_t step);
  /// Units lo <= unit < hi of a stage of all lines.
  void transformStage(int64_t step, mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write,
                      llvm::function_ref<mlir::Value(mlir::Value line)> result);

private:
  void acrossLines(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write);
  void loadTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, ReadLine read,
                 const RowBuffer &to);
  void storeTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, const RowBuffer &from,
                  WriteLine write);
  /// Tiles of `lanes` of `rows` rows; the last tile may have fewer.
  void forTiles(int64_t rows, bool oneBody, llvm::function_ref<void(const ColumnBlock &tile)> body);
  /// Transposes `lanes` vectors.
  llvm::SmallVector<Elem> transposed(llvm::ArrayRef<Elem> vectors);
  RowBuffer separateRows(const RowBuffer &from);

  using ReadIndex = llvm::function_ref<Elem(mlir::Value index, mlir::Value mask)>;
  using WriteIndex =
      llvm::function_ref<void(mlir::Value index, const Elem &value, mlir::Value mask)>;
  void fourSteps(ColumnTransforms &transforms, ReadIndex read, WriteIndex write,
                 mlir::Value between, double scale);
  /// Blocks lo <= block < hi of the columns of the first step, up to the third, and of the fourth.
  void firstSteps(ColumnTransforms &transforms, mlir::Value lo, mlir::Value hi, ReadIndex read,
                  mlir::Value between, double scale);
  void lastStep(ColumnTransforms &transforms, mlir::Value lo, mlir::Value hi, WriteIndex write,
                mlir::Value between);
  /// Real and imaginary parts of elements from (row j, column k) on, between the steps.
  mlir::Value betweenAt(mlir::Value j, mlir::Value k) {
    return mulI(e, addI(e, mulI(e, j, plan.rows), k), 2);
  }
  /// Blocks lo <= block < hi of `size` columns of length `length`.
  void forBlocks(int64_t size, int64_t length, mlir::Value lo, mlir::Value hi,
                 llvm::function_ref<void(const ColumnBlock &)> body);
  void convolution(ReadIndex read, WriteIndex write);
  void oneLine(mlir::Value line, ReadLine read, WriteLine write, mlir::Value between);
  Elem joined(mlir::Value line, mlir::Value index, mlir::Value mask, ReadLine read);
  void separate(mlir::Value line, WriteLine write, mlir::Value between);

  /// Vectors of roots exp(-+2 pi i k / lengths.back()), k = first, first + 1, ...: all real parts,
  /// then all imaginary ones.
  Elem halfRoots(mlir::Value index, int64_t lanes);
  mlir::Value firstLanes(int64_t count, bool reversed = false);
  Elem reversed(const Elem &value);

  ColumnTransforms &columns;
  const FftShape &shape;
  const FftLine &plan;
  Emission &e;
  ComplexMath &math;
  mlir::Type complexType;
  mlir::Value bufferA, bufferB;
  mlir::Value behind; ///< the buffers: of a convolution
  int64_t lanes, partBytes;
};

} // namespace hlo::codegen

#endif
