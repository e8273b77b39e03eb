//===- Main.cpp - hlo-run-amx ---------------------------------------------===//
//
// hlo-run, linked with the emulator.
//
//===----------------------------------------------------------------------===//
#include "tools/Tools.h"

int main(int argc, char **argv) { return hlo::tool::runMain(argc, argv); }
