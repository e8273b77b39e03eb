//===- FftPlan.h - How a Fourier transform is carried out -----------------===//
#ifndef COMPILER_PLANS_FFTPLAN_H
#define COMPILER_PLANS_FFTPLAN_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace hlo {

/// The radices of the passes of a transform of length n, in their order. Empty if n is 1 or has a
/// prime factor without a butterfly (see `FftLine::padded`).
llvm::SmallVector<int64_t> fftRadices(int64_t n, int64_t largest);
/// True if every prime factor of `n` has a butterfly.
bool isFftSmooth(int64_t n);
/// Length of the cyclic convolution that replaces a transform of length `n` (Bluestein): smooth,
/// and at least 2 n - 1.
int64_t fftConvolutionLength(int64_t n);

/// How lines of n complex elements, one after another in memory, are transformed.
struct FftLine {
  int64_t n = 1;
  int64_t lanes = 1; ///< elements of one vector
  /// True: the four-step method. A line is a matrix of rows x columns; vectors run over its
  /// columns, then over its rows. False: vectors run across lines.
  bool fourSteps = false;
  int64_t rows = 1, columns = 1;
  int64_t padded = 0; ///< Bluestein's length if n is not smooth, and then rows x columns; else 0
  int64_t transformed() const { return padded ? padded : n; }
};
/// One way to transform lines, and its cost in vector operations per element.
struct FftCandidate {
  FftLine line;
  double cost;
};
/// The ways for `lines` lines of numbers of `partBytes`, the cheapest one first: across lines and
/// in four steps, with vectors of several lengths. `acrossLines` excludes the four-step method.
llvm::SmallVector<FftCandidate> fftLineCandidates(const Machine &machine, int64_t n, int64_t lines,
                                                  int64_t partBytes, bool acrossLines);

/// Width, in vectors, of a block of columns so that its `rows` rows stay in L1; a divisor of
/// `vectors`, the number of full vectors in a row.
int64_t fftBlockVectors(const Machine &machine, int64_t rows, int64_t vectors, int64_t vectorBytes);

/// The part of the plan that does not depend on how a line is transformed: sizes and tasks.
struct FftShape {
  bool realIn = false, realOut = false, inverse = false;
  llvm::SmallVector<int64_t> lengths; ///< of the transformed dimensions
  llvm::SmallVector<int64_t> work;    ///< the same, but the last one counts the complex columns
  int64_t partBytes = 4;              ///< bytes of a real number
  int64_t batches = 1;                ///< number of transforms
  int64_t lineLength = 1; ///< complex elements of a transformed line of the last dimension
  bool halved = false;    ///< a line of reals is transformed as half as many complex numbers
  int64_t batchesPerTask = 1;
  /// Lines of an odd number of reals exist only across lines: their other half is completed (or
  /// dropped) as rows of vectors.
  bool acrossLines() const { return (realIn || realOut) && !halved; }
  int64_t workElements() const; ///< complex elements of one transform
  int64_t workBytes() const; ///< of the work array of a transform that IRFFT of several dimensions
                             /// True if IRFFT of several dimensions needs a work array: one per
                             /// task, or one per transform if there are stages.
  bool hasWork() const { return realOut && work.size() > 1; }
  int64_t linesPerBatch() const { return workElements() / work.back(); }
  int64_t linesPerTask() const {
    return staged() ? llvm::divideCeil(batches * linesPerBatch(), 16)
                    : batchesPerTask * linesPerBatch();
  }
  /// True if few large transforms run in stages of several tasks each. A stage is the lines, the
  /// columns, or one half of the four steps.
  bool staged() const { return batches <= 8 && workElements() >= (32 << 10); }
  /// Number of tasks (of each stage, if staged), each with `taskBytes` bytes of scratch memory.
  int64_t tasks(int64_t taskBytes) const;
};
FftShape fftShape(const Machine &machine, FftOp op);
/// The ways to transform the lines of a shape, the cheapest one first.
llvm::SmallVector<FftCandidate> fftLineCandidates(const Machine &machine, const FftShape &shape);
/// Cycles of all transforms of a shape, without what they wait for memory.
double fftCycles(const Machine &machine, const FftShape &shape, const FftCandidate &candidate);

/// Bytes that a four-step convolution needs at the end of a line's scratch memory: its product, and
/// a line between steps.
int64_t fftConvolutionBytes(const FftShape &shape, const FftLine &line);
/// Bytes of the work arrays of all transforms, at the start of the scratch memory; 0 if each task
/// has its own.
int64_t fftWorkBytes(const FftShape &shape);
/// Bytes of scratch memory of the kernel; 0 if it fits on the stack.
int64_t fftScratchBytes(const Machine &machine, const FftShape &shape, const FftLine &line);
/// Bytes of scratch memory of one task; a multiple of 128, so it splits into two equal buffers
/// aligned to 64.
int64_t fftTaskScratchBytes(const Machine &machine, const FftShape &shape, const FftLine &line);
/// Scratch memory of at most this size is variables of the kernel's function, one slot per thread
/// (codegen/Scratch.h). More is an extra result, one part per task. The bound dates from when such
/// variables were on the thread's stack; 64 KiB are two buffers of 4096 c64.
inline constexpr int64_t kFftStackBytes = 64 << 10;

} // namespace hlo

#endif
