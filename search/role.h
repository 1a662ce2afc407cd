#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::search {

/// A model beside the one that writes kernels. docs/roles.md describes each role.
struct Role {
  std::string name;    ///< the word in a config: "verifier"
  std::string op;      ///< Ask::op of its calls; empty: the role makes no calls
  std::string summary; ///< one sentence
};

const std::vector<Role>& all_roles();
std::vector<std::string> role_names();
/// Throws UsageError for an unknown name.
const Role& role_named(const std::string& name);
/// The role whose calls have this operator; nullptr: such calls ask for kernels.
const Role* role_with_operator(std::string_view op);

} // namespace winnow::search
