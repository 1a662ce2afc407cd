#pragma once

#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_setup.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// How alike two structures of kernels are (search::cell_of()): the number of parts that both have.
/// The same limiter counts as kLimiterParts parts.
int likeness_of_cells(std::string_view a, std::string_view b);
constexpr int kLimiterParts = 3;

/// Lessons of earlier runs in the store, for prompts: which change made a kernel of another task
/// faster, and by how much. The store is read once for each task, so that later runs beside this
/// one change nothing. A lesson has the words of a reply, the structure of the kernel and measured
/// speeds at search shapes; it has no shape.
class LessonBook {
public:
  LessonBook(const RunLoopSetup& setup, CandidateShelf& shelf) : setup_(setup), shelf_(shelf) {}

  /// The lessons of other tasks whose parents are most like a kernel with this structure, a line
  /// each, the most alike first. Lessons of a kernel without any common part are left out.
  std::vector<std::string> lines_for(const std::string& task, const std::string& cell);

private:
  struct Entry {
    std::string cell; ///< of the parent
    std::string line;
  };
  const std::vector<Entry>& entries_of(const std::string& task);

  const RunLoopSetup& setup_;
  CandidateShelf& shelf_;
  std::map<std::string, std::vector<Entry>> entries_; ///< by task, greatest gain first
};

} // namespace winnow::harness
