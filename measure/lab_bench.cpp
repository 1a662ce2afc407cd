// Simulated calls a second on one core, for each strategy on each landscape that comes with Winnow.
// Prints Markdown. Usage: lab_bench [CALLS], the number of calls of a search (default 24)
#include "base/files.h"
#include "lab/session.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace winnow;

double calls_a_second(const lab::Landscape& landscape, const search::Policy& policy,
                      std::size_t calls) {
  constexpr double kSeconds = 0.5; // of each measurement
  const lab::SessionPlan plan{{calls, 0, 0}, {}, {}, false};
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> taken{0};
  std::size_t simulated = 0;
  for (std::uint64_t seed = 1; taken.count() < kSeconds; ++seed) {
    simulated += simulate(landscape, policy, plan, seed).curve.back().calls;
    taken = std::chrono::steady_clock::now() - start;
  }
  return static_cast<double>(simulated) / taken.count();
}

std::vector<std::filesystem::path> landscape_files() {
  std::vector<std::filesystem::path> files;
  if (const auto folder = find_shipped("configs/landscapes")) {
    for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
      if (entry.path().extension() == ".toml") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

int main(int count, char** arguments) {
  constexpr double kGoal = 1000;
  const std::size_t calls = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 24;
  double slowest = 1e9;
  fmt::print("| landscape | strategy | calls a second |\n|---|---|---|\n");
  for (const auto& file : landscape_files()) {
    const lab::Landscape landscape = lab::read_landscape(file);
    for (const search::Preset& preset : search::presets()) {
      const double speed = calls_a_second(landscape, preset.policy, calls);
      slowest = std::min(slowest, speed);
      fmt::print("| {} | {} | {:.0f} |\n", landscape.name, preset.name, speed);
    }
  }
  fmt::print("\nThe goal, {:.0f} calls a second: {}.\n", kGoal,
             slowest >= kGoal ? "met" : "missed");
  return slowest >= kGoal ? 0 : 1;
}
