//===- AlgebraicRules.h - Definition of rewrite rules ---------------------===//
//
// A rule is a function from an op to the value that replaces its only result, or null. The rules of
// one op family live in one file, each with one line of comment.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_ALGEBRAIC_ALGEBRAICRULES_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_ALGEBRAIC_ALGEBRAICRULES_H

#include "compiler/analysis/Constants.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/machine/Machine.h"
#include "dialect/hlo/Builder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace hlo {

/// `op` -> the value that replaces it, of the same type, or null.
template <typename Op> using Rule = std::function<mlir::Value(Op op, HloBuilder &b)>;

/// The pattern of one rule.
template <typename Op> class RulePattern : public mlir::OpRewritePattern<Op> {
public:
  RulePattern(mlir::MLIRContext *context, Rule<Op> rule)
      : mlir::OpRewritePattern<Op>(context), rule(std::move(rule)) {}
  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const final {
    HloBuilder b(rewriter, op->getLoc());
    mlir::Value value = rule(op, b);
    if (!value || value == op->getResult(0)) {
      return mlir::failure();
    }
    rewriter.replaceOp(op, value);
    return mlir::success();
  }

private:
  Rule<Op> rule;
};

template <typename Op>
void addRules(mlir::RewritePatternSet &patterns, std::initializer_list<Rule<Op>> rules) {
  for (const Rule<Op> &rule : rules) {
    patterns.add<RulePattern<Op>>(patterns.getContext(), rule);
  }
}

/// The elements of a constant that is small enough to examine each; else null.
mlir::DenseElementsAttr smallConstant(mlir::Value v);

/// The largest value of v, if it is known and fits in 62 bits, and v is never negative.
std::optional<uint64_t> largestValue(mlir::Value v);

/// True if all elements of `value` are the integer `number`; false for floats.
inline bool isInteger(mlir::Value value, int64_t number) {
  mlir::DenseElementsAttr attr = splatConstant(value);
  if (!attr || !llvm::isa<mlir::IntegerType>(attr.getElementType())) {
    return false;
  }
  llvm::APInt bits = attr.getSplatValue<llvm::APInt>();
  return bits == llvm::APInt(64, static_cast<uint64_t>(number)).trunc(bits.getBitWidth());
}

/// True if all elements of `value` are exactly the float `number`, including the sign of zero.
inline bool isFloat(mlir::Value value, double number) {
  mlir::DenseElementsAttr attr = splatConstant(value);
  return attr && llvm::isa<mlir::FloatType>(attr.getElementType()) &&
         attr.getSplatValue<llvm::APFloat>().isExactlyValue(number);
}

inline bool isIntegral(mlir::Value value) {
  return llvm::isa<mlir::IntegerType>(elementTypeOf(value));
}
inline bool isPred(mlir::Value value) { return elementTypeOf(value).isSignlessInteger(1); }

/// The scalar computation `name` visible from `user`, if it consists of element-wise ops and
/// constants and returns the types of `user`'s results; else null.
ComputationOp findElementwise(mlir::Operation *user, mlir::FlatSymbolRefAttr name);
/// Applies such a computation element-wise to arrays of one shape.
llvm::SmallVector<mlir::Value> applyElementwise(HloBuilder &b, ComputationOp computation,
                                                mlir::ValueRange arguments);

void populateElementwiseRules(mlir::RewritePatternSet &patterns);
void populateBitRules(mlir::RewritePatternSet &patterns);
void populatePackedRules(mlir::RewritePatternSet &patterns);
void populateQuantizeRules(mlir::RewritePatternSet &patterns);
void populateCounterRules(mlir::RewritePatternSet &patterns);
void populateShapeRules(mlir::RewritePatternSet &patterns);
void populateSliceRules(mlir::RewritePatternSet &patterns);
void populateReduceRules(mlir::RewritePatternSet &patterns);
/// `machine` outlives the patterns.
void populateDotRules(mlir::RewritePatternSet &patterns, const Machine &machine);
void populateWindowRules(mlir::RewritePatternSet &patterns);
void populateIndexRules(mlir::RewritePatternSet &patterns);

} // namespace hlo

#endif
