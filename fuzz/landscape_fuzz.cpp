#include "base/error.h"
#include "lab/landscape.h"
#include "lab/published_statistics.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace winnow;

namespace {

/// What parse_landscape() accepts must be written and read again.
void try_landscape(const std::string& text) {
  const lab::Landscape landscape = lab::parse_landscape(text, "landscape.toml");
  const std::string written = lab::landscape_toml(landscape);
  if (lab::landscape_toml(lab::parse_landscape(written, "written.toml")) != written) {
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
