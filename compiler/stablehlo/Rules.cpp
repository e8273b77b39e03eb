//===- Rules.cpp - The table op -> rule -----------------------------------===//
#include "compiler/stablehlo/Rules.h"

using namespace hlo::stable;

const Rules &Rules::get() {
  static const Rules all = [] {
    Rules rules;
    addElementwiseRules(rules);
    addMovementRules(rules);
    addIndexedRules(rules);
    addReductionRules(rules);
    addWindowRules(rules);
    addLinearRules(rules);
    addDeprecatedRules(rules);
    addControlRules(rules);
    addCollectiveRules(rules);
    addFeedRules(rules);
    addCustomCallRules(rules);
    addShardingRules(rules);
    addChloRules(rules);
    addChloArrayRules(rules);
    return rules;
  }();
  return all;
}
