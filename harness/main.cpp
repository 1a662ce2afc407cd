#include "evaluators/workers.h"
#include "harness/cli.h"

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  return winnow::harness::run_cli(std::vector<std::string>(argv + 1, argv + argc));
}
