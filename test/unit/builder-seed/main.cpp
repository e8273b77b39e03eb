//===- main.cpp - Tests of the table, or its page -------------------------===//
//
//   unit-builder-seed [FLAGS OF GOOGLETEST]   runs the rows
//   unit-builder-seed --page=FILE             runs them and writes the page's part on rows
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"
#include <cstdio>
#include <fstream>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i], flag = "--page=";
    if (argument.compare(0, flag.size(), flag) != 0) {
      std::fprintf(stderr, "unknown argument %s\n", argv[i]);
      return 2;
    }
    std::ofstream(argument.substr(flag.size())) << seed::page();
  }
  return status;
}
