#include "lab/landscape.h"

#include "base/files.h"

#include <fmt/format.h>

namespace winnow::lab {

using tasks::Verdict;

ParentState state_after(Verdict verdict) {
  switch (verdict) {
  case Verdict::Correct:
    return ParentState::Correct;
  case Verdict::BadReply:
  case Verdict::BadPlan:
  case Verdict::CompileError:
  case Verdict::Unsupported:
    return ParentState::NotCompiled;
  default:
    return ParentState::Wrong;
  }
}

const std::vector<std::string>& parent_state_names() {
  static const std::vector<std::string> names{"first", "after_correct", "after_compile_failure",
                                              "after_wrong"};
  return names;
}

double Landscape::jump_of(const std::string& op) const {
  const auto own = jumps.find(op);
  return own == jumps.end() ? other_jump : own->second;
}

std::vector<std::string> Landscape::effects_on() const {
  std::vector<std::string> on;
  const auto add = [&](const char* name, double factor) {
    if (factor != 1) {
      on.push_back(fmt::format("{} {:g}x", name, factor));
    }
  };
  add("contrast", effects.contrast);
  add("failures", effects.failures);
  add("regressed", effects.regressed);
  if (effects.families > 0) {
    on.push_back(fmt::format("families {:g}", effects.families));
  }
  return on;
}

Landscape read_landscape(const std::filesystem::path& file) {
  constexpr std::uint64_t kMaxBytes = 1U << 20U;
  return parse_landscape(read_file(file, kMaxBytes), file.string());
}

} // namespace winnow::lab
