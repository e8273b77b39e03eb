//===- Tools.h - The programs in the one binary -----------------*- C++ -*-===//
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

namespace hlo::tool {

// Each is the main function of a program: takes its arguments, returns its exit code.
int compileMain(int argc, char **argv);
int runMain(int argc, char **argv);
int optMain(int argc, char **argv);

} // namespace hlo::tool

#endif
