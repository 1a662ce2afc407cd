// The main() of test programs whose code under test starts no workers.
#include "tests/support/run_tests.h"

int main(int argc, char** argv) {
  return winnow::test::run_tests(argc, argv);
}
