//===- Other.h - The parts of registerOther ---------------------*- C++ -*-===//
#ifndef COMPILER_TRANSFORMS_SPMD_RULES_OTHER_H
#define COMPILER_TRANSFORMS_SPMD_RULES_OTHER_H

#include "compiler/transforms/spmd/Partitioner.h"

namespace hlo::spmd {

void registerBatchNorm(PartitionerTable &table);     // BatchNorm.cpp
void registerCommunication(PartitionerTable &table); // Communication.cpp
void registerCustomCall(PartitionerTable &table);    // CustomCall.cpp
void registerRandom(PartitionerTable &table);        // Random.cpp

/// One factor per dimension of operand and result `i`, for each i for which both have one type.
Rule forwardingRule(mlir::Operation *op);

} // namespace hlo::spmd

#endif
