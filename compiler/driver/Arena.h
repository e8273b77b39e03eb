//===- Arena.h - The arena that calls of a planned program need -----------===//
#ifndef COMPILER_DRIVER_ARENA_H
#define COMPILER_DRIVER_ARENA_H

#include "compiler/target/entry/Entry.h"
#include "dialect/cpurt/Dialect.h"

namespace hlo {

/// The memory of an entry's buffers and of its table of pointers.
ArenaSize arenaOf(cpurt::EntryOp entry, uint64_t align);
/// Makes room for a slot of scratch memory for each thread in an arena, which then is for one.
void addScratch(ArenaSize &arena, uint64_t scratchBytes);

/// The op of the entry that chooses among versions of the program (hlo-size-versions); null if
/// there is none.
cpurt::CaseOp versionsOf(cpurt::EntryOp entry);
/// What each version needs of an arena without scratch memory: up to the end of the buffers in its
/// branch and outside of `versions`.
SizeVersionsInfo describeVersions(cpurt::CaseOp versions, uint64_t align);
/// Makes room for the scratch memory of each version.
void addScratch(SizeVersionsInfo &versions, llvm::function_ref<uint64_t(size_t)> scratchBytes);

} // namespace hlo

#endif
