#include "search/outcome.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

nlohmann::json profile(double time_ns, double occupancy, double shared_bytes, double fraction) {
  return {{"time_ns", time_ns},
          {"speed_of_light", {{"fraction", fraction}}},
          {"limiters", {{{"limiter", "dram bandwidth"}}, {{"limiter", "latency"}}}},
          {"launch", {{"occupancy", occupancy}, {"shared_bytes", shared_bytes}}}};
}

TEST(Cell, ComesFromTheCompiledCodeAndFromTheLongestShape) {
  tasks::Evaluation evaluation;
  EXPECT_EQ(cell_of(evaluation), "plain");
  evaluation.build.features = {"2 kernels", "tensor cores"};
  EXPECT_EQ(cell_of(evaluation), "2 kernels, tensor cores");
  evaluation.profile =
      nlohmann::json{profile(50e3, 1.0, 0, 0.9), profile(900e3, 0.6, 20000, 0.8)}.dump();
  EXPECT_EQ(cell_of(evaluation), "2 kernels, tensor cores, shared memory up to 64 KB, occupancy "
                                 "from 50 %, limited by dram bandwidth");
  EXPECT_EQ(least_speed_of_light(evaluation), 0.8);
}

TEST(Cell, AProfileThatLacksPartsIsNoError) {
  tasks::Evaluation evaluation;
  for (const char* text : {"", "{}", "[]", "[null]", "[{}]", "not JSON",
                           R"([{"time_ns":7,"launch":null,"limiters":[],"speed_of_light":null}])",
                           R"([{"time_ns":"x","launch":[],"limiters":7}])"}) {
    evaluation.profile = text;
    EXPECT_EQ(cell_of(evaluation), "plain") << text;
    EXPECT_EQ(least_speed_of_light(evaluation), 0) << text;
  }
}

} // namespace
} // namespace winnow::search
