#include "base/text/unified_diff.h"

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include <fmt/format.h>

namespace winnow {
namespace {

// The search takes time and memory with the square of this number.
constexpr std::int64_t kMostEdits = 2000;

enum class Kind : char { Equal = ' ', Removed = '-', Added = '+' };
struct Edit {
  Kind kind;
  std::size_t a, b; ///< the lines at which the edit happens, from 0
};

/// Lines as numbers, which are equal exactly if the lines are.
class Lines {
public:
  std::vector<int> add(const std::vector<std::string_view>& lines) {
    std::vector<int> numbers;
    for (const std::string_view line : lines) {
      numbers.push_back(numbers_.emplace(line, static_cast<int>(numbers_.size())).first->second);
    }
    return numbers;
  }

private:
  std::unordered_map<std::string_view, int> numbers_;
};

/// Myers' greedy search for a shortest edit script between two lists without a common beginning or
/// end.
class Script {
public:
  Script(const int* a, std::int64_t n, const int* b, std::int64_t m) : a_(a), b_(b), n_(n), m_(m) {}

  /// The edits in order. Beyond kMostEdits: all of `a` is removed, and all of `b` is added.
  std::vector<Kind> edits() {
    const std::int64_t most = std::min(n_ + m_, kMostEdits);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(2 * most + 3), 0);
    const auto end_of = [&](std::int64_t diagonal) -> std::int64_t& {
      return ends[static_cast<std::size_t>(diagonal + most + 1)];
    };
    for (std::int64_t depth = 0; depth <= most; ++depth) {
      for (std::int64_t k = -depth; k <= depth; k += 2) {
        const bool down = k == -depth || (k != depth && end_of(k - 1) < end_of(k + 1));
        std::int64_t x = down ? end_of(k + 1) : end_of(k - 1) + 1;
        while (x < n_ && x - k < m_ && x - k >= 0 && a_[x] == b_[x - k]) {
          ++x;
        }
        end_of(k) = x;
        if (x >= n_ && x - k >= m_) {
          keep(end_of, depth);
          return walked_back(depth);
        }
      }
      keep(end_of, depth);
    }
    std::vector<Kind> all(static_cast<std::size_t>(n_), Kind::Removed);
    all.insert(all.end(), static_cast<std::size_t>(m_), Kind::Added);
    return all;
  }

private:
  template <typename EndOf> void keep(const EndOf& end_of, std::int64_t depth) {
    std::vector<std::int32_t>& row = trace_.emplace_back();
    for (std::int64_t k = -depth; k <= depth; ++k) {
      row.push_back(static_cast<std::int32_t>(end_of(k)));
    }
  }
  std::int64_t kept(std::int64_t depth, std::int64_t k) const {
    return trace_[static_cast<std::size_t>(depth)][static_cast<std::size_t>(k + depth)];
  }

  std::vector<Kind> walked_back(std::int64_t depth) const {
    std::vector<Kind> edits;
    std::int64_t x = n_, y = m_;
    for (; depth > 0; --depth) {
      const std::int64_t k = x - y;
      const bool down =
          k == -depth || (k != depth && kept(depth - 1, k - 1) < kept(depth - 1, k + 1));
      const std::int64_t before = down ? k + 1 : k - 1;
      const std::int64_t from = kept(depth - 1, before);
      const std::int64_t start = down ? from : from + 1;
      edits.insert(edits.end(), static_cast<std::size_t>(x - start), Kind::Equal);
      edits.push_back(down ? Kind::Added : Kind::Removed);
      x = from;
      y = from - before;
    }
    edits.insert(edits.end(), static_cast<std::size_t>(x), Kind::Equal);
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const int* a_;
  const int* b_;
  std::int64_t n_, m_;
  std::vector<std::vector<std::int32_t>> trace_; ///< by depth: the ends on its diagonals
};

std::vector<Edit> edits_between(const std::vector<int>& a, const std::vector<int>& b) {
  const auto heads = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto head = static_cast<std::size_t>(heads.first - a.begin());
  const auto left = std::make_reverse_iterator(heads.first);
  const auto right = std::make_reverse_iterator(heads.second);
  const auto tails = std::mismatch(a.rbegin(), left, b.rbegin(), right);
  const auto tail = static_cast<std::size_t>(tails.first - a.rbegin());
  Script script(a.data() + head, static_cast<std::int64_t>(a.size() - head - tail), b.data() + head,
                static_cast<std::int64_t>(b.size() - head - tail));
  std::vector<Kind> kinds(head, Kind::Equal);
  const std::vector<Kind> middle = script.edits();
  kinds.insert(kinds.end(), middle.begin(), middle.end());
  kinds.insert(kinds.end(), tail, Kind::Equal);
  std::vector<Edit> edits;
  std::size_t x = 0, y = 0;
  for (const Kind kind : kinds) {
    edits.push_back({kind, x, y});
    x += kind != Kind::Added ? 1 : 0;
    y += kind != Kind::Removed ? 1 : 0;
  }
  return edits;
}

/// "3,2" as in the heading of a hunk: the first line, from 1, and the number of lines.
std::string range_text(std::size_t first, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

} // namespace

std::vector<std::string> unified_diff(std::string_view a, std::string_view b, std::size_t context) {
  const std::vector<std::string_view> lines_a = split_lines(a), lines_b = split_lines(b);
  Lines lines;
  const std::vector<int> numbers_a = lines.add(lines_a), numbers_b = lines.add(lines_b);
  const std::vector<Edit> edits = edits_between(numbers_a, numbers_b);
  const auto is_change = [](const Edit& edit) { return edit.kind != Kind::Equal; };
  std::vector<std::string> text;
  auto change = std::find_if(edits.begin(), edits.end(), is_change);
  while (change != edits.end()) {
    const auto begin = change - std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(context),
                                                         change - edits.begin());
    auto end = change;
    for (auto next = change; next != edits.end();
         next = std::find_if(end, edits.end(), is_change)) {
      if (next - end > static_cast<std::ptrdiff_t>(2 * context)) {
        break;
      }
      end = next + 1;
    }
    change = std::find_if(end, edits.end(), is_change);
    end += std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(context), edits.end() - end);
    const auto in_a =
        std::count_if(begin, end, [](const Edit& e) { return e.kind != Kind::Added; });
    const auto in_b =
        std::count_if(begin, end, [](const Edit& e) { return e.kind != Kind::Removed; });
    text.push_back("@@ -" + range_text(begin->a, static_cast<std::size_t>(in_a)) + " +" +
                   range_text(begin->b, static_cast<std::size_t>(in_b)) + " @@");
    for (auto edit = begin; edit != end; ++edit) {
      const std::string_view line = edit->kind == Kind::Added ? lines_b[edit->b] : lines_a[edit->a];
      text.push_back(static_cast<char>(edit->kind) + std::string(line));
    }
  }
  return text;
}

} // namespace winnow
