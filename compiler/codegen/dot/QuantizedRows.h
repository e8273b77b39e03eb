//===- QuantizedRows.h - Few rows as bytes with scales --------------------===//
//
// The lhs of a contraction of few rows in blocks of at most 32 elements along k, none of which
// crosses an end of the rhs's runs of equal scale. Each block of a row is
//
//   scale = largest magnitude / 127,   bytes = x / scale, rounded to nearest, ties to even
//
// as ggml's Q8_0 has it (with a scale of f32). Rows that the program has as bytes stay as they are,
// in longer blocks without scales.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_QUANTIZEDROWS_H
#define COMPILER_CODEGEN_DOT_QUANTIZEDROWS_H

#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

class QuantizedRows {
public:
  static constexpr int64_t kMostQuantized = 32, kMostExact = 64;
  struct Block {
    mlir::Value k, number;
    int64_t count;
  };

  explicit QuantizedRows(Contraction &c);
  static int64_t mostInBlock(const Contraction &c) {
    return c.element.isF32() ? kMostQuantized : kMostExact;
  }
  /// Fills the buffers; i1: whether all values are so small that no sum overflows (false for
  /// infinities and NaNs); null for bytes.
  mlir::Value fill(llvm::ArrayRef<Index> batch);
  void forEachBlock(llvm::function_ref<void(const Block &)> body);

  /// An element of a row as it was, in f32.
  mlir::Value plainAt(int64_t row, mlir::Value k) const {
    return buffers.address(plain, k, row * c.kSize());
  }
  /// Byte `at` of a block; zero from its count on up to a multiple of four. Blocks are contiguous
  /// if runs are a multiple of four.
  mlir::Value byteAt(int64_t row, const Block &block, mlir::Value at) const;
  /// The byte of an element, where blocks are contiguous.
  mlir::Value byteAt(int64_t row, mlir::Value k) const {
    return addBytes(e, bytes, addI(e, k, row * rowBytes));
  }
  mlir::Value scaleOf(int64_t row, mlir::Value number) const; ///< f32
  mlir::Value totalOf(int64_t row, mlir::Value number) const; ///< i32: the sum of the bytes
  mlir::Value blockOf(mlir::Value k) const;                   ///< the number of an element's block

private:
  void quantize(int64_t row, const Block &block);
  void copy(int64_t row, llvm::ArrayRef<Index> batch, const Block &block);
  void finish(int64_t row, const Block &block, mlir::Value total);

  Contraction &c;
  Emission &e;
  Buffers buffers;
  int64_t m, run, most, perRun, blocks, rowBytes;
  mlir::Value plain, bytes, scales, totals;
};

} // namespace hlo::codegen

#endif
