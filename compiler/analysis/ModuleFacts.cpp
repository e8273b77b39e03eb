//===- ModuleFacts.cpp - What passes over a module need not find again ----===//
#include "compiler/analysis/ModuleFacts.h"

using namespace mlir;
using namespace hlo;

OpsPresent::OpsPresent(Operation *module) {
  TypeID last;
  module->walk([&](Operation *op) {
    TypeID kind = op->getName().getTypeID();
    if (kind != last) {
      kinds.insert(kind);
      last = kind;
    }
  });
}
