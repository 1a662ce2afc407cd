#include "agents/wire/wire_format.h"

#include "agents/wire/format_base.h"

#include <array>

namespace winnow::agents {
namespace {

const std::array<const WireFormat*, 4>& all_formats() {
  static const std::array<const WireFormat*, 4> formats{&chat_format(), &responses_format(),
                                                        &anthropic_format(), &gemini_format()};
  return formats;
}

} // namespace

const std::vector<std::string>& wire_format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const WireFormat* format : all_formats()) {
      all.emplace_back(format->name());
    }
    return all;
  }();
  return names;
}

const WireFormat* find_wire_format(std::string_view name) {
  for (const WireFormat* format : all_formats()) {
    if (format->name() == name) {
      return format;
    }
  }
  return nullptr;
}

} // namespace winnow::agents
