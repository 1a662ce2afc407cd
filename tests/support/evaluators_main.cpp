// The main() of test programs whose code under test starts its own program again as Winnow's
// workers.
#include "evaluators/workers.h"
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  return winnow::evaluators::is_worker(argc, argv) ? winnow::evaluators::run_worker(argc, argv)
                                                   : winnow::test::run_tests(argc, argv);
}
