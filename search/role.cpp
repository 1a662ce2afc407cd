#include "search/role.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

namespace winnow::search {

const std::vector<Role>& all_roles() {
  static const std::vector<Role> all{
      {"judge", "judge",
       "Names one bottleneck of the parent, one change, and the effect of the change."},
      {"verifier", "verify", "Rejects kernels that it holds for broken before they are compiled."},
      {"forecaster", "forecast",
       "Forecasts the speed of kernels that wait for a device, and leaves the improbable ones "
       "out."},
      {"meta-prompter", "meta", "Rewrites the advice in prompts; the versions compete as arms."},
      {"memory", "", "Shows lessons of other tasks in the store to half of the calls at first."},
      {"exemplar", "",
       "Shows a kernel of another task of the category to half of the calls at first."}};
  return all;
}

std::vector<std::string> role_names() {
  std::vector<std::string> names;
  for (const Role& role : all_roles()) {
    names.push_back(role.name);
  }
  return names;
}

const Role& role_named(const std::string& name) {
  const auto found = std::find_if(all_roles().begin(), all_roles().end(),
                                  [&](const Role& role) { return role.name == name; });
  if (found == all_roles().end()) {
    throw UsageError("unknown role '" + name + "'" + suggestion(name, role_names()));
  }
  return *found;
}

const Role* role_with_operator(std::string_view op) {
  const auto found = std::find_if(all_roles().begin(), all_roles().end(), [&](const Role& role) {
    return !role.op.empty() && role.op == op;
  });
  return found == all_roles().end() ? nullptr : &*found;
}

} // namespace winnow::search
