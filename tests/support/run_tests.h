#pragma once

#include <cstdio>

#include <gtest/gtest.h>

namespace winnow::test {

/// Runs the tests. A hidden subcommand that the program does not have must not run them, because
/// the code under test would start the program again without end.
inline int run_tests(int argc, char** argv) {
  constexpr int kUnknownSubcommand = 2;
  if (argc > 1 && argv[1][0] == '_') {
    std::fprintf(stderr, "this test program has no hidden subcommand '%s'\n", argv[1]);
    return kUnknownSubcommand;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

} // namespace winnow::test
