//===- Lines.h - Transforms of lines that are contiguous ------------------===//
#ifndef COMPILER_CODEGEN_FFT_LINES_H
#define COMPILER_CODEGEN_FFT_LINES_H

#include "compiler/analysis/FftPlan.h"
#include "compiler/codegen/fft/Columns.h"

namespace hlo::codegen {

/// Consecutive complex elements of a line, from `index` on; lanes that the mask has off are neither read nor written.
using ReadLine = llvm::function_ref<Elem(mlir::Value line, mlir::Value index, int64_t lanes, mlir::Value mask)>;
using WriteLine =
    llvm::function_ref<void(mlir::Value line, mlir::Value index, const Elem &value, mlir::Value mask)>;

/// Transforms lines of the last dimension, as `FftLine` says.
class LineTransforms {
public:
  /// `scratch`: `bytes` bytes.
  LineTransforms(ColumnTransforms &columns, const FftShape &shape, const FftLine &plan, mlir::Value scratch,
                 int64_t bytes);

  /// Lines lo <= line < hi. `result`: address of the first element of a line of the result, which serves as memory between
  /// the steps.
  void transform(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write,
                 llvm::function_ref<mlir::Value(mlir::Value line)> result);

private:
  void acrossLines(mlir::Value lo, mlir::Value hi, ReadLine read, WriteLine write);
  void loadTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, ReadLine read, const RowBuffer &to);
  void storeTiles(llvm::ArrayRef<mlir::Value> lines, int64_t rows, const RowBuffer &from, WriteLine write);
  /// tile(first, count) for `rows` rows, `lanes` at a time; the last tile may have fewer.
  void forTiles(int64_t rows, llvm::function_ref<void(mlir::Value first, int64_t count)> tile);
  /// Transposes `lanes` vectors.
  llvm::SmallVector<Elem> transposed(llvm::ArrayRef<Elem> vectors);
  RowBuffer separateRows(const RowBuffer &from);

  using ReadIndex = llvm::function_ref<Elem(mlir::Value index, mlir::Value mask)>;
  using WriteIndex = llvm::function_ref<void(mlir::Value index, const Elem &value, mlir::Value mask)>;
  void fourSteps(ColumnTransforms &transforms, ReadIndex read, WriteIndex write, mlir::Value between, double scale);
  void convolution(ReadIndex read, WriteIndex write);
  void oneLine(mlir::Value line, ReadLine read, WriteLine write, mlir::Value between);
  Elem joined(mlir::Value line, mlir::Value index, mlir::Value mask, ReadLine read);
  void separate(mlir::Value line, ReadLine read, WriteLine write);

  /// Vectors of roots exp(-+2 pi i k / lengths.back()), k = first, first + 1, ...: all real parts, then all imaginary ones.
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
