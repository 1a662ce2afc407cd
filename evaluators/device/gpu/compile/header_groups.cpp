#include "evaluators/device/gpu/compile/header_groups.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// Prefixes of macros that choose namespaces and features of CUB, of the libraries below CUB, and of
// cooperative groups.
constexpr std::string_view kConfiguration[] = {"CUB_",  "THRUST_", "CCCL_",       "LIBCUDACXX_",
                                               "_CCCL", "_CUB",    "_LIBCUDACXX", "_CG_"};

bool configures(const std::string& definition) {
  return std::any_of(std::begin(kConfiguration), std::end(kConfiguration),
                     [&](std::string_view start) { return definition.rfind(start, 0) == 0; });
}

bool is_of(const HeaderGroup& group, const std::string& included) {
  return !included.empty() && included.compare(1, group.names.size(), group.names) == 0;
}

} // namespace

std::vector<HeaderGroup> header_groups(const GpuToolchain& toolchain) {
  std::vector<HeaderGroup> groups;
  for (const auto& directory : toolchain.include_directories) {
    std::error_code error;
    if (toolchain.kind == "cuda" && groups.empty() &&
        std::filesystem::exists(directory / "cub/block/block_reduce.cuh", error)) {
      groups.push_back({"cub", "cub/", {"cub/cub.cuh"}});
      // reduce.h would include cooperative_groups.h as ../cooperative_groups.h, and messages would
      // show that name. So cooperative_groups.h comes first.
      groups.push_back({"cooperative_groups",
                        "cooperative_groups",
                        {"cooperative_groups.h", "cooperative_groups/reduce.h"}});
    }
  }
  return groups;
}

std::optional<HeaderGroup> find_header_group(const std::vector<HeaderGroup>& groups,
                                             const std::vector<Token>& tokens) {
  auto found = groups.end();
  bool configured = false;
  for (const Token& token : tokens) {
    const std::string name = token.kind == Token::Kind::Directive ? directive_name(token) : "";
    if (name == "define") {
      configured = configured || configures(directive_arguments(token));
    } else if (name == "include" && !configured) {
      const std::string included = directive_arguments(token);
      found = std::find_if(groups.begin(), found,
                           [&](const HeaderGroup& group) { return is_of(group, included); });
    }
  }
  return found == groups.end() ? std::nullopt : std::optional(*found);
}

bool may_use_group(const HeaderGroup& group, std::string_view source) {
  return source.find(group.names) != std::string_view::npos;
}

std::string group_prefix(const HeaderGroup& group, const std::string& prelude) {
  std::string lines = fmt::format("#include \"{}\"\n", prelude);
  for (const std::string& header : group.headers) {
    lines += fmt::format("#include <{}>\n", header);
  }
  return lines + "#pragma nv_hdrstop\n";
}

} // namespace winnow::evaluators
