// How people name candidates: by number, or by the beginning of the file's digest.
#include "base/error.h"
#include "base/text.h"
#include "store/run_store.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::store {
namespace {

constexpr std::size_t kLeastDigits = 4;
constexpr std::size_t kShownDigits = 8; ///< as on a board
constexpr std::size_t kMostMatches = 10;
constexpr const char* kRemedy =
    "`winnow leaderboard` shows the numbers and the files of candidates";

std::optional<RowId> number_of(std::string_view name) {
  const auto id = whole_number<RowId>(name);
  return id && *id > 0 ? id : std::nullopt;
}

bool exists(const Database& database, RowId id) {
  return Query(database, "SELECT 1 FROM candidates WHERE id = ?").bind(id).next();
}

/// The beginning of a digest in lower case; empty if `name` cannot be one.
std::string digest_prefix(std::string_view name) {
  std::string prefix(name);
  std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool fits = prefix.size() >= kLeastDigits && prefix.size() <= 64 &&
                    prefix.find_first_not_of("0123456789abcdef") == std::string::npos;
  return fits ? prefix : "";
}

std::vector<std::string> digests_with(const Database& database, const std::string& prefix) {
  Query query(database, "SELECT digest FROM kernel_files WHERE digest >= ?1 AND digest < ?1 || 'g' "
                        "ORDER BY digest LIMIT ?2");
  query.bind(prefix, static_cast<std::int64_t>(kMostMatches + 1));
  return query.texts("digest");
}

/// The digest that shares the longest beginning with `prefix`; empty without any.
std::string nearest_digest(const Database& database, const std::string& prefix) {
  Query query(
      database,
      "SELECT digest FROM (SELECT max(digest) AS digest FROM kernel_files WHERE digest < ?1 "
      "UNION ALL SELECT min(digest) FROM kernel_files WHERE digest > ?1) "
      "WHERE digest IS NOT NULL");
  query.bind(prefix);
  std::string nearest;
  const auto shared = [&](const std::string& digest) {
    const auto end = std::mismatch(prefix.begin(), prefix.end(), digest.begin(), digest.end());
    return end.first - prefix.begin();
  };
  while (query.next()) {
    const std::string digest = query.text("digest");
    nearest = nearest.empty() || shared(digest) > shared(nearest) ? digest : nearest;
  }
  return nearest;
}

std::string the_only_digest(const Database& database, const std::string& prefix) {
  const std::vector<std::string> found = digests_with(database, prefix);
  if (found.size() == 1) {
    return found.front();
  }
  const std::string store = database.path().string();
  if (found.empty()) {
    const std::string nearest = nearest_digest(database, prefix);
    throw UsageError(
        fmt::format("no kernel file in the store {} has a digest that begins with {}{}", store,
                    prefix,
                    nearest.empty() ? "" : "; the nearest is " + nearest.substr(0, kShownDigits)),
        kRemedy);
  }
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(found.size(), kMostMatches); ++i) {
    shown.push_back(found[i].substr(0, std::max(kShownDigits, prefix.size() + 4)));
  }
  throw UsageError(
      fmt::format("several kernel files in the store {} have a digest that begins with "
                  "{}: {}{}",
                  store, prefix, join(shown, ", "), found.size() > kMostMatches ? ", ..." : ""),
      "give more digits of the digest, or the candidate's number");
}

RowId candidate_of_file(const Database& database, const std::string& digest,
                        const std::string& task) {
  Query query(database,
              "SELECT c.id FROM kernel_files AS k JOIN candidates AS c ON c.kernel_file_id = k.id "
              "JOIN tasks AS t ON t.id = c.task_id "
              "LEFT JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0 "
              "WHERE k.digest = ?1 "
              "ORDER BY ?2 NOT IN ('', t.name), coalesce(e.verdict, 0) <> "
              "(SELECT number FROM verdicts WHERE name = 'correct'), c.id LIMIT 1");
  if (!query.bind(digest, task).next()) {
    throw UsageError(fmt::format("no candidate in the store {} has the kernel file {}",
                                 database.path().string(), digest.substr(0, kShownDigits)),
                     kRemedy);
  }
  return query.integer("id");
}

} // namespace

UsageError no_candidate(const Database& database, RowId id) {
  Query query(database, "SELECT id FROM (SELECT max(id) AS id FROM candidates WHERE id < ?1 "
                        "UNION ALL SELECT min(id) FROM candidates WHERE id > ?1) "
                        "WHERE id IS NOT NULL ORDER BY abs(id - ?1) LIMIT 1");
  const bool found = query.bind(id).next();
  return UsageError(fmt::format("no candidate {} in the store {}{}", id, database.path().string(),
                                found ? fmt::format("; the nearest is {}", query.integer("id"))
                                      : "; the store has no candidates"),
                    kRemedy);
}

RowId RunStore::candidate_named(std::string_view name, const std::string& task) const {
  name.remove_prefix(name.starts_with('@') ? 1 : 0);
  return database_.read([&] {
    const std::optional<RowId> number = number_of(name);
    if (number && exists(database_, *number)) {
      return *number;
    }
    const std::string prefix = digest_prefix(name);
    if (number && (prefix.empty() || digests_with(database_, prefix).empty())) {
      throw no_candidate(database_, *number);
    }
    if (prefix.empty()) {
      throw UsageError(fmt::format("'{}' names no candidate", name),
                       "give the candidate's number, or the first 4 or more hex digits of its "
                       "file's digest");
    }
    return candidate_of_file(database_, the_only_digest(database_, prefix), task);
  });
}

CandidateState RunStore::candidate_of_task(std::string_view name, const std::string& task) const {
  CandidateState state = candidate_state(candidate_named(name, task));
  if (state.row.task != task) {
    throw UsageError(fmt::format("candidate {} is a kernel of task {}, not of {}", state.row.id,
                                 state.row.task, task),
                     "name its task, or a candidate of the task: `winnow leaderboard` lists them");
  }
  return state;
}

} // namespace winnow::store
