#include "agents/keys/key_source.h"
#include "base/error.h"
#include "base/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Each test gets its own working directory and home, without keys.
class KeySourceTest : public testing::Test {
protected:
  KeySourceTest() {
    fs::current_path(directory_.path());
    setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1);
    unsetenv("WINNOW_KEY_TEST");
  }
  ~KeySourceTest() override {
    fs::current_path(before_);
    unsetenv("XDG_CONFIG_HOME");
  }

  fs::path write(const std::string& name, const std::string& text, fs::perms mode) {
    const fs::path path = directory_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    fs::permissions(path, mode);
    return path;
  }
  static std::string refusal(const KeySources& sources) {
    try {
      find_key(sources);
    } catch (const UsageError& failure) {
      return failure.what();
    }
    return "accepted";
  }

private:
  TemporaryDirectory directory_{"keys"};
  fs::path before_ = fs::current_path();
};

constexpr fs::perms kPrivate = fs::perms::owner_read | fs::perms::owner_write;
constexpr fs::perms kOpen = kPrivate | fs::perms::group_read | fs::perms::others_read;

TEST_F(KeySourceTest, TakesTheEnvironmentBeforeFilesAndClearsIt) {
  write(".env", "\xEF\xBB\xBFWINNOW_KEY_A=sk-dotenv\n", kOpen); // with a byte order mark
  setenv("WINNOW_KEY_A", "sk-environment", 1);
  const char* value = std::getenv("WINNOW_KEY_A");
  const Key key = find_key({"", "", {"WINNOW_KEY_A"}});
  EXPECT_EQ(key.value, "sk-environment");
  EXPECT_EQ(key.source, "the environment variable WINNOW_KEY_A");
  EXPECT_EQ(std::getenv("WINNOW_KEY_A"), nullptr) << "children would inherit it";
  EXPECT_EQ(*value, '\0') << "/proc/PID/environ would still show it";
  EXPECT_EQ(find_key({"", "", {"WINNOW_KEY_A"}}).value, "sk-environment") << "remembered";
}

TEST_F(KeySourceTest, ReadsDotEnvThenTheKeysFile) {
  write(".env", "# keys\n\nexport WINNOW_KEY_B=\"sk-dotenv\" # mine\nOTHER='x'\n", kOpen);
  write("winnow/keys", "WINNOW_KEY_B=sk-file\nWINNOW_KEY_C=sk-file-c # c\n", kPrivate);
  const Key b = find_key({"", "", {"WINNOW_KEY_B"}});
  EXPECT_EQ(b.value, "sk-dotenv");
  EXPECT_EQ(b.source, "WINNOW_KEY_B in .env");
  const Key c = find_key({"", "", {"WINNOW_KEY_C"}});
  EXPECT_EQ(c.value, "sk-file-c");
  EXPECT_THAT(c.source, HasSubstr("winnow/keys"));
  EXPECT_EQ(find_key({"", "", {"WINNOW_KEY_D", "WINNOW_KEY_C"}}).value, "sk-file-c");
  EXPECT_EQ(find_key({"", "", {"WINNOW_KEY_D"}}).value, "");
}

TEST_F(KeySourceTest, RefusesFilesThatOthersCanRead) {
  write("winnow/keys", "WINNOW_KEY_E=sk-open\n", kOpen);
  EXPECT_THAT(refusal({"", "", {"WINNOW_KEY_E"}}), HasSubstr("other users can read it (mode 644)"));
  const fs::path file = write("key", "sk-open\n", kOpen);
  EXPECT_THAT(refusal({"", file, {}}), HasSubstr("other users can read it"));
  EXPECT_THAT(refusal({"", file, {}}), Not(HasSubstr("sk-open")));
}

TEST_F(KeySourceTest, TakesAKeyFromAFileOfItsOwn) {
  EXPECT_EQ(find_key({"", write("key", "sk-alone\n", kPrivate), {}}).value, "sk-alone");
  EXPECT_EQ(
      find_key({"", write("keys", "A=1\nWINNOW_KEY_F=sk-f\n", kPrivate), {"WINNOW_KEY_F"}}).value,
      "sk-f");
  EXPECT_THAT(refusal({"", "/nonexistent/key", {}}), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal({"", write("empty", "\n", kPrivate), {}}), HasSubstr("there is no key in"));
}

TEST_F(KeySourceTest, TakesTheFirstLineOfACommand) {
  const Key key = find_key({"printf 'sk-command\\nmore\\n'", "", {}});
  EXPECT_EQ(key.value, "sk-command");
  EXPECT_EQ(key.source, "the command in api_key_cmd");
  EXPECT_THAT(refusal({"echo sk-leaked; echo locked >&2; exit 3", "", {}}),
              testing::AllOf(HasSubstr("exited with 3: locked"), Not(HasSubstr("sk-leaked"))));
  EXPECT_THAT(refusal({"true", "", {}}), HasSubstr("there is no key in the command"));
}

TEST_F(KeySourceTest, NamesTheLineOfAMistakeButNotWhatItSays) {
  write(".env", "A=1\nsk-just-a-key\n", kOpen);
  EXPECT_THAT(refusal({"", "", {"WINNOW_KEY_G"}}),
              testing::AllOf(HasSubstr(".env:2: expected NAME=value"), Not(HasSubstr("sk-just"))));
  write(".env", "WINNOW_KEY_G=\"sk-open\n", kOpen);
  EXPECT_THAT(refusal({"", "", {"WINNOW_KEY_G"}}), HasSubstr(".env:1: the quote is not closed"));
}

TEST_F(KeySourceTest, AProcessWithAKeyLeavesNoCore) {
  setenv("WINNOW_KEY_H", "sk-h", 1);
  find_key({"", "", {"WINNOW_KEY_H"}});
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  EXPECT_EQ(limit.rlim_max, 0U);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
}

} // namespace
} // namespace winnow::agents
