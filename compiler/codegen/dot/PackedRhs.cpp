//===- PackedRhs.cpp - The panels that a contraction would read -----------===//
//
// In: a contraction, one of whose sides no call changes. Out: the panels that its preferred form
// would pack of that side in each call. Stored once in this layout, the same form reads them in
// place (RhsForm::Panels). For few rows, which packing in each call would not pay for, the blocked
// form is taken if its panels are there: it reads them in one run.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/PackedRhs.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// A side of at most 32 KiB fits the smallest L1 of any machine, where panels are no faster.
static constexpr int64_t kSmallBytes = 32 << 10;

/// Whether memory has the rhs in the type in which the plan's panels have it.
static bool isStoredAsPlanned(const Contraction &c, const BlockPlan &plan) {
  bool isNarrow = plan.group != KGroup::None;
  return c.rhs.strided && (isNarrow ? storageBytes(c.rhs.storage) * plan.kStep() == plan.partBytes
                                    : isStoredAsSummed(c, c.rhs));
}

/// The panels for few rows of the lhs and a rhs that comes from L3 or memory, if the blocked form
/// reads them in fewer cycles than the preferred form takes.
static std::optional<PanelLayout> panelsForFewRows(const Contraction &described, bool isLhs) {
  double cycles = describeForm(described, preferredForm(described), /*plainResult=*/true).cycles;
  for (FormKind kind : {FormKind::Groups, FormKind::Blocked}) {
    ContractionForm form{kind, isLhs};
    Contraction c = described;
    takeForm(c, form);
    if (c.mSize() < 2 || c.mSize() > kMostRows ||
        !(kind == FormKind::Groups ? canUseGroups(c) : canBlock(c))) {
      continue;
    }
    BlockPlan plan = planBlocks(c, /*plainResult=*/true);
    if (!isStoredAsPlanned(c, plan) || plan.parts != 1 || plan.flipLhs ||
        c.kSize() * c.nSize() * storageBytes(c.rhs.storage) < kStreamedBytes) {
      continue;
    }
    PanelLayout layout{plan.columns(), plan.kStep(), plan.kStep()};
    Contraction stored = described;
    (isLhs ? stored.lhs : stored.rhs).panels =
        StoredPanels{Value(),
                     c.rhs.storage,
                     static_cast<int64_t>(llvm::divideCeil(c.nSize(), layout.width)),
                     /*taps=*/1,
                     static_cast<int64_t>(llvm::divideCeil(c.kSize(), layout.group)),
                     layout.width,
                     layout.group};
    if (describeForm(stored, form, /*plainResult=*/true).cycles < cycles) {
      return layout;
    }
  }
  return std::nullopt;
}

std::optional<PanelLayout> packedPanels(const Contraction &described, bool isLhs) {
  ContractionForm form = preferredForm(described);
  bool isBlocked = form.kind == FormKind::Matrix || form.kind == FormKind::Groups ||
                   form.kind == FormKind::Blocked;
  if (!isBlocked || form.swapped != isLhs) {
    return panelsForFewRows(described, isLhs);
  }
  Contraction c = described;
  takeForm(c, form);
  BlockPlan plan = planBlocks(c, /*plainResult=*/true);
  if (plan.rhs == RhsForm::Direct && !plan.matrix) {
    return panelsForFewRows(described, isLhs);
  }
  // Runs of k gain more than packed panels do.
  if (!plan.packsRhs() || plan.cutsRuns || !isStoredAsPlanned(c, plan) || plan.parts != 1 ||
      plan.flipLhs || c.kSize() * c.nSize() * storageBytes(c.rhs.storage) <= kSmallBytes) {
    return std::nullopt;
  }
  return PanelLayout{plan.columns(), plan.kStep(),
                     plan.matrix ? plan.matrix->rows * plan.kStep() : plan.kStep()};
}

} // namespace hlo::codegen
