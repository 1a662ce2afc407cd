#include "harness/named/named_run.h"

#include "base/error.h"
#include "base/text.h"

#include <utility>
#include <vector>

namespace winnow::harness {

store::RunRow named_run(const store::RunStore& store, const std::string& name_or_number) {
  if (auto run = store.find_run(name_or_number)) {
    return *std::move(run);
  }
  std::vector<std::string> names;
  for (const store::RunRow& row : store.runs()) {
    names.push_back(row.name);
  }
  throw UsageError("no run '" + name_or_number + "' in this store" +
                   suggestion(name_or_number, names));
}

std::string only_run(const store::RunStore& store, const std::string& name_or_number) {
  return name_or_number.empty() ? "" : named_run(store, name_or_number).name;
}

} // namespace winnow::harness
