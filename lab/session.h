#pragma once

#include "lab/landscape.h"
#include "search/policy.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::lab {

/// Where a session ends; 0: no limit of that kind. At least one limit is set.
struct Limits {
  std::size_t calls = 0;
  double dollars = 0;        ///< no call begins whose price would exceed this
  double device_seconds = 0; ///< no call and no evaluation begins after so many seconds
};

struct Machine {
  int parallel = 4; ///< calls in flight at most
  int devices = 1;
};

/// What a session has spent on its first calls, and reached with them.
struct CurvePoint {
  std::size_t calls = 0; ///< in the order of their decisions; their kernels are judged and tuned
  double dollars = 0;    ///< of these calls
  double device_seconds = 0; ///< of the baseline, and of these calls' evaluations and tuning
  double seconds = 0;        ///< virtual time at which the last of their kernels was judged
  /// The true log speedup of the best kernel that the search has promoted; at least 0, because the
  /// kernel to beat remains.
  double best = 0;
  double hidden = 0; ///< of that kernel, at hidden shapes
};

/// A call as a store would know it.
struct ModelCall {
  std::string key;
  std::string model;
  double dollars = 0;
  double seconds = 0;
};

struct SessionResult {
  std::vector<CurvePoint> curve; ///< begins with nothing spent
  std::string why_done;          ///< Search::why_done()
  std::vector<search::Event> events;
  std::vector<ModelCall> calls;
  search::Settings settings; ///< of the search
};

struct SessionPlan {
  Limits limits;
  Machine machine;
  /// The task, the number of calls, the models and the baseline come from the landscape and the
  /// limits.
  search::Settings settings;
  bool keeps_events = false;
};

/// A discrete-event simulation of one search on one simulated task: calls have a latency, devices
/// judge one kernel at a time, and the search decides when an event has come, as in a run. Equal
/// arguments give equal results.
SessionResult simulate(const Landscape& landscape, const search::Policy& policy,
                       const SessionPlan& plan, std::uint64_t seed);

/// Which of the curve's currencies is the horizontal axis.
enum class Axis : std::uint8_t { Calls, Dollars, DeviceSeconds };

/// The mean of the best log speedup while the axis goes from 0 to `budget`. After its last point a
/// curve stays level. `budget` is positive.
double mean_height(const std::vector<CurvePoint>& curve, Axis axis, double budget);

/// What a call costs on average: the budget of so many calls in the other currencies. Tuning is
/// not included.
Limits usual_price(const Landscape& landscape, std::size_t calls);

} // namespace winnow::lab
