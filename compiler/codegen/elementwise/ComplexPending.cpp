#include "compiler/codegen/elementwise/Families.h"
namespace hlo::codegen { __attribute__((weak)) Elem emitComplexOp(const Request &request) { mlir::emitError(request.e.loc, "complex ops are not supported yet"); return {}; } }
