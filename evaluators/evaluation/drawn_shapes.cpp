#include "evaluators/evaluation/drawn_shapes.h"

#include "base/digest.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {

std::vector<tasks::Shape> drawn_shapes(std::vector<tasks::Shape> shapes, std::uint64_t draw) {
  std::set<std::string> drawn; // ids
  for (const bool large : {false, true}) {
    std::vector<std::pair<std::string, std::string>> order; // lot, id
    for (const tasks::Shape& shape : shapes) {
      if (shape.devices.empty() != large) {
        order.emplace_back(sha256_hex(fmt::format("{} {}", draw, shape.id)), shape.id);
      }
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < (order.size() + 1) / 2; ++i) {
      drawn.insert(order[i].second);
    }
  }
  std::erase_if(shapes, [&](const tasks::Shape& shape) { return !drawn.contains(shape.id); });
  return shapes;
}

} // namespace winnow::evaluators
