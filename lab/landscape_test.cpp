#include "base/error.h"
#include "base/files.h"
#include "lab/landscape.h"
#include "lab/testing/landscape_fake.h"

#include <filesystem>
#include <functional>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::lab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string mistake_in(const std::string& text) {
  try {
    parse_landscape(text, "x.toml");
    return {};
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string replaced(const std::string& pattern, const std::string& by) {
  return std::regex_replace(landscape_toml(usual_landscape()), std::regex(pattern), by);
}

TEST(Landscape, SurvivesWritingAndReading) {
  Landscape landscape = usual_landscape();
  landscape.effects.contrast = 1.25;
  landscape.sources["effects"] = "a paper, \"quoted\"";
  landscape.jumps["my own"] = 0.5;
  const std::string text = landscape_toml(landscape);
  const Landscape again = parse_landscape(text, "x.toml");
  EXPECT_EQ(landscape_toml(again), text);
  EXPECT_EQ(again.effects.contrast, 1.25);
  EXPECT_EQ(again.jump_of("my own"), 0.5);
  EXPECT_EQ(again.jump_of("nobody's"), landscape.other_jump);
  EXPECT_THAT(again.effects_on(), testing::ElementsAre("contrast 1.25x"));
}

TEST(Landscape, SaysWhereAMistakeIs) {
  EXPECT_THAT(mistake_in(replaced("ceiling = 0.8", "ceiling = -1")),
              HasSubstr("x.toml:6:11: 'task.ceiling' is -1; expected a number from 0 to 20"));
  EXPECT_THAT(mistake_in(replaced("ceiling = 0.8", "ceilling = 0.8")),
              HasSubstr("did you mean 'ceiling'?"));
  EXPECT_THAT(mistake_in(replaced("structures = 4", "structures = 4.5")),
              HasSubstr("'task.structures' is not an integer"));
  EXPECT_THAT(mistake_in(replaced("improves = [0-9.]*", "improves = nan")),
              HasSubstr("not a finite number"));
  EXPECT_THAT(mistake_in(replaced("source = \"[^\"]*\"", "source = \"\"")),
              HasSubstr("'task.source' is empty"));
  EXPECT_THAT(mistake_in(replaced("wrong = 0.1", "wrong = 0.9")), HasSubstr("add up to"));
  EXPECT_THAT(mistake_in(replaced("wrong = 0.1", "wrongly = 0.1")),
              HasSubstr("unknown verdict 'wrongly'"));
  EXPECT_THAT(mistake_in(replaced("name = \"model\"", "name = \"a@b\"")),
              HasSubstr("cannot name a model"));
  EXPECT_THAT(mistake_in("name = 1"), HasSubstr("x.toml:1:8"));
}

TEST(Landscape, NeedsEverySection) {
  const std::string text = landscape_toml(usual_landscape());
  for (const char* section : {"task", "verdicts", "gains", "jumps", "tuning", "hidden",
                              "measurement", "device", "models"}) {
    const std::regex header("\\[" + std::string(section) + "\\]");
    EXPECT_NE(mistake_in(std::regex_replace(text, header, "[other]")), "") << section;
  }
}

TEST(Landscape, NoTextCrashesTheReader) {
  const std::string text = landscape_toml(usual_landscape());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string hostile = text;
    hostile[i] = "\"[]={}9-\n"[i % 9];
    mistake_in(hostile);
    mistake_in(text.substr(0, i));
  }
}

TEST(Landscape, ShippedFilesAreRight) {
  const std::filesystem::path folder =
      std::filesystem::path(WINNOW_SOURCE_DIR) / "configs/landscapes";
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".toml") {
      EXPECT_THAT(read_landscape(file.path()).effects_on(), IsEmpty()) << file.path();
      ++files;
    }
  }
  EXPECT_GE(files, 2);
}

} // namespace
} // namespace winnow::lab
