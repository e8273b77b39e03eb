//===- ProgramTest.cpp - Loading and calling an object --------------------===//
//
// Links SampleModule.c's object into the test and calls it as hlo-run would: results,
// threads, an input that the run overwrites, errors, deadline.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Program.h"
#include "tools/hlo-run/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace llvm;
using namespace hlo::run;

namespace {
class ProgramTest : public testing::Test {
protected:
  void SetUp() override {
    auto file = MemoryBuffer::getFile(SAMPLE_OBJECT);
    ASSERT_TRUE(bool(file));
    Expected<hlo::LoadedObject> loaded = hlo::LoadedObject::load((*file)->getBuffer(), "sample");
    ASSERT_TRUE(bool(loaded)) << toString(loaded.takeError());
    object.emplace(std::move(*loaded));
  }

  /// A program whose inputs are i / 100 and `what`.
  Program make(uint32_t threads, int32_t what) {
    Expected<Program> program = Program::create(object->describe(), threads);
    EXPECT_TRUE(bool(program));
    for (int i = 0; i < 1000; ++i) {
      float value = static_cast<float>(i) / 100;
      std::memcpy(program->input(0) + 4 * i, &value, 4);
    }
    std::memcpy(program->input(1), &what, 4);
    EXPECT_FALSE(program->keepInputs());
    return std::move(*program);
  }

  static std::pair<int, std::string> errorOf(Error error) {
    std::pair<int, std::string> result;
    handleAllErrors(std::move(error),
                    [&](const RunError &e) { result = {e.getExitCode(), e.getText()}; });
    return result;
  }

  std::optional<hlo::LoadedObject> object;
};

TEST_F(ProgramTest, RunsRepeatedlyOnTheSameInputs) {
  for (uint32_t threads : {1u, 3u}) {
    Program program = make(threads, 0);
    for (int round = 0; round < 3; ++round) {
      Expected<double> seconds = program.run();
      ASSERT_TRUE(bool(seconds)) << toString(seconds.takeError());
      EXPECT_GE(*seconds, 0);
    }
    EXPECT_EQ(program.output(0), program.input(0)) << "the alias is used";
    for (int i = 0; i < 1000; ++i) {
      float result;
      std::memcpy(&result, program.output(0) + 4 * i, 4);
      ASSERT_FLOAT_EQ(result, 0.5F * (static_cast<float>(i) / 100) + static_cast<float>(i % 4 + 1));
    }
    int32_t used;
    std::memcpy(&used, program.output(1), 4);
    EXPECT_EQ(used, static_cast<int32_t>(threads));
    Expected<Timing> timing = program.bench(0.01);
    ASSERT_TRUE(bool(timing));
    EXPECT_GE(timing->runs, 3u);
    EXPECT_LE(timing->min, timing->median);
  }
}

TEST_F(ProgramTest, ErrorsCarryStatusAndMessage) {
  Program program = make(1, 1);
  EXPECT_EQ(errorOf(program.run().takeError()),
            std::make_pair(int(ExitRun), std::string("HLO_OUT_OF_RANGE: sample: told to fail")));
}

TEST_F(ProgramTest, DeadlinesEndARun) {
  Program program = make(2, 2);
  program.setDeadline(1);
  EXPECT_EQ(errorOf(program.run().takeError()),
            std::make_pair(int(ExitTimeout), std::string("HLO_DEADLINE: sample: deadline passed")));
}

TEST(Load, WhatIsNoObjectIsAnError) {
  Expected<hlo::LoadedObject> loaded = hlo::LoadedObject::load("not an object", "x");
  ASSERT_FALSE(bool(loaded));
  EXPECT_NE(toString(loaded.takeError()), "");
}

TEST(Load, WithoutAPrefixItIsTheOnlyModule) {
  auto file = MemoryBuffer::getFile(SAMPLE_OBJECT);
  ASSERT_TRUE(bool(file));
  Expected<hlo::LoadedObject> loaded = hlo::LoadedObject::load((*file)->getBuffer(), "");
  ASSERT_TRUE(bool(loaded));
  EXPECT_STREQ(loaded->describe().name, "sample");
  Expected<hlo::LoadedObject> other = hlo::LoadedObject::load((*file)->getBuffer(), "other");
  ASSERT_FALSE(bool(other));
  EXPECT_EQ(toString(other.takeError()), "it has no other_describe");
}
} // namespace
