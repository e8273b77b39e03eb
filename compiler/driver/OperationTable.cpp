//===- OperationTable.cpp - Operations of a profile -----------------------===//
//
// In: the planned program, its small loops, and the metadata of the text. Out: one row for each
// operation whose time hlo_call.profile measures, with its place in the text and in the source
// program. A kernel that is launched at several places has one row, named after the first launch.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/OperationTable.h"
#include "compiler/analysis/Flops.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/driver/Metadata.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace hlo;

InstructionMetadata hlo::readMetadata(ModuleOp module) {
  InstructionMetadata metadata;
  metadata.stackFrames = module->getAttrOfType<StringAttr>("hlo.stack_frames");
  module.walk([&](Operation *op) {
    if (auto text = op->getAttrOfType<StringAttr>("hlo.metadata")) {
      metadata.texts[instructionName(op->getLoc())] = text;
    }
  });
  return metadata;
}

namespace {
class TableBuilder {
public:
  TableBuilder(ModuleOp planned, const SmallLoops &loops, const InstructionMetadata &metadata)
      : loops(loops), metadata(metadata),
        frames(metadata.stackFrames ? metadata.stackFrames.getValue() : "") {
    for (auto kernel : planned.getOps<cpurt::KernelOp>()) {
      kernels[kernel.getSymName()] = kernel;
    }
  }

  OperationTable build(cpurt::EntryOp entry) {
    table.rows.push_back({"entry", "entry"});
    table.rows.push_back({"copies", "copy"});
    entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto launch = dyn_cast<cpurt::LaunchOp>(op)) {
        addKernel(launch);
      } else if (auto call = dyn_cast<cpurt::CallOp>(op)) {
        OperationRow row = place(op, call.getKind());
        for (ArrayAttr types : {call.getOperandTypes(), call.getResultTypes()}) {
          for (Type type : types.getAsValueRange<TypeAttr>()) {
            row.bytes += byteSize(type).value_or(0);
          }
        }
        table.others[op] = add(std::move(row));
      } else if (loops.find(op) != loops.end()) {
        table.others[op] = add(place(op, "loop of scalars"));
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    return std::move(table);
  }

private:
  uint32_t add(OperationRow row) {
    table.rows.push_back(std::move(row));
    return table.rows.size() - 1;
  }

  void addKernel(cpurt::LaunchOp launch) {
    auto kernel = kernels.lookup(launch.getKernel());
    if (!kernel || table.kernels.contains(launch.getKernel())) {
      return;
    }
    FusionOp fusion = kernel.getFusion();
    Operation *named = mainOpOf(fusion);
    OperationRow row =
        place(named == fusion ? launch : named, fusion.getStrategy().value_or("loop"));
    row.flops = flopsOf(fusion);
    for (Type type : llvm::concat<const Type>(llvm::to_vector(fusion->getOperandTypes()),
                                              llvm::to_vector(fusion->getResultTypes()))) {
      row.bytes += byteSize(type).value_or(0);
    }
    table.kernels[launch.getKernel()] = add(std::move(row));
  }

  OperationRow place(Operation *op, StringRef kind) {
    OperationRow row{instructionName(op->getLoc()), kind.str()};
    if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
      // Without folders: an object does not depend on where its text was.
      StringRef name = llvm::sys::path::filename(file.getFilename().getValue());
      row.file = name == "-" || name == "<stdin>" ? "" : name.str();
      row.line = file.getLine();
      row.column = file.getColumn();
    }
    if (StringAttr text = metadata.texts.lookup(row.name)) {
      row.opName = fieldOf(text.getValue(), "op_name").str();
      std::tie(row.sourceFile, row.sourceLine) = frames.sourceOf(text.getValue());
    }
    return row;
  }

  const SmallLoops &loops;
  const InstructionMetadata &metadata;
  StackTables frames;
  llvm::StringMap<cpurt::KernelOp> kernels;
  OperationTable table;
};
} // namespace

OperationTable hlo::makeOperationTable(cpurt::EntryOp entry, ModuleOp planned,
                                       const SmallLoops &loops,
                                       const InstructionMetadata &metadata) {
  return TableBuilder(planned, loops, metadata).build(entry);
}
