#pragma once

#include "search/event.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::lab {

/// A log, ordered so that decisions find their answers. Positions count the events of the log.
class RecordedLog {
public:
  explicit RecordedLog(const std::vector<search::Event>& events);

  struct Call {
    search::Ask ask;
    std::size_t decided = 0, answered = 0; ///< positions
    search::Added reply;
    /// The verdict on a reply that needs no evaluation: it contains no kernel file.
    std::optional<search::Evaluated> verdict;
    bool is_used = false;
  };
  struct Judgement {
    search::Evaluate what;
    std::size_t ended = 0; ///< position
    search::Event result;  ///< Evaluated or Tried
    bool is_used = false;
  };

  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<Judgement>& judgements() const { return judgements_; }
  /// False: the log ends before an evaluation or a heat of the candidate.
  bool is_settled(search::CandidateId candidate) const;
  /// The kernels before all calls: the baseline, and the kernel that the user starts from.
  const std::vector<search::Added>& first_kernels() const { return first_kernels_; }
  /// An unused answer; nullptr: the log has none.
  Call* find(const search::Ask& ask);
  Judgement* find(const search::Evaluate& what);

private:
  void on(const search::Decided& decided);
  void on(const search::Added& added);
  void on(const search::Evaluated& evaluated);
  void on(const search::Tried& tried);
  void on(const search::Faulted& faulted);
  void on(const search::Withdrawn& withdrawn);
  template <typename Other> void on(const Other& /*event*/) {}
  template <typename Fits> bool end(const search::Event& result, const Fits& fits);
  bool are_alike(const std::vector<search::CandidateId>& a,
                 const std::vector<search::CandidateId>& b) const;
  std::string content_of(search::CandidateId candidate) const;

  std::size_t position_ = 0;          ///< of the event that is read
  std::map<std::string, Call> asked_; ///< by key
  std::vector<search::Added> first_kernels_;
  std::vector<Call> calls_;             ///< that have a reply, in the order of their decisions
  std::vector<Judgement> judgements_;   ///< that have a result
  std::vector<search::Evaluate> begun_; ///< evaluations without a result
  std::map<search::CandidateId, std::string> contents_;
};

} // namespace winnow::lab
