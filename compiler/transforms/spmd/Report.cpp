//===- Report.cpp - What --spmd-report prints -----------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/TripCount.h"
#include "compiler/transforms/spmd/Emitter.h"
#include "compiler/transforms/spmd/Spmd.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace hlo;

void hlo::reportCommunication(ModuleOp module, PartitionReport *report) {
  DenseMap<StringAttr, ComputationOp> byName;
  std::vector<std::pair<ComputationOp, int64_t>> computations;
  for (auto computation : module.getOps<ComputationOp>()) {
    byName[computation.getSymNameAttr()] = computation;
    if (computation.getEntry()) {
      computations.emplace_back(computation, 1);
    }
  }
  for (size_t i = 0; i < computations.size(); ++i) {
    auto [computation, executions] = computations[i];
    for (Operation &op : computation.getBody().front()) {
      int64_t times = executions;
      if (auto loop = dyn_cast<WhileOp>(op)) {
        std::optional<TripCount> trips =
            computeTripCount(loop, byName.lookup(loop.getConditionAttr().getAttr()),
                             byName.lookup(loop.getBodyAttr().getAttr()));
        times *= trips ? trips->count : 1;
      }
      if (isa<WhileOp, ConditionalOp>(op)) {
        forEachCallee(&op, [&](FlatSymbolRefAttr name) {
          computations.emplace_back(byName.lookup(name.getAttr()), times);
        });
      }
      auto why = op.getAttrOfType<StringAttr>(spmd::kWhy);
      if (!why) {
        continue;
      }
      std::string place;
      if (auto found = op.getLoc()->findInstanceOf<FileLineColLoc>()) {
        place = (found.getFilename().getValue() + ":" + Twine(found.getLine()) + ":" +
                 Twine(found.getColumn()))
                    .str();
      }
      if (report) {
        StringRef opcode = op.getName().stripDialect();
        std::string kind = opcode.str();
        std::replace(kind.begin(), kind.end(), '_', '-');
        report->communications.push_back({kind, place, why.getValue().str(),
                                          op.getAttrOfType<IntegerAttr>(spmd::kBytes).getInt(),
                                          executions});
      }
      op.removeAttr(spmd::kWhy);
      op.removeAttr(spmd::kBytes);
    }
  }
}

std::string hlo::describePartition(const PartitionReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (report.partitions < 2) {
    return text;
  }
  os << "partitions: " << report.partitions;
  if (!report.mesh.empty()) {
    os << ", mesh " << report.mesh;
  }
  os << '\n';
  for (auto [i, sharding] : llvm::enumerate(report.parameters)) {
    os << "parameter " << i << ": " << sharding << '\n';
  }
  for (auto [i, sharding] : llvm::enumerate(report.results)) {
    os << "result " << i << ": " << sharding << '\n';
  }
  struct Sum {
    int64_t ops = 0, executions = 0;
    double bytes = 0;
  };
  std::map<std::string, Sum> kinds;
  double total = 0;
  for (const CommunicationLine &line : report.communications) {
    double bytes = static_cast<double>(line.bytes) * static_cast<double>(line.executions);
    os << line.place << ": " << line.kind << ", " << line.bytes << " bytes";
    if (line.executions != 1) {
      os << " x " << line.executions;
    }
    os << ": " << line.why << '\n';
    Sum &sum = kinds[line.kind];
    ++sum.ops;
    sum.executions += line.executions;
    sum.bytes += bytes;
    total += bytes;
  }
  for (const std::string &line : report.replicated) {
    os << line << '\n';
  }
  for (const auto &[kind, sum] : kinds) {
    os << llvm::formatv("{0}: {1} ops, {2} executions, {3:f0} bytes sent by a rank\n", kind,
                        sum.ops, sum.executions, sum.bytes);
  }
  os << llvm::formatv("sum: {0:f0} bytes sent by a rank\n", total);
  return text;
}
