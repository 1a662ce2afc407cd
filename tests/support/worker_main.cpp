#include "tests/support/worker_main.h"

#include "process/escape_attempts.h"
#include "process/sandbox.h"
#include "process/session_fence.h"

#include <cstdio>
#include <exception>

#include <gtest/gtest.h>

namespace winnow::test {
namespace {

/// An unknown hidden subcommand must not run the tests, because they would start it again without
/// end.
constexpr int kUnknownSubcommand = 2;

int run_hidden(std::string_view name, std::vector<std::string> arguments) {
  if (name == "_probe") {
    return process::probe_worker_main(std::move(arguments));
  }
  if (name == "_escape") {
    return process::escape_worker_main(std::move(arguments));
  }
  if (name == "_exec") {
    return process::exec_worker_main(std::move(arguments));
  }
  for (const HiddenSubcommand& subcommand : hidden_subcommands()) {
    if (subcommand.name == name) {
      return subcommand.run(std::move(arguments));
    }
  }
  std::fprintf(stderr, "this test program has no hidden subcommand '%s'\n",
               std::string(name).c_str());
  return kUnknownSubcommand;
}

} // namespace
} // namespace winnow::test

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '_') {
    try {
      return winnow::test::run_hidden(argv[1], std::vector<std::string>(argv + 2, argv + argc));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
      return 1;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
