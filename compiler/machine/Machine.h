//===- Machine.h - What kernels may ask of a CPU --------------------------===//
//
// A Machine says what a CPU can do, by meaning, and what that costs. Only the folders below this
// one know the names of its instructions. It is a plain value: tests make machines of their own.
// This header has the data, for code that decides; Emit.h is for code that emits.
//
// A capability is a struct of data with a function that emits it. What is an op of `arith`,
// `vector` or `llvm` that every backend selects well (additions, a conversion, a masked load) has
// no such function: the data only says whether and when to use the op.
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

/// A kind of number that instructions distinguish.
struct Number {
  enum Kind { Float, Bfloat, Signed, Unsigned } kind;
  int bits;
  bool isInteger() const { return kind == Signed || kind == Unsigned; }
  bool operator==(const Number &other) const = default;
};
inline constexpr Number kF64{Number::Float, 64}, kF32{Number::Float, 32}, kF16{Number::Float, 16},
    kBf16{Number::Bfloat, 16}, kS32{Number::Signed, 32}, kU64{Number::Unsigned, 64};

/// Which lanes of a vector an instruction can leave out: none, those that a mask turns off, or
/// those from a length on.
enum class Predicates { None, Masks, Lengths };

/// Vector registers.
struct Vectors {
  /// The size in bytes of the widest register that is worth using; the smallest possible size if
  /// registers have variable length.
  int bytes = 16;
  int registers = 16;
  /// The predicates of loads and stores, for every element size and at no extra cost.
  Predicates predicates = Predicates::None;
  /// The smallest element, in bytes, whose loads take a mask at some extra cost; 64: there is none.
  int leastMasked = 64;
  /// An instruction on a whole vector takes as long as two on halves.
  bool halves = false;
  /// Arithmetic instructions can broadcast one operand from memory, which then needs no register.
  bool broadcastOperands = false;
  /// Multiply-adds can take one lane of a register for all lanes. Elements that are broadcast one
  /// after the other are then loaded together.
  bool laneOperands = false;
  /// Registers for operands that are loaded before the multiply-adds that use them; one if the
  /// instructions stay in the order in which they are emitted.
  int loadsAhead = 1;
  bool hasPredicates() const { return predicates != Predicates::None; }
};

/// What starts in a cycle, and how long what chains are made of takes.
struct Issue {
  double fma = 2;  ///< multiply-adds of whole vectors
  double load = 2; ///< loads of whole vectors
  double store = 1;
  double shuffle = 1; ///< of lanes across a whole vector
  /// Arithmetic on whole vectors of any kind: the ports that multiply-adds, shuffles and the rest
  /// share. At least as many as any of them alone.
  double vector = 3;
  double integer = 4; ///< arithmetic on scalars
  double fmaLatency = 4;
  /// Cycles to widen integers to twice the size, for a register of results.
  double widen = 1;
  /// Time to multiply and add 32-bit integers, in multiply-adds of f32.
  double integerMultiplyAdd = 2;
};

/// Where data is.
enum class Level { L1, L2, L3, Memory };

/// Caches of one core, in bytes.
struct Memory {
  int64_t line = 64;
  int64_t l1 = 32 << 10, l2 = 1 << 20;
  int64_t l3 = 16 << 20; ///< what one core may use of it
  /// Read in order by one core, out of each Level. Loads say what L1 gives.
  std::array<double, 4> bytesPerCycle{0, 32, 10, 4};
  /// Cycles that a line on its way from L2 to L1 takes from loops that are bound by multiply-adds:
  /// it is written while loads wait.
  double unhiddenFill = 0.15;
  /// Lines so far apart fall into one set of L1.
  int64_t l1Way = 4096;
};

/// Loads of one element per lane, each at its own index.
struct Gather {
  int leastBytes = 4; ///< of an element
  /// Smaller elements are best extracted from gathered words of `leastBytes` that contain them;
  /// otherwise LLVM splits the vector into scalar loads.
  bool fromWords = false;
  /// The instruction is microcode that blocks all other instructions; scalar loads overlap with
  /// other work.
  bool blocks = false;
};

/// The op of `arith` that converts between two kinds of numbers is a vector instruction. A
/// conversion that is not listed is computed from integers. Conversions to bf16 may treat subnormal
/// numbers as zeros.
struct Convert {
  Number from, to;
};

/// A function that one instruction computes for each lane of a register.
struct LaneFunction {
  enum Kind {
    Reciprocal,     ///< an estimate of 1 / x
    ReciprocalRoot, ///< an estimate of 1 / sqrt(x)
    ScaleByPower,   ///< x * 2^floor(n) of x and a float n, rounded once
    Exponent,       ///< e as a float, with |x| = 2^e m and 1 <= m < 2; -infinity for 0
    Fraction,       ///< that m
    Minimum,        ///< -0 < +0; `propagatesNan` says what a NaN gives
    Maximum,
    UnsignedToFloatUp,  ///< u32 -> f32, rounded up
    UnsignedToFloatDown ///< u32 -> f32, rounded towards zero
  } kind;
  int bits; ///< bits of an operand
  int leastBytes,
      mostBytes;          ///< register sizes in bytes; the powers of two between are registers too
  bool alone = false;     ///< for scalars too, as the first lane of the smallest register
  double error = 0;       ///< the relative error; 0: correctly rounded
  bool subnormals = true; ///< handles subnormal operands; else they count as zeros
  bool propagatesNan = true; ///< a NaN operand gives NaN
  mlir::Value (*emit)(Emitter &e, const LaneFunction &self, llvm::ArrayRef<mlir::Value> operands);

  /// The lanes of the registers that a vector of so many lanes fills, or that a scalar is put into;
  /// 0 if it fills none.
  int64_t registerLanes(int64_t lanes) const;
};

/// A look-up per lane in a table that registers hold: entry index % entries.
struct Lookup {
  int bits;    ///< of an entry, and of an index
  int entries; ///< in one register, or in several of `lanes` entries each, at most
  int lanes;
  mlir::Value (*emit)(Emitter &e, llvm::ArrayRef<mlir::Value> table, mlir::Value index);
};

/// Matrix registers ("tiles"), identified by number. Each call of a kernel configures them once.
struct Tiles {
  int count;          ///< the number of registers
  int rows;           ///< rows of a register
  int rowBytes;       ///< bytes of a row
  int configBytes;    ///< size of the configuration in memory
  double startCycles; ///< cycles to clear and to store a register of sums
  double callCycles;  ///< cycles to configure and release all registers, once per call
  double latency;     ///< cycles until a register of sums can be added to again
  struct Shape {
    int64_t rows = 0, rowBytes = 0; ///< 0: the register is not used
  };
  /// Writes the configuration of all registers to `memory`.
  void (*describe)(Emitter &e, llvm::ArrayRef<Shape> shapes, mlir::Value memory);
  void (*configure)(Emitter &e, mlir::Value memory);
  void (*release)(Emitter &e);
  void (*zero)(Emitter &e, int64_t tile);
  /// Rows in memory are `rowStride` bytes apart.
  void (*load)(Emitter &e, int64_t tile, mlir::Value address, int64_t rowStride);
  void (*store)(Emitter &e, int64_t tile, mlir::Value address, int64_t rowStride);
  /// Whether an emitted function uses tiles.
  bool (*areUsedBy)(mlir::Operation *function);
};

/// An instruction that multiplies narrow numbers, adds the products of elements adjacent along k,
/// and adds the result to wider sums. Those of bf16 may treat subnormal numbers as zeros.
struct Product {
  Number operand; ///< Bfloat, or Signed: an integer of at most so many bits
  Number sum;
  /// The number of elements adjacent along k that one lane takes: a group, as wide as a sum.
  int group;
  /// The signs of integer operands. Signed: both are signed; an unsigned operand must have one bit
  /// less. OneUnsigned: one side is taken as unsigned, the other as signed; if both have the same
  /// signedness, the kernel adds half the range to one side and corrects the sums. Any: each side
  /// may be signed or unsigned. FewUnsigned: the lhs is unsigned and has one bit less, the rhs is
  /// signed.
  enum class Signs { Signed, OneUnsigned, Any, FewUnsigned } signs = Signs::Signed;
  /// The products are added to the sums by a second instruction, which needs a register.
  bool addsApart = false;
  /// The cost of one step: in multiply-adds of f32 for vectors, in cycles for tiles.
  double cost = 1;
  const Tiles *tiles = nullptr; ///< non-null: a product of tiles; null: of vectors
  /// For vectors: sum + lhs * rhs. OneUnsigned, FewUnsigned: the lhs is the unsigned side.
  mlir::Value (*multiply)(Emitter &e, mlir::Value sum, mlir::Value lhs, mlir::Value rhs) = nullptr;
  /// For vectors of 16 bytes, or null: the same for two rows and two columns, and two steps along
  /// k. A register of the lhs has the groups (row 0, step 0), (0, 1), (1, 0), (1, 1), one of the
  /// rhs those of two columns, one of sums (row 0, column 0), (0, 1), (1, 0), (1, 1).
  mlir::Value (*multiplyPairs)(Emitter &e, mlir::Value sum, mlir::Value lhs,
                               mlir::Value rhs) = nullptr;
  double pairsCost = 1; ///< the cost of multiplyPairs, in multiply-adds of f32
  /// For tiles, by number. Integers: whether a side is unsigned.
  void (*multiplyTiles)(Emitter &e, const Product &self, std::array<int64_t, 3> tiles,
                        bool lhsUnsigned, bool rhsUnsigned) = nullptr;

  /// Whether the instruction takes operands of this kind.
  bool takes(Number number) const;
  /// The time in which a row is multiplied with a vector of columns, in multiply-adds of f32.
  double costOfStep() const { return multiplyPairs ? pairsCost / 2 : cost; }
  /// How many of its multiply-adds take as long as one of f32.
  double speed() const { return group / costOfStep(); }
};

struct Machine {
  Vectors vectors;
  Issue issue;
  Memory memory;
  Gather gathers;
  /// A multiply-add is one instruction that rounds once.
  bool fma = false;
  /// f16 has instructions for sums, products, minima and maxima.
  bool arithmeticOfHalf = false;

  llvm::SmallVector<Convert, 4> conversions;
  llvm::SmallVector<LaneFunction, 16> functions;
  llvm::SmallVector<Lookup, 2> lookups;
  llvm::SmallVector<Product, 4> products;

  /// The lanes of a vector of elements of `bytes` bytes.
  int lanes(int bytes) const { return vectors.bytes / bytes; }
  /// The conversion, or null if there is no instruction.
  const Convert *convert(Number from, Number to) const;
  /// The most accurate function of this kind for vectors of so many lanes with an error of at most
  /// `mostError`; null if there is none.
  const LaneFunction *function(LaneFunction::Kind kind, int bits, int64_t lanes,
                               double mostError = 1) const;
  /// The look-up in tables of entries of so many bits; null if there is none.
  const Lookup *lookup(int bits) const;
  /// The vector products that take both operands and are faster than widening them, fastest first.
  llvm::SmallVector<const Product *, 4> vectorProducts(Number lhs, Number rhs, Number sum) const;
  /// The same for an unsigned lhs of fewer bits than the rhs, FewUnsigned among them.
  llvm::SmallVector<const Product *, 4> fewBitProducts(Number lhs, Number rhs, Number sum) const;
  /// The tile product, or null if there is none.
  const Product *tileProduct(Number lhs, Number rhs, Number sum) const;
};

} // namespace hlo

#endif
