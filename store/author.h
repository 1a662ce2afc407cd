// SQL that names who wrote a kernel. For .cpp files.
#pragma once

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

} // namespace winnow::store
