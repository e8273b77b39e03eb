//===- CostsTest.cpp - The model of time ----------------------------------===//
#include "compiler/machine/Costs.h"
#include <gtest/gtest.h>

using namespace hlo;

namespace {
/// A machine whose figures are easy to tell apart.
Machine simple() {
  Machine machine;
  machine.issue.fma = 2;
  machine.issue.load = 4;
  machine.issue.store = 1;
  machine.issue.shuffle = 0.5;
  machine.issue.integer = 8;
  machine.issue.fmaLatency = 5;
  machine.memory.l1 = 100;
  machine.memory.l2 = 1000;
  machine.memory.l3 = 10000;
  machine.memory.bytesPerCycle = {0, 16, 8, 2};
  machine.memory.unhiddenFill = 0.25;
  return machine;
}

TEST(Costs, TheBusiestPortDecides) {
  Machine machine = simple();
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.multiplyAdds = 8}), 4);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.multiplyAdds = 8, .loads = 20}), 5);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.multiplyAdds = 8, .stores = 6}), 6);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.multiplyAdds = 8, .shuffles = 4}), 8);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.multiplyAdds = 8, .integers = 72}), 9);
}

TEST(Costs, AChainTakesTheLatencyOfItsMultiplyAdds) {
  EXPECT_DOUBLE_EQ(cyclesOfTrip(simple(), {.multiplyAdds = 8, .chain = 1}), 5);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(simple(), {.multiplyAdds = 8, .chain = 0.5}), 4);
}

TEST(Costs, BytesComeFromTheirLevel) {
  Machine machine = simple();
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.loads = 4, .bytes = 64, .level = Level::L1}), 1);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.loads = 4, .bytes = 64, .level = Level::L2}), 4);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.loads = 4, .bytes = 64, .level = Level::L3}), 8);
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, {.loads = 4, .bytes = 64, .level = Level::Memory}), 32);
}

TEST(Costs, PagesCountBehindL2Only) {
  Machine machine = simple();
  LoopBody body{.loads = 4, .pages = 1};
  body.level = Level::L2;
  EXPECT_DOUBLE_EQ(cyclesOfTrip(machine, body), 1);
  body.level = Level::L3;
  EXPECT_GT(cyclesOfTrip(machine, body), 10);
}

TEST(Costs, TheStartIsSharedByTheTrips) {
  LoopBody body{.multiplyAdds = 2, .fills = 4, .extra = 0.5, .start = 30, .trips = 10};
  EXPECT_DOUBLE_EQ(cyclesOfTrip(simple(), body), 1 + 1 + 0.5 + 3);
  EXPECT_DOUBLE_EQ(cyclesOfLoop(simple(), body), 55);
}

TEST(Costs, ALevelHoldsWhatFits) {
  Machine machine = simple();
  EXPECT_EQ(levelOf(machine, 100), Level::L1);
  EXPECT_EQ(levelOf(machine, 101), Level::L2);
  EXPECT_EQ(levelOf(machine, 10000), Level::L3);
  EXPECT_EQ(levelOf(machine, 10001), Level::Memory);
}
} // namespace
