#pragma once

#include "agents/wire/wire_format.h"
#include "harness/batch/reply_prices.h"
#include "store/run_store.h"

#include <cstddef>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <string>

namespace winnow::harness {

/// Takes replies from lines of JSON into the waiting calls of a run. Each reply is durable before
/// the next line is read, the first one of a call stands, and a line that cannot be used is said,
/// with its place, and costs nothing but itself: reading the same lines again changes nothing.
class ReplyImport {
public:
  /// Problems are written to `problems`, a line each; it and the store outlive the import. The run
  /// must be held (RunStore::lock_run). What a line itself says that it costs comes before prices.
  /// A reply is its model's: the one that its line names, else `model`.
  ReplyImport(store::RunStore& store, store::RowId run, ReplyPrices prices, std::string model,
              std::ostream& problems);

  /// `name` stands for the stream in messages. May be called again for further streams.
  void read(std::istream& in, const std::string& name);

  struct Counts {
    std::size_t stored = 0;
    std::size_t answered_before = 0;
    std::size_t failed = 0;  ///< lines that say that the call failed
    std::size_t unknown = 0; ///< of no call of the run
    std::size_t malformed = 0;
  };
  const Counts& counts() const { return counts_; }
  /// Keys of the calls whose replies may still come: of the run's calls without a reply all but
  /// those that a line has said the failure of.
  std::set<std::string> outstanding() const;

private:
  struct Call {
    store::ModelCallRow row;
    bool answered = false;
    bool failed = false;
  };

  void add(Call call);
  void take_line(std::string_view line, const std::string& place);
  void take(const agents::WireAnswer& answer, Call& call, const std::string& place);
  void store_reply(const agents::WireAnswer& answer, Call& call);
  void problem(const std::string& place, const std::string& what);

  store::RunStore& store_;
  store::RowId run_;
  ReplyPrices prices_;
  std::string model_;
  std::ostream& problems_;
  std::map<std::string, Call> calls_;       ///< by key
  std::map<std::string, std::string> keys_; ///< by custom id, and by key
  Counts counts_;
  std::size_t problems_said_ = 0;
};

} // namespace winnow::harness
