#pragma once

#include "harness/run/state/budget.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

namespace winnow::harness {

/// The present state of a run.
struct ProgressSnapshot {
  /// All proposals of the strategy, or the limit on calls if that is lower.
  std::int64_t calls_planned = 0;
  std::int64_t in_flight = 0;
  std::int64_t judging = 0;
  std::map<std::string, std::int64_t> verdicts; ///< verdicts on the models' candidates
  std::map<std::string, double> best_speedup;   ///< by task; correct candidates only
  Spend spend;
  Limits limits;
  std::chrono::milliseconds last_result{0}; ///< `elapsed` when the newest verdict came
  std::chrono::milliseconds elapsed{0};
  agents::EndpointHealth endpoint = {};
};

/// "12/36 calls, 2 in flight, 1 judging | about 8 min 20 s left | best 3.10x gemm_f32 | $0.12 of $5
/// | 7 correct, 3 wrong". If the endpoint has trouble, the line begins with "endpoint down: 5
/// failures in a row, ...". Parts that do not fit into `columns` are left out.
std::string status_line(const ProgressSnapshot& snapshot, std::size_t columns = std::string::npos);

/// On a terminal, shows a status line that is redrawn; important events scroll above it. Elsewhere,
/// prints a line for each event. One thread uses it.
class Progress {
public:
  Progress(std::ostream& out, bool terminal, std::size_t columns)
      : out_(out), terminal_(terminal), columns_(columns) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete; // two objects would draw over each other
  Progress& operator=(const Progress&) = delete;

  enum class Weight : std::uint8_t { Routine, Important };
  /// On a terminal, routine events only update the status line.
  void event(const std::string& line, Weight weight = Weight::Routine);
  void update(const ProgressSnapshot& snapshot);
  /// Replaces the status line.
  void status(const std::string& line);
  /// Removes the status line. Later events are printed as lines.
  void finish();

private:
  void redraw();

  void note_endpoint(const agents::EndpointHealth& health);

  std::ostream& out_;
  bool terminal_;
  std::size_t columns_;
  std::string status_;
  agents::EndpointHealth::State endpoint_ = agents::EndpointHealth::State::Ok;
};

} // namespace winnow::harness
