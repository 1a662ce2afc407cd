#include "lab/minimise.h"

#include <algorithm>

namespace winnow::lab {
namespace {

struct Vertex {
  std::vector<double> at;
  double value = 0;
};

/// center + factor * (point - center)
std::vector<double> moved(const std::vector<double>& center, const std::vector<double>& point,
                          double factor) {
  std::vector<double> result(center.size());
  for (std::size_t i = 0; i < center.size(); ++i) {
    result[i] = center[i] + factor * (point[i] - center[i]);
  }
  return result;
}

std::vector<double> center_of(const std::vector<Vertex>& vertices) {
  std::vector<double> center(vertices.front().at.size(), 0);
  for (const Vertex& vertex : vertices) {
    for (std::size_t i = 0; i < center.size(); ++i) {
      center[i] += vertex.at[i] / static_cast<double>(vertices.size());
    }
  }
  return center;
}

} // namespace

std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& function,
                             const std::vector<double>& start, double step,
                             std::size_t evaluations) {
  constexpr double kReflect = -1, kExpand = -2, kContract = 0.5, kShrink = 0.5;
  std::size_t used = 0;
  const auto vertex_at = [&](std::vector<double> at) {
    ++used;
    const double value = function(at);
    return Vertex{std::move(at), value};
  };
  std::vector<Vertex> simplex{vertex_at(start)};
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::vector<double> corner = start;
    corner[i] += step;
    simplex.push_back(vertex_at(std::move(corner)));
  }
  const auto by_value = [](const Vertex& a, const Vertex& b) { return a.value < b.value; };
  std::stable_sort(simplex.begin(), simplex.end(), by_value);
  while (used < evaluations) {
    const Vertex worst = simplex.back();
    simplex.pop_back();
    const std::vector<double> center = center_of(simplex);
    Vertex next = vertex_at(moved(center, worst.at, kReflect));
    if (next.value < simplex.front().value) {
      Vertex further = vertex_at(moved(center, worst.at, kExpand));
      if (further.value < next.value) {
        next = std::move(further);
      }
    } else if (next.value >= simplex.back().value) {
      const Vertex better = next.value < worst.value ? next : worst;
      next = vertex_at(moved(center, better.at, kContract));
      if (next.value >= better.value) {
        next = worst;
        for (std::size_t i = 1; i < simplex.size(); ++i) {
          simplex[i] = vertex_at(moved(simplex.front().at, simplex[i].at, kShrink));
        }
        next = vertex_at(moved(simplex.front().at, worst.at, kShrink));
      }
    }
    simplex.push_back(std::move(next));
    std::stable_sort(simplex.begin(), simplex.end(), by_value);
  }
  return simplex.front().at;
}

} // namespace winnow::lab
