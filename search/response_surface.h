#pragma once

#include "search/trial.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::search {

/// A choice with its speed: the default's time / its time. 0: no such choice was timed.
struct Response {
  tasks::ParameterChoice choice;
  double speed = 0;
};

/// The best and the worst choice among those timed, and the default beside them.
struct Extremes {
  Response best, usual, worst;
};

/// How much one parameter matters. The effect of a value is the mean of log(speed) over the timed
/// choices that have the value, whatever their other parameters are. So the effects of two
/// parameters mix if the trials combine their values unevenly.
struct ParameterEffect {
  std::string name;
  /// The ratio between the fastest and the slowest value; 1: fewer than two values were timed.
  double ratio = 1;
  std::int64_t fastest = 0, slowest = 0;
  std::vector<std::int64_t> best_by_shape; ///< the fastest value at each shape
  bool best_differs = false;               ///< between shapes
  /// The geometric mean over the shapes of how much faster the shape's best value is than
  /// `fastest`.
  double gain_by_shape = 1;
};
WINNOW_FIELDS(ParameterEffect, name, ratio, fastest, slowest, best_by_shape, best_differs,
              gain_by_shape)

/// How the speed of a family depends on its parameters.
struct ResponseSurface {
  std::vector<std::string> shapes;
  int tried = 0;
  int timed = 0;
  std::map<tasks::Verdict, int> failed; ///< number of choices, by verdict
  Extremes overall;                     ///< geometric mean over the shapes
  std::vector<Extremes> by_shape;
  std::vector<ParameterEffect> effects; ///< the largest first
};

/// The first trial is the default. A choice that failed does not count as timed. `shapes` names the
/// shapes of Trial::speeds, for instance "n=50000017".
ResponseSurface response_surface(const std::vector<Trial>& trials, std::vector<std::string> shapes);

/// At most 12 lines for a prompt or a person, of at most about 400 bytes each:
///   BLOCK matters most (1.60x between 256 and 64), VEC little (1.02x)
///   best overall BLOCK=256 VEC=4: 1.21x the default; worst BLOCK=64 VEC=1: 0.71x
/// Parameters that never varied among the timed choices are not named.
std::vector<std::string> surface_lines(const ResponseSurface& surface);

void to_json(nlohmann::json& json, const ResponseSurface& surface);

} // namespace winnow::search
