//===- Import.cpp - StableHLO text to the hlo dialect ---------------------===//
//
// The steps, each of which may report errors at places in the text:
//
//   nesting    brackets are counted, since MLIR's parser has no limit of its own
//   parse      MLIR's parser; the module is not verified yet, so that
//   places     locations become places in the text first (Places.h)
//   verify     the verifiers of the dialects: the specification's constraints
//   refine     sizes that the text leaves open (refine/Refine.h)
//   convert    op by op (Converter.h)
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Import.h"
#include "compiler/stablehlo/Converter.h"
#include "compiler/stablehlo/Nesting.h"
#include "compiler/stablehlo/Places.h"
#include "compiler/stablehlo/refine/Refine.h"
#include "compiler/support/SizeExpr.h"
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

namespace {
/// Attributes of dialects that nobody knows are no error while the text is parsed.
class AllowUnregistered {
public:
  explicit AllowUnregistered(MLIRContext *context)
      : context(context), before(context->allowsUnregisteredDialects()) {
    context->allowUnregisteredDialects(true);
  }
  ~AllowUnregistered() { context->allowUnregisteredDialects(before); }

private:
  MLIRContext *context;
  bool before;
};

/// The place of a character.
FileLineColLoc placeAt(StringRef text, size_t at, StringRef fileName, MLIRContext *context) {
  StringRef before = text.take_front(at);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
  return FileLineColLoc::get(context, fileName, before.count('\n') + 1, at - lineStart + 1);
}

OwningOpRef<ModuleOp> parse(StringRef text, StringRef fileName, MLIRContext *context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, fileName, /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  AsmParserState state;
  Block block;
  ParserConfig config(context, /*verifyAfterParse=*/false);
  if (failed(parseAsmSourceFile(sources, &block, config, &state))) {
    return nullptr;
  }
  // A text may be one module, or the ops of one.
  OwningOpRef<ModuleOp> module;
  if (!block.empty() && isa<ModuleOp>(block.front()) && &block.front() == &block.back()) {
    module = cast<ModuleOp>(block.front());
    (*module)->remove();
  } else {
    module = ModuleOp::create(FileLineColLoc::get(context, fileName, 1, 1));
    module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  }
  locateInText(*module, state, sources, fileName);
  return module;
}
} // namespace

OwningOpRef<ModuleOp> hlo::parseStablehlo(StringRef text, StringRef fileName, MLIRContext *context,
                                          const StablehloOptions &options) {
  context->loadDialect<HloDialect, func::FuncDialect, quant::QuantDialect,
                       ::stablehlo::StablehloDialect, ::chlo::ChloDialect, ::sdy::SdyDialect>();
  if (std::optional<size_t> deep = findDeepBracket(text, kMostBrackets)) {
    emitError(placeAt(text, *deep, fileName, context))
        << "brackets nested deeper than " << kMostBrackets << " levels";
    return nullptr;
  }
  if (std::optional<ParserTrap> trap = findParserTrap(text)) {
    emitError(placeAt(text, trap->at, fileName, context)) << trap->message;
    return nullptr;
  }
  AllowUnregistered allow(context);
  OwningOpRef<ModuleOp> module = parse(text, fileName, context);
  if (!module || failed(mlir::verify(*module)) ||
      failed(refineSizes(*module, options.bounds, options.budget))) {
    return nullptr;
  }
  OwningOpRef<ModuleOp> converted = Converter(*module, options.budget).convert();
  for (StringRef name : {kEntrySizes, kResultSizes}) {
    Attribute sizes = (*module)->getAttr(name);
    if (converted && sizes) {
      (*converted)->setAttr(name, sizes);
    }
  }
  return converted;
}
