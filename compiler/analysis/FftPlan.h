//===- FftPlan.h - How a Fourier transform is carried out -----------------===//
#ifndef COMPILER_ANALYSIS_FFTPLAN_H
#define COMPILER_ANALYSIS_FFTPLAN_H

#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace hlo {

/// The factors of one pass each that a length is made of, in the order of the passes; empty if the
/// length is 1 or has a prime factor that no pass takes (see `FftLine::padded`).
llvm::SmallVector<int64_t> fftRadices(int64_t n, int64_t largest);
/// Whether `n` has prime factors of passes alone.
bool isFftSmooth(int64_t n);
/// Length of the cyclic convolution that a transform of length `n` becomes (Bluestein): at least 2
/// n - 1, smooth.
int64_t fftConvolutionLength(int64_t n);

/// How lines of n complex elements, one after another in memory, are transformed.
struct FftLine {
  int64_t n = 1;
  int64_t lanes = 1; ///< elements of one vector
  /// Four steps: a line is a matrix of rows x columns, vectors run over its columns, then over its
  /// rows. Otherwise vectors run over lines.
  bool fourSteps = false;
  int64_t rows = 1, columns = 1;
  int64_t padded = 0; ///< Bluestein's length, if n is not smooth; then rows x columns is this
  int64_t transformed() const { return padded ? padded : n; }
};
/// The cheapest way to transform `lines` lines with vectors of at most `lanes` elements;
/// `acrossLines`: not in four steps.
FftLine planFftLine(int64_t n, int64_t lines, int64_t lanes, bool acrossLines);

/// How many vectors wide a block of columns is, of `vectors` full vectors in all, so that `rows` of
/// it stay in cache.
int64_t fftBlockVectors(int64_t rows, int64_t vectors, int64_t vectorBytes);

/// What does not depend on the target: sizes, and tasks.
struct FftShape {
  bool realIn = false, realOut = false, inverse = false;
  llvm::SmallVector<int64_t> lengths; ///< of the transformed dimensions
  llvm::SmallVector<int64_t> work;    ///< the same, the last one as many columns as stay complex
  int64_t partBytes = 4;              ///< of a real number
  int64_t batches = 1;                ///< transforms
  int64_t lineLength = 1; ///< complex elements of a transformed line of the last dimension
  bool halved = false;    ///< a line of real numbers is transformed as half as many complex ones
  int64_t batchesPerTask = 1;
  /// Lines of an odd number of reals are completed or cut as rows of vectors across lines.
  bool acrossLines() const { return (realIn || realOut) && !halved; }
  int64_t workElements() const; ///< complex elements of one transform
  int64_t workBytes() const; ///< of the work array of a transform that IRFFT of several dimensions
                             ///< has in scratch memory
  /// Whether there is such an array: of each task, of each transform if there are stages.
  bool hasWork() const { return realOut && work.size() > 1; }
  int64_t linesPerBatch() const { return workElements() / work.back(); }
  int64_t linesPerTask() const {
    return staged() ? llvm::divideCeil(batches * linesPerBatch(), 16)
                    : batchesPerTask * linesPerBatch();
  }
  /// Whether few large transforms are done in stages, of several tasks each: lines, or the halves
  /// of four steps, and columns.
  bool staged() const { return batches <= 8 && workElements() >= (32 << 10); }
  /// Tasks, of one stage if there are stages; each has its own scratch memory of `taskBytes` bytes.
  int64_t tasks(int64_t taskBytes) const;
};
FftShape fftShape(FftOp op);

/// What a convolution in four steps has at the end of the scratch memory of lines: its product, and
/// a line between steps.
int64_t fftConvolutionBytes(const FftShape &shape, const FftLine &line);
/// Bytes of the work arrays of all transforms, at the beginning of the scratch memory; 0 if tasks
/// have their own.
int64_t fftWorkBytes(const FftShape &shape);
/// Bytes of scratch memory of the kernel, 0 if the stack is enough.
int64_t fftScratchBytes(const FftShape &shape);
/// Bytes of scratch memory of one task for vectors of at most `vectorBytes`.
int64_t fftTaskScratchBytes(const FftShape &shape, int64_t vectorBytes);
/// The same for whatever target; a multiple of 128, and enough for two equal buffers at multiples
/// of 64. At most kFftStackBytes is on the stack.
int64_t fftTaskScratchBytes(const FftShape &shape);
inline constexpr int64_t kFftStackBytes = 64 << 10;

} // namespace hlo

#endif
