//===- Lines.h - Transforms of contiguous lines ---------------------------===//
#ifndef COMPILER_CODEGEN_FFT_LINES_H
#define COMPILER_CODEGEN_FFT_LINES_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/fft/Columns.h"
#include "compiler/plans/FftPlan.h"

namespace hlo::codegen {

/// Accesses consecutive complex elements of a line from `index` on; masked-off lanes are not
/// accessed.
using ReadLine =
    llvm::function_ref<Elem(mlir::Value line, mlir::Value index, int64_t lanes, mlir::Value mask)>;
using WriteLine = llvm::function_ref<void(mlir::Value line, mlir::Value index, const Elem &value,
                                          mlir::Value mask)>;

/// Transforms lines of the last dimension by the plan of `FftLine`.
class LineTransforms {
public:
  /// `scratch` has `bytes` bytes.
  LineTransforms(ColumnTransforms &columns, const FftShape &shape, const FftLine &plan,
                 mlir::Value scratch, int64_t bytes);

  /// Transforms lines lo <= line < hi. `result`: address of the first element of a line of the
  /// result, which serves as memory between the steps.
  void transform(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write,
                 llvm::function_ref<mlir::Value(mlir::Value line)> result);

  /// The four steps as stages with barriers in between: number of units of stage `step` per line,
  /// in order.
  static bool inStages(const FftLine &plan) { return plan.fourSteps && plan.padded == 0; }
  static int64_t stages(const FftShape &shape) { return shape.realIn ? 3 : 2; }
  static int64_t unitsOf(const Machine &machine, const FftLine &plan, const FftShape &shape,
                         int64_t step);
  /// Runs units lo <= unit < hi of a stage of all lines.
  void transformStage(int64_t step, mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write,
                      llvm::function_ref<mlir::Value(mlir::Value line)> result);

private:
  void acrossLines(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write);
  void loadTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, ReadLine read,
                 const RowBuffer &to);
  void storeTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, const RowBuffer &from,
                  WriteLine write);
  /// Runs the body for tiles of `lanes` of `rows` rows; the last tile may be partial.
  void forTiles(int64_t rows, bool oneBody, llvm::function_ref<void(const ColumnBlock &tile)> body);
  /// Transposes a square of `lanes` vectors.
  llvm::SmallVector<Elem> transposed(llvm::ArrayRef<Elem> vectors);
  RowBuffer separateRows(const RowBuffer &from);

  using ReadIndex = llvm::function_ref<Elem(mlir::Value index, mlir::Value mask)>;
  using WriteIndex =
      llvm::function_ref<void(mlir::Value index, const Elem &value, mlir::Value mask)>;
  void fourSteps(ColumnTransforms &transforms, ReadIndex read, WriteIndex write,
                 mlir::Value between, double scale);
  /// Steps 1 to 3, and step 4, for blocks lo <= block < hi of columns.
  void firstSteps(ColumnTransforms &transforms, mlir::Value lo, mlir::Value hi, ReadIndex read,
                  mlir::Value between, double scale);
  void lastStep(ColumnTransforms &transforms, mlir::Value lo, mlir::Value hi, WriteIndex write,
                mlir::Value between);
  /// Address of the elements from (row j, column k) on, real and imaginary parts, between the
  /// steps.
  mlir::Value betweenAt(mlir::Value j, mlir::Value k) {
    return mulI(e, addI(e, mulI(e, j, plan.rows), k), 2);
  }
  /// Runs the body for blocks lo <= block < hi of `size` columns of length `length`.
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
  mlir::Value behind; ///< memory behind the buffers, for a convolution
  int64_t lanes, partBytes;
};

} // namespace hlo::codegen

#endif
