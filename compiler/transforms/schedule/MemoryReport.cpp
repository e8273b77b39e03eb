//===- MemoryReport.cpp - Report of buffers and live ranges ---------------===//
//
// In: a planned module. Out: text, one line for each buffer of the arena:
//
//   arena 192 bytes, 3 buffers, 128 in use at step 2 (k1_reduce_add)
//     offset   bytes  first  last  value
//          0      64      0     2  %add.3
//
// With a prepare function, its own arena and the prepared block follow. Steps number launches and
// copies in text order. A buffer used both inside and outside of a loop counts for the whole loop.
// The report is made from the ops alone, not from the planner's data, so it shows what the program
// does.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "dialect/cpurt/Dialect.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace hlo;

namespace {
struct Buffer {
  cpurt::ArenaOp op;
  unsigned first = ~0u, last = 0;
};

struct Report {
  std::vector<Buffer> buffers;
  DenseMap<Value, unsigned> indices;
  std::vector<std::string> steps; ///< the op of each step
};
} // namespace

static void touch(Report &report, Value pointer, unsigned first, unsigned last) {
  auto it = report.indices.find(pointer);
  if (it != report.indices.end()) {
    Buffer &buffer = report.buffers[it->second];
    buffer.first = std::min(buffer.first, first);
    buffer.last = std::max(buffer.last, last);
  }
}

/// Numbers the steps of a block and records which buffers they use.
static void walk(Block &block, Report &report) {
  for (Operation &op : block) {
    unsigned begin = report.steps.size();
    if (auto launch = dyn_cast<cpurt::LaunchOp>(op)) {
      report.steps.push_back(launch.getKernel().str());
    } else if (auto call = dyn_cast<cpurt::CallOp>(op)) {
      report.steps.push_back(call.getKind().str());
    } else if (isa<cpurt::CopyOp, cpurt::RandomStateOp>(op)) {
      report.steps.push_back(op.getName().stripDialect().str());
    }
    for (Region &region : op.getRegions()) {
      if (!region.empty()) {
        walk(region.front(), report);
      }
    }
    unsigned end = std::max<unsigned>(report.steps.size(), begin + 1) - 1;
    for (Value operand : op.getOperands()) {
      touch(report, operand, begin, begin);
    }
    if (!isa<cpurt::WhileOp>(op)) {
      continue;
    }
    // A buffer that is live before or after the loop is live throughout it; one used only inside
    // may be carried from one iteration to the next.
    llvm::SmallDenseSet<Value> used;
    op.walk([&](Operation *inner) { used.insert(inner->operand_begin(), inner->operand_end()); });
    for (Value value : used) {
      auto it = report.indices.find(value);
      if (it != report.indices.end() && llvm::any_of(value.getUsers(), [&](Operation *user) {
            return !op.isProperAncestor(user);
          })) {
        touch(report, value, begin, end);
      }
    }
  }
}

static std::string nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    return "%" + name.getName().str();
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      std::string name = nameOf(part);
      if (name != "?") {
        return name;
      }
    }
  }
  return "?";
}

/// Reports guests: scratch in the buffers of results.
static void reportGuests(cpurt::EntryOp entry, llvm::raw_ostream &os) {
  bool isFirst = true;
  for (auto output : entry.getOps<cpurt::OutputOp>()) {
    if (std::optional<uint64_t> offset = output.getOffset()) {
      os << (isFirst ? "scratch in results\n      result       offset  value\n" : "")
         << llvm::format("%12lld %12lld  ", (long long)output.getIndex(), (long long)*offset)
         << nameOf(output.getLoc()) << '\n';
      isFirst = false;
    }
  }
}

/// Reports the contents of the prepared block.
static void reportBlock(ModuleOp planned, cpurt::EntryOp prepare, llvm::raw_ostream &os) {
  SmallVector<cpurt::PreparedOp> slices(prepare.getOps<cpurt::PreparedOp>());
  llvm::sort(slices, [](cpurt::PreparedOp a, cpurt::PreparedOp b) {
    return a.getOffset() < b.getOffset();
  });
  auto bytes = planned->getAttrOfType<IntegerAttr>(kPreparedBytes);
  os << "prepared block " << (bytes ? bytes.getInt() : 0) << " bytes, " << slices.size()
     << " arrays\n      offset        bytes  value\n";
  for (cpurt::PreparedOp slice : slices) {
    os << llvm::format("%12lld %12lld  ", (long long)slice.getOffset(), (long long)slice.getBytes())
       << nameOf(slice.getLoc()) << '\n';
  }
}

std::string hlo::memoryReport(ModuleOp planned) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto entry : planned.getOps<cpurt::EntryOp>()) {
    Report report;
    for (auto arena : entry.getOps<cpurt::ArenaOp>()) {
      report.indices[arena] = report.buffers.size();
      report.buffers.push_back({arena});
    }
    walk(entry.getBody().front(), report);

    std::vector<int64_t> change(report.steps.size() + 2, 0);
    for (Buffer &buffer : report.buffers) {
      if (buffer.first != ~0u) {
        change[buffer.first] += buffer.op.getBytes();
        change[buffer.last + 1] -= buffer.op.getBytes();
      }
    }
    int64_t live = 0, peak = 0;
    size_t peakStep = 0;
    for (size_t step = 0; step < report.steps.size(); ++step) {
      live += change[step];
      if (live > peak) {
        peak = live;
        peakStep = step;
      }
    }
    os << (entry.getPrepare() ? "prepare: " : "") << "arena " << entry.getArenaBytes() << " bytes, "
       << report.buffers.size() << " buffers";
    if (peak) {
      os << ", " << peak << " in use at step " << peakStep << " (" << report.steps[peakStep] << ")";
    }
    os << "\n      offset        bytes  first   last  value\n";
    for (Buffer &buffer : report.buffers) {
      bool isUsed = buffer.first != ~0u;
      bool atPeak = isUsed && buffer.first <= peakStep && peakStep <= buffer.last;
      os << llvm::format("%12lld %12lld %6u %6u  ", (long long)buffer.op.getOffset(),
                         (long long)buffer.op.getBytes(), isUsed ? buffer.first : 0, buffer.last)
         << nameOf(buffer.op.getLoc()) << (atPeak && peak ? "  (peak)" : "") << '\n';
    }
    reportGuests(entry, os);
    if (entry.getPrepare()) {
      reportBlock(planned, entry, os);
    }
  }
  return text;
}
