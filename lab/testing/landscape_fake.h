#pragma once

#include "lab/landscape.h"

namespace winnow::lab {

/// A landscape for tests: one model, nine of ten replies correct.
inline Landscape usual_landscape() {
  Landscape landscape;
  landscape.name = "test";
  for (const char* section : {"task", "verdicts", "gains", "jumps", "tuning", "hidden",
                              "measurement", "device", "models/model"}) {
    landscape.sources[section] = "made up";
  }
  for (VerdictShares& shares : landscape.verdicts) {
    shares = {{tasks::Verdict::Correct, 0.8},
              {tasks::Verdict::CompileError, 0.1},
              {tasks::Verdict::Wrong, 0.1}};
  }
  landscape.jumps = {{"seed", 1}, {"rewrite", 0.5}};
  landscape.models = {{"model", 0.02, 30}};
  return landscape;
}

} // namespace winnow::lab
