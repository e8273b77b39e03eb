//===- Epilogue.h - What follows the hero: roots and stores ---------------===//
#ifndef COMPILER_CODEGEN_DOT_EPILOGUE_H
#define COMPILER_CODEGEN_DOT_EPILOGUE_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Most elements that lanes may be apart in a row of the result and still be stored as vectors.
constexpr int64_t kMostApart = 4;

/// The element-wise ops between a hero and the roots of its fusion.
class Epilogue {
public:
  /// Fails (after an error at the op) if a root is not at the hero's own index.
  static mlir::FailureOr<Epilogue> create(KernelBuilder &kernel, mlir::Operation *hero);

  /// Whether the hero's value is the only result.
  bool isIdentity() const { return roots.size() == 1 && roots[0] == hero->getResult(0); }
  /// Element type of the hero's result.
  mlir::Type heroElement() const { return elementType(hero->getResult(0).getType()); }

  /// Converts `value` (of HLO type `from`) to the hero's type, evaluates the roots at `index` (one
  /// entry per dimension of the hero's result) and writes them.
  void store(mlir::Type from, const Elem &value, llvm::ArrayRef<Index> index, int64_t lanes,
             mlir::Value mask = {});
  /// The same for an identity, at a linear index of the result.
  void storeAt(mlir::Type from, const Elem &value, mlir::Value linear, mlir::Value mask = {});
  /// The address of an element of the first result.
  mlir::Value addressAt(mlir::Value linear);
  /// What storeAt wrote, if nothing was rounded.
  Elem loadAt(mlir::Value linear, int64_t lanes, mlir::Value mask = {});

private:
  Epilogue(KernelBuilder &kernel, mlir::Operation *hero) : kernel(&kernel), hero(hero) {}

  KernelBuilder *kernel;
  mlir::Operation *hero;
  /// Roots with relabellings (reshape, bitcast, copy) at their end taken off.
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
