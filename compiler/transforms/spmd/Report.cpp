//===- Report.cpp - What --spmd-report prints -----------------------------===//
#include "compiler/transforms/spmd/Spmd.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace hlo;

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
