#pragma once

#include "search/speed_bins.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace winnow::search {

/// Numbers about a candidate by name: "barriers", "registers_per_thread".
using Facts = std::map<std::string, double>;

/// A forecast that asks no model: the speeds that like kernels of the same search had. Each
/// measured kernel counts for its bin with the weight exp(-d^2 / 2). d^2 is the mean over the
/// candidate's facts of the squared difference, in standard deviations of the measured kernels. All
/// measured kernels together count as one more neighbour, and all bins together as one more
/// measured kernel. So without data all bins are equally likely.
class SpeedNeighbours {
public:
  void add(const Facts& facts, std::size_t bin);
  SpeedChances chances(const Facts& facts) const;
  std::size_t size() const { return measured_.size(); }

private:
  struct Measured {
    Facts facts;
    std::size_t bin = 0;
  };
  Facts variances(const Facts& of) const;
  std::vector<Measured> measured_;
};

} // namespace winnow::search
