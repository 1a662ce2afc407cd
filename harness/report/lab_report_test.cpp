#include "harness/report/lab_report.h"
#include "lab/testing/landscape_fake.h"
#include "tests/support/json_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> missing_of(const nlohmann::json& document) {
  static const ::winnow::test::JsonPage page(WINNOW_SOURCE_DIR);
  return page.missing(document);
}

lab::Score score(double mean, double low, double high) {
  return {{mean, mean, mean}, {(low + high) / 2, low, high}};
}

/// A reference and one other, which is ahead per call, behind per dollar, and tied otherwise.
std::vector<LabResult> results() {
  lab::Comparison comparison;
  comparison.landscape = "test";
  comparison.reference = "one-plus-one";
  comparison.budget = {24, 0.5, 12};
  comparison.seeds = 30;
  lab::ComparisonRow reference;
  reference.name = "one-plus-one";
  reference.by_calls = reference.by_device = reference.final = reference.hidden = score(0.5, 0, 0);
  reference.by_dollars = score(0.5, 0, 0);
  lab::ComparisonRow other = reference;
  other.name = "archive";
  other.by_calls = score(0.6, 0.02, 0.18);
  other.by_dollars = score(0.4, -0.2, -0.01);
  other.by_device = score(0.5, -0.1, 0.1);
  comparison.rows = {reference, other};
  return {{lab::usual_landscape(), comparison}};
}

TEST(LabReport, SaysWhoIsAhead) {
  const auto document = lab_comparison_json(results(), "", {{"archive", {"judge"}}});
  EXPECT_THAT(missing_of(document), IsEmpty());
  const std::string text = lab_comparison_text(document);
  EXPECT_THAT(text, HasSubstr("24 calls, $0.5, 12 s of the device; 30 simulated tasks"));
  EXPECT_THAT(text, HasSubstr("+0.100 (+0.020 to +0.180) ahead"));
  EXPECT_THAT(text, HasSubstr("(-0.200 to -0.010) behind"));
  EXPECT_THAT(text, HasSubstr("one-plus-one is, per call: ahead of 0, tied with 0, behind 1; per "
                              "dollar: ahead of 1, tied with 0, behind 0; per device second: ahead "
                              "of 0, tied with 1, behind 0."));
  EXPECT_THAT(text, HasSubstr("Simulated without their roles: archive (judge)."));
  EXPECT_THAT(text, HasSubstr("It cannot value what a prompt shows"));
}

TEST(LabReport, WithoutPricesHasNoDollars) {
  auto free = results();
  for (lab::ComparisonRow& row : free.front().comparison.rows) {
    row.by_dollars.reset();
  }
  free.front().comparison.budget.dollars = 0;
  free.front().landscape.effects.contrast = 2;
  const auto document = lab_comparison_json(free, "one-plus-one", {});
  EXPECT_THAT(missing_of(document), IsEmpty());
  const std::string text = lab_comparison_text(document);
  EXPECT_THAT(text, HasSubstr("24 calls, 12 s of the device"));
  EXPECT_THAT(text, HasSubstr("effects of prompts: contrast 2x"));
  EXPECT_THAT(text, HasSubstr("the mechanism helps one-plus-one"));
}

TEST(LabReport, ShowsTheQualityOfAFit) {
  lab::Fit fit;
  fit.landscape = lab::usual_landscape();
  fit.rows = {{"correct", 0.8, 0.05, 0.9}};
  fit.searches = 1;
  fit.calls = 7;
  fit.notes = {"the records say nothing of [models]"};
  const auto document = lab_fit_json(fit);
  EXPECT_THAT(missing_of(document), IsEmpty());
  const std::string text = lab_fit_text(document);
  EXPECT_THAT(text, HasSubstr("test: 7 judged replies of 1 search\n"));
  EXPECT_THAT(text, HasSubstr("+2.0"));
  EXPECT_THAT(text, HasSubstr("the records say nothing of [models]"));
}

TEST(LabReport, AddsUpReplays) {
  const auto document = lab_replay_json(
      {{"run/a", "archive", true, {6, 6, std::log(2.0), std::log(2.0), ""}},
       {"run/b", "archive", true, {4, 3, std::log(8.0), std::log(8.0), "no reply is left"}},
       {"run/a", "best-of-n", false, {6, 1, 0, 0, "no reply is left"}}});
  EXPECT_THAT(missing_of(document), IsEmpty());
  const std::string text = lab_replay_text(document, false);
  EXPECT_THAT(text, testing::ContainsRegex("archive +2 +yes +9 +10 +4.00x +4.00x"));
  EXPECT_THAT(text, testing::ContainsRegex("best-of-n +1 +1 +6 +1.00x"));
  EXPECT_THAT(text, Not(HasSubstr("run/b")));
  EXPECT_THAT(lab_replay_text(document, true), HasSubstr("run/b"));
}

} // namespace
} // namespace winnow::harness
