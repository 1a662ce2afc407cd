#include "base/error.h"
#include "lab/landscape.h"
#include "lab/session.h"
#include "lab/statistics.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace winnow;

namespace {

/// What parse_landscape() accepts must be written and read again, and must be simulated to the end.
void try_landscape(const std::string& text) {
  const lab::Landscape landscape = lab::parse_landscape(text, "landscape.toml");
  const std::string written = lab::landscape_toml(landscape);
  if (lab::landscape_toml(lab::parse_landscape(written, "written.toml")) != written) {
    std::abort();
  }
  const lab::SessionPlan plan{{4, 0, 0}, {}, {}, false};
  const auto result = simulate(landscape, search::preset("archive").policy, plan, 1);
  if (!std::isfinite(result.curve.back().best)) {
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    try_landscape(text);
  } catch (const UsageError&) { // the text has a mistake
  }
  try {
    lab::parse_statistics(text, "statistics.toml");
  } catch (const UsageError&) { // the text has a mistake
  }
  return 0;
}
