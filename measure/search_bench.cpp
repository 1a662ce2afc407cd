// Time of one decision of the archive search, of reading the log of a whole search, and of tuning
// one family; the memory of the program. Usage: search_bench [CANDIDATES]
#include "search/search.h"
#include "search/tuning.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

namespace {

using namespace winnow;
using namespace winnow::search;

double microseconds(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

/// Every fifth reply is wrong; the others are spread over 200 cells and become slowly faster.
Outcome outcome_of(int number) {
  Outcome outcome;
  outcome.verdict = number % 5 == 0 ? tasks::Verdict::Wrong : tasks::Verdict::Correct;
  outcome.promoted = true;
  outcome.speedup = 1 + 0.001 * number;
  outcome.speedup_bounds = {outcome.speedup * 0.99, outcome.speedup * 1.01};
  outcome.cell = fmt::format("cell {}", number % 200);
  outcome.kernel = fmt::format("kernel {}", number);
  return outcome;
}

struct Run {
  std::vector<LogEntry> log;
  std::vector<double> decisions; ///< of calls, in us
};

/// As many as a run has. All fit alike.
Settings settings_of(std::size_t candidates) {
  Settings settings{.task = "axpy", .proposals = candidates};
  for (int i = 0; i < 22; ++i) {
    settings.missions.push_back({fmt::format("mission {}", i), "", i >= 12});
  }
  return settings;
}

Run run(std::size_t candidates, int in_flight) {
  Run run;
  const auto search = make_search("archive", settings_of(candidates));
  const auto apply = [&](const Event& event) {
    search->apply(event);
    run.log.push_back(entry_of(event));
  };
  apply(Added{1, "", 0});
  std::vector<Ask> open;
  CandidateId last = 1;
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    const auto action = search->decide({in_flight - static_cast<int>(open.size())});
    if (action && std::holds_alternative<Ask>(*action)) {
      run.decisions.push_back(microseconds(start));
      open.push_back(std::get<Ask>(*action));
      apply(Decided{*action, {1}});
    } else if (action) {
      const CandidateId candidate = std::get<Evaluate>(*action).candidate;
      apply(Decided{*action, {}});
      apply(Evaluated{candidate,
                      candidate == 1 ? outcome_of(1) : outcome_of(static_cast<int>(candidate))});
    } else if (!open.empty()) {
      apply(Added{++last, open.front().key, 0.01});
      open.erase(open.begin());
    } else {
      return run;
    }
  }
}

/// Decides all heats of a family of two parameters; in us.
double tune(std::int64_t choices) {
  std::vector<tasks::ParameterChoice> all;
  for (std::int64_t i = 0; i < choices; ++i) {
    all.push_back({{"A", i / 8}, {"B", i % 8}});
  }
  const auto start = std::chrono::steady_clock::now();
  Tuning tuning(all, 0);
  while (const auto heat = tuning.next()) {
    tuning.begin(*heat);
    std::vector<Trial> trials;
    for (const tasks::ParameterChoice& choice : heat->choices) {
      const auto speed = static_cast<double>(1 + choice.at("A") + choice.at("B"));
      trials.push_back({choice, tasks::Verdict::NotJudged, "", {speed}});
    }
    tuning.finish(trials, 0);
  }
  return microseconds(start);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

} // namespace

int main(int count, char** arguments) {
  const std::size_t candidates = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 10'000;
  Run made = run(candidates, 8);
  const std::size_t newest = std::min<std::size_t>(made.decisions.size(), 1000);
  std::vector<double> late(made.decisions.end() - static_cast<std::ptrdiff_t>(newest),
                           made.decisions.end());
  std::sort(late.begin(), late.end());
  const auto start = std::chrono::steady_clock::now();
  const auto again = make_search("archive", settings_of(candidates));
  for (const LogEntry& entry : made.log) {
    again->apply(event_of(entry));
  }
  fmt::print(
      "{} calls, 8 in flight; a decision among the last {}: median {:.0f} us, p99 {:.0f} us\n"
      "the log, {} entries, parsed and applied: {:.2f} s\n"
      "tuning of 32 choices: {:.0f} us, of 256: {:.0f} us; peak memory {:.0f} MB\n",
      made.decisions.size(), newest, late[late.size() / 2], late[late.size() * 99 / 100],
      made.log.size(), microseconds(start) / 1e6, tune(32), tune(256), peak_megabytes());
}
