#pragma once

#include "harness/serve/declared_call.h"
#include "tasks/plan/plan.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

constexpr std::size_t kMaxItems = 1024;                        ///< of one request
constexpr std::size_t kMaxItemBytes = std::size_t{256} << 10U; ///< of one reply or kernel file
constexpr std::size_t kMaxIdBytes = 200;
constexpr std::size_t kMaxMetadataBytes = std::size_t{16} << 10U; ///< as JSON
constexpr std::int64_t kMostVariants = 256;
constexpr std::int64_t kMostTimeBudgetMs = 5000; ///< of sampling, per shape and kernel
constexpr std::int64_t kMostPriority = 100;      ///< the least is its negative

/// How far a kernel is judged.
enum class JudgeDepth : std::uint8_t {
  Compile, ///< parsed, compiled, its launches checked; nothing is run
  Correct, ///< its answers at all shapes, hidden ones too; nothing is timed
  Full,    ///< and timed beside the task's baseline
};
std::string_view to_string(JudgeDepth depth);          ///< "compile"
JudgeDepth depth_from_string(const std::string& name); ///< throws UsageError

struct JudgeItem {
  std::string id; ///< the client's; unique in its request
  std::string task;
  std::string text;       ///< of the reply or the kernel file
  bool is_kernel = false; ///< `text` is a kernel file; otherwise it is a model's whole reply
  std::string problem;    ///< why this item alone is refused; empty: it is not
  /// Why `text` is judged as a bad reply without being read: it is too long, and only its beginning
  /// and its digest are left of it. Empty: it is read.
  std::string bad_reply = {};
  tasks::ParameterChoice parameters = {}; ///< of the kernel's plan; empty: its default choice
  std::optional<DeclaredCall> declared = std::nullopt; ///< nullopt: it belongs to no declared run
};

/// What is measured of a correct kernel beside its times.
struct Measuring {
  std::string counters = "off"; ///< "off", "fast", "full"
  bool energy = false;
  std::chrono::milliseconds time_budget{0}; ///< of sampling, per shape and kernel; 0: the server's
  bool operator==(const Measuring&) const = default;
};

struct JudgeRequest {
  std::vector<JudgeItem> items;
  JudgeDepth depth = JudgeDepth::Full;
  /// How many choices of the parameters of a kernel may be tried. 1: the default only.
  std::size_t max_variants = 1;
  std::string reward; ///< name of a formula; empty: the server's
  int priority = 0;   ///< kernels of a higher one go before the same client's others
  Measuring measuring = {};
  bool fresh = false; ///< measure again, although the server may know the answer
  /// A candidate of the store ("@43", or the beginning of its file's digest) against which correct
  /// kernels race; empty: none.
  std::string race_against;
  std::chrono::seconds wait{0}; ///< longest wait for the results
  std::string metadata;         ///< JSON that comes back with the batch; empty: none
};

constexpr std::chrono::seconds kMostWait{600};

/// The body of POST /v1/judge. Throws UsageError with the path of what is wrong. A text that is too
/// long is a bad reply: the trainer's other samples do not suffer from it.
JudgeRequest parse_judge_request(std::string_view body);

/// Throws UsageError for options that exclude each other.
void check_options(const JudgeRequest& request);

/// Sets `problem` of an item that has no task, and `bad_reply` of one whose text is too long.
void check_item(JudgeItem& item);

} // namespace winnow::harness
