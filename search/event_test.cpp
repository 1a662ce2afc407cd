#include "base/error.h"
#include "search/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

Outcome full_outcome() {
  Outcome outcome;
  outcome.verdict = tasks::Verdict::LowPrecision;
  outcome.evaluator_version = 8;
  outcome.kernel = "abc";
  outcome.speedup = 0.1; // not a binary fraction: it must survive to the bit
  outcome.speedup_bounds = {0.05, 0.3};
  outcome.hidden_speedup = 1.0 / 3;
  outcome.promoted = true;
  outcome.code = "ghi";
  outcome.race = {"def", true, 0.7};
  return outcome;
}

std::vector<Event> all_events() {
  Ask ask;
  ask.key = "axpy/1/22";
  ask.lineage = 1;
  ask.op = "crossover";
  ask.parents = {5, 8};
  ask.best = Card{5, 3};
  ask.previous = Card{9, 22};
  ask.history = {{8, 21}, {9, 22}};
  ask.families = {{9, 22}, {3, 2}};
  ask.failures = {{8, 21}};
  ask.older = 20;
  ask.model = "cheap";
  ask.advice = "axpy/judge/3";
  ask.variant = "axpy/meta/1";
  ask.memory = true;
  ask.exemplar = true;
  ask.waiting_key = "axpy/1/23";
  ask.waiting_op = "diff";
  ask.waiting_model = "dear";
  return {Decided{ask, {3}},
          Decided{Ask{}, {1, 4}}, // without parents
          Decided{Evaluate{7, 5}, {}},
          Decided{Evaluate{7, std::nullopt}, {}},
          Decided{Evaluate{7, std::nullopt, {{{"BLOCK", 128}}, {{"BLOCK", 256}}}, 3}, {}},
          Added{7, "axpy/0/0"},
          Added{7, "axpy/0/0", 0.5, {{{"BLOCK", 64}}, {{"BLOCK", 128}}}},
          Added{7, "axpy/0/0", 0.5, {}, {{"barriers", 3}, {"tokens", 0.1}}},
          Tried{7,
                {{{{"BLOCK", 64}}, tasks::Verdict::NotJudged, "abc", {1.25, 0.5}},
                 {{{"BLOCK", 128}}, tasks::Verdict::OverLimit}},
                0.25},
          Faulted{7, {{{"BLOCK", 128}}}, 3},
          Added{1, ""},
          Evaluated{7, full_outcome()},
          Evaluated{8, Outcome{}},
          Faulted{7},
          Unanswered{"axpy/0/1"},
          Resumed{},
          Advised{"axpy/judge/3", R"({"change":"tile"})", 0.25, 1.5},
          Advised{"axpy/judge/4"}};
}

TEST(SearchEvent, SurvivesTheLog) {
  for (const Event& event : all_events()) {
    const LogEntry entry = entry_of(event);
    const Event read = event_of(entry);
    EXPECT_EQ(read.index(), event.index()) << entry.kind;
    EXPECT_EQ(entry_of(read).detail, entry.detail) << entry.kind;
  }
  const Event read = event_of(entry_of(all_events().front()));
  EXPECT_EQ(std::get<Decided>(read).action, std::get<Decided>(all_events().front()).action);
  EXPECT_EQ(std::get<Decided>(read).capacity.asks, 3);
  EXPECT_EQ(std::get<Decided>(read).capacity.evaluations, Capacity::kUnlimited);
}

TEST(SearchEvent, OfAnEarlierVersionNamesNoModel) {
  const LogEntry entry{"decided", R"({"asks":1,"action":{"ask":"a/0/0","lineage":0,
      "operator":"improve","parents":[1],"older":0,"history":[]}})"};
  EXPECT_EQ(std::get<Ask>(std::get<Decided>(event_of(entry)).action).model, "");
}

TEST(SearchEvent, OfAStoreThatWasChangedByHandIsAnError) {
  const std::vector<LogEntry> bad{
      {"decided", "{}"},
      {"decided", R"({"asks":1,"action":{"ask":7}})"},
      {"decided", R"({"asks":1,"action":{"evaluate":"seven"}})"},
      {"added", R"({"candidate":1})"},
      {"evaluated", R"({"candidate":1,"outcome":{"verdict":"splendid"}})"},
      {"evaluated", R"({"candidate":1,"outcome":null})"},
      {"tried", R"({"candidate":1,"device_seconds":1,"trials":[{"choice":7}]})"},
      {"faulted", "[]"},
      {"unanswered", "not JSON"},
      {"advised", R"({"key":"a"})"},
      {"celebrated", "{}"}};
  for (const LogEntry& entry : bad) {
    EXPECT_THROW(event_of(entry), Error) << entry.kind << " " << entry.detail;
  }
}

TEST(SearchEvent, AnErrorNamesTheKind) {
  try {
    event_of({"celebrated", "{}"});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'celebrated'"));
  }
}

} // namespace
} // namespace winnow::search
