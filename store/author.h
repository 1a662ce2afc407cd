// SQL that names who wrote a kernel, and what its speedup is against. For .cpp files.
#pragma once

#include "tasks/task/speedup_versus.h"

#include <string>

#include <fmt/format.h>

namespace winnow::store {

/// The columns of a query that the name of a kernel's author rests on.
struct AuthorColumns {
  const char *model, *origin, *run_id, *run_name, *digest; ///< of the kernel file
};

/// An expression: the model; for a kernel from which a search began, the name by which the user
/// gave it (resolved.seeds of the run's configuration); for other kernels of a person the name of
/// the run, which is that of the person; else the origin.
inline std::string author_sql(const AuthorColumns& of) {
  return fmt::format(
      "CASE WHEN coalesce({0}, '') <> '' THEN {0} WHEN {1} <> 'person' THEN {1} ELSE "
      "coalesce((SELECT seed.value FROM runs AS began, json_each(began.config, "
      "'$.resolved.seeds') AS seed WHERE began.id = {2} AND seed.key = {4}), {3}) END",
      of.model, of.origin, of.run_id, of.run_name, of.digest);
}

/// An expression: tasks::speedup_versus() of the task `task` on the device `device`.
inline std::string versus_sql(const char* task, const char* device) {
  return fmt::format("CASE WHEN {0}.baseline_source = '' THEN '{2}' WHEN {1} = 'cpu' AND "
                     "json_extract({0}.definition, '$.cpu_baseline') THEN '{3}' ELSE '{4}' END",
                     task, device, tasks::kVersusEager, tasks::kVersusCpuBaseline,
                     tasks::kVersusBaseline);
}

} // namespace winnow::store
