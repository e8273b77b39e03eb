//===- Recompute.h - Shards made again instead of sent --------------------===//
//
// An array that element-wise ops, broadcasts, reshapes, constants and iotas make from what each
// partition has can be made in another sharding without communication:
//
//   m = compare(iota, iota) as [{x},{}], wanted as [{},{x}]  ->  a compare of other parts of iotas
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_RECOMPUTE_H
#define COMPILER_TRANSFORMS_SPMD_RECOMPUTE_H

#include "compiler/transforms/spmd/Partitioner.h"
#include "compiler/transforms/spmd/Program.h"

#include <map>

namespace hlo::spmd {

class Recompute {
public:
  /// `local` gives the shard of a value in its own sharding.
  Recompute(const Program &program, Emitter &e,
            const llvm::DenseMap<mlir::Value, mlir::Value> &local)
      : program(program), e(e), local(local) {}

  /// Bytes that a partition sends to have the value in this sharding: none if it is computed again.
  int64_t bytes(mlir::Value value, const Sharding &wanted);
  /// The shard, made at the builder's place: computed again if that saves bytes, else resharded.
  mlir::Value shard(mlir::Value value, const Sharding &wanted);

private:
  int64_t bytesToSend(mlir::Value value, const Sharding &wanted);
  bool canMake(mlir::Value value, const Sharding &wanted, unsigned &ops);
  mlir::Value make(mlir::Value value, const Sharding &wanted);
  /// The axes with which the op makes its result in this sharding; nothing if it cannot.
  std::optional<FactorAxes> axesFor(mlir::Operation *op, const Rule &rule, const Sharding &wanted);

  const Program &program;
  Emitter &e;
  const llvm::DenseMap<mlir::Value, mlir::Value> &local;
  std::map<std::pair<const void *, std::string>, mlir::Value> made;
};

} // namespace hlo::spmd

#endif
