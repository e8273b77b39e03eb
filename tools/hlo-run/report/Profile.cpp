//===- Profile.cpp - Where the time of runs goes --------------------------===//
//
// In: hlo_call.profile after some runs, and the module's table of operations. Out: for each
// operation that took time its share, calls, rates, and its place in the text and in the source
// program.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/report/Profile.h"
#include "compiler/support/SourceExcerpt.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace llvm;
using namespace hlo::run;

namespace {
/// Indices of operations that took time, slowest first.
std::vector<uint32_t> sorted(const Profile &profile) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < profile.operations.size(); ++i) {
    if (profile.operations[i].ns) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return profile.operations[a].ns > profile.operations[b].ns;
  });
  return order;
}

double sumOf(const Profile &profile) {
  double sum = 0;
  for (const hlo_profile &one : profile.operations) {
    sum += static_cast<double>(one.ns) * 1e-9;
  }
  return sum;
}

/// "line 12, train.py:34 jit(step)/dot_general"
std::string placeOf(const hlo_op_desc &op) {
  std::string text;
  if (op.line) {
    text += (op.file ? op.file + std::string(":") : "line ") + std::to_string(op.line);
  }
  if (op.source_file) {
    text += (text.empty() ? "" : ", ") + std::string(op.source_file) + ":" +
            std::to_string(op.source_line);
  }
  if (op.op_name) {
    text += (text.empty() ? "" : " ") + std::string(op.op_name);
  }
  return hlo::printable(text);
}

/// Work per nanosecond, which is billions per second; blank if the work is unknown.
std::string rate(uint64_t work, uint64_t calls, uint64_t ns) {
  std::string text;
  if (work && calls) {
    raw_string_ostream(text) << format(
        "%.1f", static_cast<double>(work) * static_cast<double>(calls) / static_cast<double>(ns));
  }
  return text;
}
} // namespace

void hlo::run::printProfile(raw_ostream &os, const hlo_module_desc &desc, const Profile &profile) {
  double runs = static_cast<double>(std::max<uint64_t>(profile.runs, 1));
  os << "profile of " << profile.runs << (profile.runs == 1 ? " run" : " runs") << ":\n";
  os << "   ms/run      %    calls/run  us/call  GFLOP/s     GB/s  operation\n";
  for (uint32_t i : sorted(profile)) {
    const hlo_profile &cost = profile.operations[i];
    const hlo_op_desc &op = *hlo_op_at(&desc, i);
    double ns = static_cast<double>(cost.ns), calls = static_cast<double>(cost.calls);
    os << format("%9.4f %6.1f %12.1f %8.2f ", ns * 1e-6 / runs,
                 100 * ns * 1e-9 / std::max(profile.seconds, 1e-12), calls / runs,
                 calls > 0 ? ns * 1e-3 / calls : 0)
       << format("%8s ", rate(op.flops, cost.calls, cost.ns).c_str())
       << format("%8s ", rate(cost.bytes, 1, cost.ns).c_str()) << " " << hlo::printable(op.name);
    if (StringRef(op.kind) != op.name) {
      os << " (" << hlo::printable(op.kind) << ")";
    }
    std::string place = placeOf(op);
    os << (place.empty() ? "" : "  ") << place << "\n";
  }
  double sum = sumOf(profile);
  os << format("%9.4f %6.1f", sum * 1e3 / runs, 100 * sum / std::max(profile.seconds, 1e-12))
     << " of " << format("%.4f ms a run\n", profile.seconds * 1e3 / runs);
}

json::Object hlo::run::profileJson(const hlo_module_desc &desc, const Profile &profile) {
  json::Array operations;
  auto text = [](const char *value) {
    return value ? json::Value(json::fixUTF8(value)) : json::Value(nullptr);
  };
  for (uint32_t i : sorted(profile)) {
    const hlo_profile &cost = profile.operations[i];
    const hlo_op_desc &op = *hlo_op_at(&desc, i);
    operations.push_back(json::Object{{"name", text(op.name)},
                                      {"kind", text(op.kind)},
                                      {"file", text(op.file)},
                                      {"line", op.line},
                                      {"op_name", text(op.op_name)},
                                      {"source_file", text(op.source_file)},
                                      {"source_line", op.source_line},
                                      {"flops", static_cast<int64_t>(op.flops)},
                                      {"calls", static_cast<int64_t>(cost.calls)},
                                      {"ns", static_cast<int64_t>(cost.ns)},
                                      {"bytes", static_cast<int64_t>(cost.bytes)}});
  }
  return json::Object{{"runs", static_cast<int64_t>(profile.runs)},
                      {"seconds", profile.seconds},
                      {"operations_s", sumOf(profile)},
                      {"operations", std::move(operations)}};
}
