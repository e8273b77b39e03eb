//===- Machine.h - What kernels may ask of a CPU --------------------------===//
//
// A Machine answers by meaning what a CPU can do and what that costs; how the CPU calls its
// instructions is known in the folders below this one alone. It is a plain value: tests make
// machines of their own. This header holds data, for whoever decides; Emit.h has what emits.
//
// A capability is a struct of data with a function that emits it. What is an op of `arith`,
// `vector` or `llvm` that every backend selects well (additions, a conversion, a masked load) has
// no such function: the data says whether and when to use the op.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_MACHINE_H
#define COMPILER_MACHINE_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace mlir {
class Operation;
class Value;
} // namespace mlir

namespace hlo {

struct Emitter;

/// A kind of number, as instructions tell them apart.
struct Number {
  enum Kind { Float, Bfloat, Signed, Unsigned } kind;
  int bits;
  bool isInteger() const { return kind == Signed || kind == Unsigned; }
  bool operator==(const Number &other) const = default;
};
inline constexpr Number kF64{Number::Float, 64}, kF32{Number::Float, 32}, kF16{Number::Float, 16},
    kBf16{Number::Bfloat, 16}, kS32{Number::Signed, 32}, kU64{Number::Unsigned, 64};

/// How an instruction leaves out lanes of a vector: not at all, those that a mask has off, or those
/// from a length on.
enum class Predicates { None, Masks, Lengths };

/// Vector registers.
struct Vectors {
  /// Bytes of the widest register that is worth using; where lengths vary, the least.
  int bytes = 16;
  int registers = 16;
  /// Of loads and stores of every element size, at no cost beside those of whole vectors.
  Predicates predicates = Predicates::None;
  /// Bytes of the smallest element whose loads take a mask, though dearer than whole ones.
  int leastMasked = 64;
  /// An instruction of whole vectors takes as long as two of half the size.
  bool halves = false;
  /// An operand of arithmetic may be one element in memory for all lanes, which needs no register.
  bool broadcastOperands = false;
  bool hasPredicates() const { return predicates != Predicates::None; }
};

/// What starts in a cycle, and how long what chains are made of takes.
struct Issue {
  double fma = 2;  ///< multiply-adds of whole vectors
  double load = 2; ///< loads of whole vectors
  double fmaLatency = 4;
  /// Cycles to widen integers to twice the size, for a register of results.
  double widen = 1;
  /// Time to multiply and add 32-bit integers, in multiply-adds of f32.
  double integerMultiplyAdd = 2;
};

/// Caches of one core, in bytes.
struct Memory {
  int64_t line = 64;
  int64_t l1 = 32 << 10, l2 = 1 << 20;
  /// Lines so far apart fall into one set of L1.
  int64_t l1Way = 4096;
};

/// Loads of elements at an index of each lane.
struct Gather {
  int leastBytes = 4; ///< of an element
  /// Smaller elements are best taken from gathered words of `leastBytes` that hold them; else LLVM
  /// takes the vector apart.
  bool fromWords = false;
  /// The instruction is a program in microcode that keeps all others waiting, while loads of single
  /// lanes overlap with what is around them.
  bool blocks = false;
};

/// An op of `arith` that converts between two kinds of numbers is an instruction of vectors; else
/// what it means is computed from integers. To bf16 it may take subnormal numbers for zeros.
struct Convert {
  Number from, to;
};

/// What an instruction computes of each lane by itself, in registers.
struct LaneFunction {
  enum Kind {
    Reciprocal,     ///< an estimate of 1 / x
    ReciprocalRoot, ///< an estimate of 1 / sqrt(x)
    ScaleByPower,   ///< x * 2^n of x and an integral float n, rounded once
    Exponent,       ///< e of |x| = 2^e m, 1 <= m < 2, as a float; 0: -infinity
    Fraction,       ///< m of the same
    Minimum,        ///< -0 is less than 0; of a NaN `propagatesNan` says what
    Maximum,
    UnsignedToFloatUp,  ///< u32 -> f32, rounded up
    UnsignedToFloatDown ///< u32 -> f32, rounded towards zero
  } kind;
  int bits;                  ///< of an element of the operands
  int leastBytes, mostBytes; ///< of a register; the powers of two between are registers as well
  bool alone = false;        ///< for one number too, as the first lane of the smallest register
  double error = 0;          ///< relative; 0: rounded correctly
  bool subnormals = true;    ///< of subnormal operands as of others; else as of zeros
  bool propagatesNan = true; ///< a NaN operand makes a NaN
  mlir::Value (*emit)(Emitter &e, const LaneFunction &self, llvm::ArrayRef<mlir::Value> operands);

  /// Lanes of the registers that a vector of so many lanes fills, or that one number is put into; 0
  /// if it does not fill any.
  int64_t registerLanes(int64_t lanes) const;
};

/// A look-up of each lane in a table that registers hold: entry index % entries.
struct Lookup {
  int bits;    ///< of an entry, and of an index
  int entries; ///< of the table, in one register or several of `lanes` entries each
  int lanes;
  mlir::Value (*emit)(Emitter &e, llvm::ArrayRef<mlir::Value> table, mlir::Value index);
};

/// Matrix registers ("tiles"), by number. They are configured once per call of a kernel.
struct Tiles {
  int count;          ///< of registers
  int rows;           ///< of a register
  int rowBytes;       ///< of a row
  int configBytes;    ///< of memory that the configuration is read from
  double startCycles; ///< to clear and store a register of sums
  struct Shape {
    int64_t rows = 0, rowBytes = 0; ///< 0: the register is not used
  };
  /// Writes the configuration of all registers to memory.
  void (*describe)(Emitter &e, llvm::ArrayRef<Shape> shapes, mlir::Value memory);
  void (*configure)(Emitter &e, mlir::Value memory);
  void (*release)(Emitter &e);
  void (*zero)(Emitter &e, int64_t tile);
  /// Rows in memory are `rowStride` bytes apart.
  void (*load)(Emitter &e, int64_t tile, mlir::Value address, int64_t rowStride);
  void (*store)(Emitter &e, int64_t tile, mlir::Value address, int64_t rowStride);
  /// Whether a function that was emitted uses tiles.
  bool (*areUsedBy)(mlir::Operation *function);
};

/// An instruction that multiplies narrow numbers, adds up the products of neighbours along k, and
/// adds that to wider sums. Those of bf16 may take subnormal numbers for zeros.
struct Product {
  Number operand; ///< Bfloat, or Signed: an integer of at most so many bits
  Number sum;
  /// Neighbours along k, which one lane of sums takes as one group of its own size.
  int group;
  /// Signs of integers. OneUnsigned: an operand of either sign; one side is taken as unsigned, the
  /// other as signed. Where both are alike the kernel adds half the range to one side and corrects
  /// the sums. Signed: an unsigned operand has a bit less. Any: every pair as it is.
  enum class Signs { Signed, OneUnsigned, Any } signs = Signs::Signed;
  /// The products are added to the sums by another instruction, which needs a register.
  bool addsApart = false;
  /// Time of a step of whole vectors, in multiply-adds of f32; of tiles, in cycles.
  double cost = 1;
  const Tiles *tiles = nullptr; ///< of tiles; else of vectors
  /// Of vectors: sum + lhs * rhs. OneUnsigned: the lhs is the unsigned side.
  mlir::Value (*multiply)(Emitter &e, mlir::Value sum, mlir::Value lhs, mlir::Value rhs) = nullptr;
  /// Of tiles, by number. Integers: whether a side is unsigned.
  void (*multiplyTiles)(Emitter &e, const Product &self, std::array<int64_t, 3> tiles,
                        bool lhsUnsigned, bool rhsUnsigned) = nullptr;

  /// Whether the operands' numbers are among those that it takes.
  bool takes(Number number) const;
  /// Multiply-adds that one multiply-add of f32 is worth.
  double speed() const { return group / cost; }
};

struct Machine {
  Vectors vectors;
  Issue issue;
  Memory memory;
  Gather gathers;
  /// A multiply-add is one instruction, rounded once.
  bool fma = false;
  /// Sums, products, minima and maxima of f16 are instructions.
  bool arithmeticOfHalf = false;

  llvm::SmallVector<Convert, 4> conversions;
  llvm::SmallVector<LaneFunction, 16> functions;
  llvm::SmallVector<Lookup, 2> lookups;
  llvm::SmallVector<Product, 4> products;

  /// Lanes of a vector of elements of `bytes` bytes.
  int lanes(int bytes) const { return vectors.bytes / bytes; }
  /// Null: there is no instruction.
  const Convert *convert(Number from, Number to) const;
  /// The most accurate one for vectors of so many lanes whose error is at most `mostError`; null:
  /// there is none.
  const LaneFunction *function(LaneFunction::Kind kind, int bits, int64_t lanes,
                               double mostError = 1) const;
  /// Tables of entries of so many bits; null: there are none.
  const Lookup *lookup(int bits) const;
  /// The products of vectors that take both operands and are faster than widening them, fastest
  /// first.
  llvm::SmallVector<const Product *, 4> vectorProducts(Number lhs, Number rhs, Number sum) const;
  /// The product of tiles; null: there is none.
  const Product *tileProduct(Number lhs, Number rhs, Number sum) const;
};

} // namespace hlo

#endif
