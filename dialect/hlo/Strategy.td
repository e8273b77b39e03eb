//===- Strategy.td - The strategies of kernels ----------------------------===//
//
// How a fusion with a region is emitted. In the text the attribute is the name, `strategy = "loop"`. What each
// strategy can take and share stands in compiler/plans/Strategies.cpp, its emitter in
// compiler/codegen/Strategies.cpp; both fail to compile without a row for each case.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_STRATEGY_TD
#define DIALECT_HLO_STRATEGY_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Hlo_Strategy : I32Enum<"Strategy", "How a kernel is emitted", [
  I32EnumCase<"Loop", 0, "loop">,                          // a nest over the results
  I32EnumCase<"Range", 1, "range">,                        // as many elements as the runtime asks for
  I32EnumCase<"Reduce", 2, "reduce">,                      // over trailing dimensions
  I32EnumCase<"Row", 3, "row">,                            // reduces of rows, and what follows them row by row
  I32EnumCase<"Columns", 4, "columns">,                    // reduces of columns, with results for all elements too
  I32EnumCase<"Scan", 5, "scan">,                          // cumulative reduce-window
  I32EnumCase<"Dot", 6, "dot">,
  I32EnumCase<"Conv", 7, "conv">,
  I32EnumCase<"Sort", 8, "sort">,
  I32EnumCase<"Topk", 9, "topk">,
  I32EnumCase<"Scatter", 10, "scatter">,
  I32EnumCase<"SelectAndScatter", 11, "select-and-scatter">,
  I32EnumCase<"UpdateSlice", 12, "update-slice">,          // dynamic-update-slice in place
  I32EnumCase<"Rng", 13, "rng">,
  I32EnumCase<"Fft", 14, "fft">,
  I32EnumCase<"Cholesky", 15, "cholesky">,
  I32EnumCase<"TriangularSolve", 16, "triangular-solve">,
  I32EnumCase<"Attention", 17, "attention">,               // two dots, and reduces of rows between them
]> {
  let cppNamespace = "::hlo";
}

/// In the IR a strategy is its name. `kernelStrategy` (Strategy.h) gives the enum.
def Hlo_StrategyAttr : StringBasedAttr<
    And<[StrAttrPred, CPred<"::hlo::symbolizeStrategy(::llvm::cast<::mlir::StringAttr>($_self).getValue())">]>,
    "name of a strategy">;

#endif
