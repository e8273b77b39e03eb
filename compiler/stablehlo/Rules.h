//===- Rules.h - The table op -> rule -------------------------------------===//
#ifndef COMPILER_STABLEHLO_RULES_H
#define COMPILER_STABLEHLO_RULES_H

#include "compiler/stablehlo/Converter.h"

namespace hlo::stable {

/// The rules of all ops.
class Rules {
public:
  static const Rules &get();

  /// Makes the hlo ops of one source op and binds its results; reports what it cannot convert.
  using Function = llvm::LogicalResult (*)(Converter &, mlir::Operation *);
  /// The rule of an op, or null.
  Function find(mlir::Operation *op) const { return table.lookup(op->getName().getStringRef()); }

  /// Adds the rule of one op class.
  template <typename Op, llvm::LogicalResult (*rule)(Converter &, Op)> void add() {
    table[Op::getOperationName()] = [](Converter &c, mlir::Operation *op) {
      return rule(c, llvm::cast<Op>(op));
    };
  }
  /// The same rule for several ops.
  void add(llvm::StringRef name, Function rule) { table[name] = rule; }

private:
  llvm::StringMap<Function> table;
};

/// The rule of ops whose opcode has the same name and operands.
llvm::LogicalResult convertSame(Converter &c, mlir::Operation *op);

/// Binds the result of a constant; an error at `op` if the elements are in a form that is not
/// supported.
llvm::LogicalResult bindConstant(Converter &c, mlir::Operation *op, mlir::ElementsAttr value);

// One function for each family, in a file of its name.
void addElementwiseRules(Rules &rules);
void addMovementRules(Rules &rules);
void addIndexedRules(Rules &rules);
void addReductionRules(Rules &rules);
void addWindowRules(Rules &rules);
void addLinearRules(Rules &rules);
void addDeprecatedRules(Rules &rules);
void addControlRules(Rules &rules);
void addCollectiveRules(Rules &rules);
void addFeedRules(Rules &rules);
void addCustomCallRules(Rules &rules);
void addShardingRules(Rules &rules);
void addChloRules(Rules &rules);
void addChloArrayRules(Rules &rules);

} // namespace hlo::stable

#endif
