// The main() of test programs that start no children of their own. Code under test may start its
// program again as one of Winnow's workers: that must not run the tests, which would start it
// again.
#include <cstdio>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '_') {
    std::fprintf(
        stderr,
        "this test program has no hidden subcommand '%s': link winnow_test_evaluators_main\n",
        argv[1]);
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
