//===- hlo/computation.h - A finished computation --------------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_COMPUTATION_H
#define HLO_COMPUTATION_H

#include <hlo/builder_c.h>
#include <hlo/shape.h>
#include <memory>

namespace hlo {

/// What XlaBuilder::Build made: a module whose entry is the computation. A value: copies share the
/// module, which never changes, so threads may share them as well. Other builders call it, Compile
/// and Jit compile it.
class XlaComputation {
public:
  /// No computation.
  XlaComputation() = default;
  /// Takes over a computation of the C API; null makes no computation.
  XlaComputation(std::string name, hlo_computation *computation);

  bool IsNull() const { return !module; }
  /// The name that its builder had.
  const std::string &name() const { return title; }
  /// The module as HLO text, which the parser reads back as the same module; "" if there is none.
  std::string ToString() const;
  /// "(x: f32[8]) -> f32[]".
  std::string signature() const;
  /// FailedPrecondition if there is no computation.
  absl::StatusOr<ProgramShape> GetProgramShape() const;
  /// Belongs to this object and its copies; null if there is none.
  const hlo_computation *handle() const { return module.get(); }

private:
  std::string title;
  std::shared_ptr<hlo_computation> module;
};

} // namespace hlo

#endif
