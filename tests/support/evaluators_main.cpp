// The main() of test programs whose code under test starts its own program again as Winnow's
// workers.
#include "evaluators/workers.h"

#include <cstdio>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  if (argc > 1 && argv[1][0] == '_') { // must not run the tests, which would start it again
    std::fprintf(stderr, "there is no hidden subcommand '%s'\n", argv[1]);
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
