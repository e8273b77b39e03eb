//===- RangeKernel.cpp - Strategy "range": any range of elements ----------===//
//
// In: a region of element-wise ops on arrays of rank 1 and arbitrary length. Out: a function whose
// "tasks" are elements: it computes elements `first` up to `last`, in vectors. The runtime calls it
// on parts of buffers to reduce in collectives.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

LogicalResult emitRangeKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  ElementEmitter vectors(kernel, kernelLanes(kernel)), scalars(kernel, 1);
  Operation *roots = kernel.body().getTerminator();
  emitVectorLoop(e, kernel.first, kernel.last, vectors, scalars,
                 [&](Index i, ElementEmitter &emitter, Value mask) {
                   SmallVector<Elem> values;
                   for (Value root : roots->getOperands()) {
                     values.push_back(emitter.emit(root, {i}, mask));
                   }
                   // Loads come before stores: a result may share an operand's buffer.
                   for (auto [n, value] : llvm::enumerate(values)) {
                     storeElements(e, elementType(roots->getOperand(n).getType()), value,
                                   kernel.resultPtrs[n], i.base, mask);
                   }
                 });
  kernel.tasks = 1;
  return success();
}

} // namespace hlo::codegen
