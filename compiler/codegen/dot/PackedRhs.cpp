//===- PackedRhs.cpp - The panels that a contraction would read -----------===//
//
// In: a contraction, one of whose sides no call changes. Out: the panels that its preferred form
// would pack of that side in each call. Stored once in this layout, the same form reads them in
// place (RhsForm::Panels).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/PackedRhs.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// A side of at most 32 KiB fits the smallest L1 of any machine, where panels are no faster.
static constexpr int64_t kSmallBytes = 32 << 10;

std::optional<PanelLayout> packedPanels(const Contraction &described, bool isLhs) {
  ContractionForm form = preferredForm(described);
  bool isBlocked = form.kind == FormKind::Matrix || form.kind == FormKind::Groups ||
                   form.kind == FormKind::Blocked;
  if (!isBlocked || form.swapped != isLhs) {
    return std::nullopt;
  }
  Contraction c = described;
  takeForm(c, form);
  BlockPlan plan = planBlocks(c, /*plainResult=*/true);
  bool isNarrow = plan.group != KGroup::None;
  bool isStored =
      c.rhs.strided && (isNarrow ? storageBytes(c.rhs.storage) * plan.kStep() == plan.partBytes
                                 : isStoredAsSummed(c, c.rhs));
  // Runs of k gain more than packed panels do.
  if (!plan.packsRhs() || plan.cutsRuns || !isStored || plan.parts != 1 || plan.flipLhs ||
      c.kSize() * c.nSize() * storageBytes(c.rhs.storage) <= kSmallBytes) {
    return std::nullopt;
  }
  return PanelLayout{plan.columns(), plan.kStep(),
                     plan.matrix ? plan.matrix->rows * plan.kStep() : plan.kStep()};
}

} // namespace hlo::codegen
