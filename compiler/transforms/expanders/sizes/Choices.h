//===- Choices.h - Which version of the program serves which sizes --------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_SIZES_CHOICES_H
#define COMPILER_TRANSFORMS_EXPANDERS_SIZES_CHOICES_H

#include "compiler/analysis/entry/EntryLayout.h"
#include "dialect/hlo/Builder.h"

namespace hlo::sizes {

/// An argument of the entry that is a size. The runtime refuses sizes outside of 0 to the bound if
/// it is `checked`.
struct SizeArgument {
  unsigned number;
  int64_t bound;
  bool checked;
};

/// Sizes that must agree.
struct SizeClass {
  llvm::SmallVector<SizeArgument> sizes;
  /// The largest size of each version, ascending. Of several sizes all versions but the last are
  /// for equal ones, the last for any.
  llvm::SmallVector<int64_t> grid;
  /// The one version is for this size alone, which all sizes have: the only one of the grid.
  bool isFixed = false;

  int64_t bound() const;
  bool isOne() const { return sizes.size() == 1; }
  bool isForAny(size_t version) const { return !isOne() && !isFixed && version + 1 == grid.size(); }
  /// The smallest size that a version is for.
  int64_t least(size_t version) const {
    if (isFixed) {
      return grid.front();
    }
    return version == 0 || isForAny(version) ? 0 : grid[version - 1] + 1;
  }
  /// The sizes at which versions end, without the last, and without the one for any.
  llvm::ArrayRef<int64_t> limits() const;
};

/// Versions for all calls whose sizes are those of the fixed classes: one for each combination of
/// versions of the classes, of which the last counts fastest.
using Choice = llvm::SmallVector<SizeClass>;

/// The classes of the module's attribute kSizeArguments, with no versions.
Choice sizeClasses(mlir::ModuleOp module);
/// Chooses the versions of all classes that are not fixed, at most `budget`. One class alone has a
/// version for each size if they are at most `exact`.
void chooseGrids(Choice &classes, int64_t budget, int64_t exact);

/// The choices for kSpecialSizes, before `classes`: its classes with those fixed that a list names.
/// An error at the module if a name or a size is not of the program.
mlir::FailureOr<llvm::SmallVector<Choice>>
specialChoices(mlir::ModuleOp module, const EntryLayout &layout, const Choice &classes);

int64_t countVersions(const Choice &choice);
/// For version `number` of a choice, the version of each class.
llvm::SmallVector<size_t> versionsOf(const Choice &choice, int64_t number);
/// The number of the version, those of the first choice first, of the first choice that fits the
/// entry's arguments; the last choice has no fixed class.
mlir::Value selectorOf(HloBuilder &b, ComputationOp entry, llvm::ArrayRef<Choice> choices);
/// The same as the numbers of kSizeChoices.
llvm::SmallVector<int64_t> encode(llvm::ArrayRef<Choice> choices);

} // namespace hlo::sizes

#endif
