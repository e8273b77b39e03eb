//===- Epilogue.h - What follows the hero: roots and stores ---------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_EPILOGUE_H
#define COMPILER_CODEGEN_CONTRACTION_EPILOGUE_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// The largest stride at which lanes are stored as masked vectors. At stride s the stores of a
/// vector's lanes become s masked stores; past 4 the shuffles and masks outweigh that (an
/// estimate).
constexpr int64_t kMostApart = 4;

/// The element-wise ops between a hero and the roots of its fusion.
class Epilogue {
public:
  /// Fails, after an error at the op, if a root does not have the hero's shape, but for reshapes
  /// and bitcasts at its end.
  static mlir::FailureOr<Epilogue> create(KernelBuilder &kernel, mlir::Operation *hero);

  /// Whether the hero's value is the only result.
  bool isIdentity() const { return roots.size() == 1 && roots[0] == hero->getResult(0); }
  /// Element type of the hero's result.
  mlir::Type heroElement() const { return elementType(hero->getResult(0).getType()); }

  /// Converts `value` (of HLO type `from`) to the hero's type, evaluates the roots at `index` (one
  /// entry per dimension of the hero's result) and writes them. An integer of the hero's that is
  /// given in f32 is exact.
  void store(mlir::Type from, const Elem &value, llvm::ArrayRef<Index> index, int64_t lanes,
             mlir::Value mask = {});
  /// store() of an identity, at a linear index of the result.
  void storeAt(mlir::Type from, const Elem &value, mlir::Value linear, mlir::Value mask = {});
  /// The address of the element of the first result at a linear index.
  mlir::Value addressAt(mlir::Value linear);
  /// Loads what storeAt wrote: the sum itself if the type of accumulation is the hero's.
  Elem loadAt(mlir::Value linear, int64_t lanes, mlir::Value mask = {});

private:
  Epilogue(KernelBuilder &kernel, mlir::Operation *hero) : kernel(&kernel), hero(hero) {}
  bool sumsIntegersAsF32(mlir::Type from) const {
    return from.isF32() && llvm::isa<mlir::IntegerType>(heroElement());
  }
  Elem heroValue(mlir::Type from, const Elem &value);

  KernelBuilder *kernel;
  mlir::Operation *hero;
  /// The roots without the reshapes, bitcasts and copies at their end.
  llvm::SmallVector<mlir::Value> roots;
};

/// The last op of type `Op` in the kernel's region, or null.
template <typename Op> Op findHero(KernelBuilder &kernel) {
  Op hero;
  for (mlir::Operation &op : kernel.body()) {
    if (auto found = llvm::dyn_cast<Op>(op)) {
      hero = found;
    }
  }
  return hero;
}

} // namespace hlo::codegen

#endif
