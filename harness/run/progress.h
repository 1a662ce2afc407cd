#pragma once

#include "harness/run/budget.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

namespace winnow::harness {

/// Where a run stands.
struct ProgressSnapshot {
  std::int64_t calls_planned =
      0; ///< what the strategy wants in all, or the limit on calls if lower
  std::int64_t in_flight = 0;
  std::int64_t judging = 0;
  std::map<std::string, std::int64_t> verdicts; ///< of the models' candidates
  std::map<std::string, double> best_speedup;   ///< by task; correct candidates only
  Spend spend;
  Limits limits;
  std::chrono::milliseconds elapsed{0};
  agents::EndpointHealth endpoint = {};
};

/// "12/36 calls, 2 in flight, 1 judging | about 8 min 20 s left | best 3.10x gemm_f32 | $0.12 of $5
/// | 7 correct, 3 wrong", and before it "endpoint down: 5 failures in a row, ..." when it is not
/// well. A part that does not fit is left out.
std::string status_line(const ProgressSnapshot& snapshot, std::size_t columns = std::string::npos);

/// On a terminal: one line that is redrawn, with what matters scrolling above it. Elsewhere: a line
/// for each event. One thread.
class Progress {
public:
  Progress(std::ostream& out, bool terminal, std::size_t columns)
      : out_(out), terminal_(terminal), columns_(columns) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete; // two would draw over each other
  Progress& operator=(const Progress&) = delete;

  enum class Weight : std::uint8_t { Routine, Important };
  /// On a terminal, routine events only move the status line.
  void event(const std::string& line, Weight weight = Weight::Routine);
  void update(const ProgressSnapshot& snapshot);
  /// Removes the status line; later events print as lines.
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
