#include "base/error.h"
#include "harness/import/yaml_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

// A document is read as JSON that can be written, or a mistake has a place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (nlohmann::json::parse(winnow::harness::yaml_as_json(text, "task.yml").dump())
            .is_discarded()) {
      std::abort();
    }
  } catch (const winnow::UsageError& error) {
    if (std::string(error.what()).rfind("task.yml", 0) != 0) {
      std::abort();
    }
  }
  return 0;
}
