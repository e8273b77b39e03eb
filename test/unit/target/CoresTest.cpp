//===- CoresTest.cpp - Rows of x86-64 beside LLVM's scheduling models -----===//
//
// (test/aarch64/rows.test has those of aarch64.) LLVM's models of cores are another source of what
// starts in a cycle and of latencies. This test computes the figures of each row from them and
// compares. A difference has to be listed here with the reason why the row is right; a listed
// difference that has gone has to be removed.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Target.h"
#include "compiler/machine/x86/Cpus.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include <gtest/gtest.h>

using namespace hlo;

namespace {
/// LLVM's scheduling model of a CPU.
class Model {
public:
  Model(llvm::StringRef triple, llvm::StringRef cpu) {
    initializeTargets();
    std::string error;
    llvm::Triple parsed(triple);
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(parsed, error);
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(parsed, cpu, ""));
  }

  /// Instructions that start in a cycle.
  double rate(llvm::StringRef instruction) const {
    return 1 / llvm::MCSchedModel::getReciprocalThroughput(*subtarget, classOf(instruction));
  }

  /// Cycles from the arrival of an addend to the sum of an instruction, whose addend is operand
  /// `addend`.
  double latency(llvm::StringRef instruction, unsigned addend) const {
    const llvm::MCSchedClassDesc &desc = classOf(instruction);
    const llvm::MCWriteLatencyEntry *write = subtarget->getWriteLatencyEntry(&desc, 0);
    // Uses are numbered without the definition.
    return write->Cycles -
           subtarget->getReadAdvanceCycles(&desc, addend - 1, write->WriteResourceID);
  }

private:
  const llvm::MCSchedClassDesc &classOf(llvm::StringRef instruction) const {
    for (unsigned opcode = 0; opcode < instructions->getNumOpcodes(); ++opcode) {
      if (instructions->getName(opcode) == instruction) {
        return *subtarget->getSchedModel().getSchedClassDesc(
            instructions->get(opcode).getSchedClass());
      }
    }
    llvm::report_fatal_error("no instruction " + instruction);
  }

  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

/// A figure of some CPUs that differs from LLVM's model, and why.
struct Difference {
  llvm::StringRef figure; ///< "load64": of registers of 64 bytes
  llvm::SmallVector<llvm::StringRef> cpus;
  const char *why;
};

/// Compares figures with LLVM's, and checks that every listed difference occurs.
class Comparison {
public:
  explicit Comparison(std::vector<Difference> known) : known(std::move(known)) {}
  ~Comparison() {
    for (const Difference &difference : known) {
      for (llvm::StringRef cpu : difference.cpus) {
        EXPECT_TRUE(met.contains((cpu + " " + difference.figure).str()))
            << cpu.str() << " " << difference.figure.str()
            << " is as in LLVM's model, but listed: " << difference.why;
      }
    }
  }

  /// Near is within a tenth.
  void compare(llvm::StringRef cpu, const std::string &figure, double ours, double llvms) {
    if (std::abs(ours - llvms) <= 0.1 * llvms) {
      return;
    }
    bool listed = false;
    for (const Difference &difference : known) {
      if (difference.figure == figure && llvm::is_contained(difference.cpus, cpu)) {
        listed = true;
        met.insert((cpu + " " + difference.figure).str());
      }
    }
    EXPECT_TRUE(listed) << cpu.str() << " " << figure << " is " << ours << ", LLVM's model has "
                        << llvms;
  }

private:
  std::vector<Difference> known;
  llvm::StringSet<> met;
};

/// LLVM's model of these is that of Golden Cove in clients.
const llvm::SmallVector<llvm::StringRef> kGoldenCoveServers{
    "sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids"};
const char *const kMeasured =
    "measured, test/performance/NOTES.md, \"Cores\"; the model is Zen 4's";

TEST(Cores, X86) {
  Comparison comparison({
      {"fma64",
       {"icelake-server"},
       "servers multiply and add in port 5 too; the model is that of clients"},
      {"fma64", kGoldenCoveServers, "the same"},
      {"multiply64", kGoldenCoveServers, "the same"},
      {"multiply64",
       {"icelake-client", "tigerlake", "rocketlake"},
       "port 5 multiplies in servers only; the model has servers here"},
      {"load64", kGoldenCoveServers, "the third port loads up to 32 bytes"},
      {"store64", kGoldenCoveServers, "L1 takes 64 bytes a cycle"},
      {"store64",
       {"icelake-client", "icelake-server", "tigerlake", "rocketlake"},
       "L1 takes 64 bytes a cycle"},
      {"vector64", {"znver5"}, kMeasured},
      {"load32",
       {"znver1", "znver2"},
       "two loads of 16 and 32 bytes; the model counts what computes addresses"},
      {"store32", {"znver1", "znver2"}, "one store of 16 and 32 bytes; the same"},
      {"load64", {"znver4"}, "in halves of 32 bytes: AMD's guide 57647, \"Load-Store Unit\""},
      {"store64", {"znver4"}, "the same"},
      {"fma64", {"znver5"}, kMeasured},
      {"shuffle32", {"znver5"}, kMeasured},
      {"shuffle64", {"znver5"}, kMeasured},
      {"multiply64", {"znver5"}, kMeasured},
      {"store32", {"znver5"}, kMeasured},
      {"integer32", {"znver5"}, kMeasured},
      {"integer64", {"znver5"}, kMeasured},
      {"latency32", {"x86-64-v3"}, "4 in most CPUs of the level; the model is Haswell's"},
  });
  for (const x86::Cpu &cpu : x86::cpus()) {
    Model model("x86_64-unknown-linux-gnu", cpu.name);
    int widest = llvm::cantFail(describeTarget(cpu.name)).machine.vectors.bytes;
    for (int bytes = 32; bytes <= widest; bytes *= 2) {
      const char *features = bytes < widest ? "+prefer-256-bit" : "";
      Machine machine = llvm::cantFail(describeTarget(cpu.name, features)).machine;
      ASSERT_EQ(machine.vectors.bytes, bytes) << cpu.name.str();
      std::string kind = bytes == 64 ? "Z" : "Y";
      auto compare = [&](const char *figure, double ours, double llvms) {
        comparison.compare(cpu.name, figure + std::to_string(bytes), ours, llvms);
      };
      compare("fma", machine.issue.fma, model.rate("VFMADD231PS" + kind + "r"));
      compare("latency", machine.issue.fmaLatency, model.latency("VFMADD231PS" + kind + "r", 1));
      compare("load", machine.issue.load, model.rate("VMOVUPS" + kind + "rm"));
      compare("store", machine.issue.store, model.rate("VMOVUPS" + kind + "mr"));
      compare("shuffle", machine.issue.shuffle, model.rate("VPERMPS" + kind + "rr"));
      compare("vector", machine.issue.vector, model.rate(bytes == 64 ? "VPANDDZrr" : "VPANDYrr"));
      compare("multiply", machine.issue.fma / machine.issue.integerMultiplyAdd,
              model.rate("VPMULLD" + kind + "rr"));
      compare("integer", machine.issue.integer, model.rate("ADD64rr"));
    }
  }
}
} // namespace
