#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/freed_memory.h"
#include "base/packing.h"
#include "base/parallel.h"
#include "base/recent.h"
#include "base/sanitized.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/text/toml_reader.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Packing, EncodesThePublishedVectors) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  for (const char* bytes : {"", "f", "fo", "foo", "foob", "user:pass\xFF word"}) {
    EXPECT_EQ(decode_base64(base64(bytes)), bytes);
  }
  for (const char* malformed : {"Z", "Zg=", "Z===", "====", "Zm9v\n", "Zm9*", "=g=="}) {
    EXPECT_EQ(decode_base64(malformed), std::nullopt) << malformed;
  }
  EXPECT_EQ(base64(sha256_bytes("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(Packing, GzipIsShortAndRepeatable) {
  const std::string text(1 << 20, 'x');
  EXPECT_THAT(gzip(text), StartsWith("\x1f\x8b"));
  EXPECT_LT(gzip(text).size(), 2000U);
  EXPECT_EQ(gzip(text), gzip(text));
}

TEST(Digest, MatchesThePublishedVector) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, DerivesASeedFromSeedAndText) {
  EXPECT_EQ(derived_seed(7, "search/0 0"),
            std::stoull(sha256_hex("7 search/0 0").substr(0, 16), nullptr, 16));
  EXPECT_NE(derived_seed(7, "search/0 0"), derived_seed(7, "search/0 1"));
  EXPECT_NE(derived_seed(7, "search/0 0"), derived_seed(8, "search/0 0"));
}

TEST(Recent, DropsWhatWasNotUsedForLongest) {
  Recent<std::string, int> recent(2);
  recent.put("a", 1);
  recent.put("b", 2);
  EXPECT_EQ(*recent.find("a"), 1);
  recent.put("c", 3);
  EXPECT_EQ(recent.find("b"), nullptr);
  EXPECT_EQ(*recent.find("a"), 1);
  recent.erase("a");
  EXPECT_EQ(recent.find("a"), nullptr);
  EXPECT_EQ(*recent.find("c"), 3);
}

TEST(Text, SuggestsTheNearestWord) {
  EXPECT_EQ(suggestion("row_sofmax", {"axpy", "row_softmax"}), "; did you mean 'row_softmax'?");
  EXPECT_EQ(suggestion("zzz", {"axpy", "gemm"}), "; known: axpy, gemm");
  EXPECT_EQ(suggestion("zzz", {}), "");
}

TEST(Text, FindsInvalidUtf8) {
  EXPECT_FALSE(find_invalid_utf8("na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x8C\xBE"));
  EXPECT_EQ(find_invalid_utf8("ab\xFFz"), 2U);
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0U) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U) << "surrogate";
  EXPECT_EQ(find_invalid_utf8("x\xE2\x82"), 1U) << "truncated";
}

TEST(Toml, SaysWhereAFileIsNotToml) {
  EXPECT_EQ(TomlReader::parse("a = 1", "x.toml").integer("a"), 1);
  const auto message = [](std::string_view text) -> std::string {
    try {
      TomlReader::parse(text, "x.toml");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_THAT(message("a = 1\nb ="), testing::StartsWith("x.toml:2:4: not valid TOML"));
  EXPECT_THAT(message("a = 1\nb = 2 # \xC3\xA9"),
              testing::StartsWith("x.toml:2:9: this character is not ASCII"));
}

TEST(Text, ReplacesWhatATerminalMustNotSee) {
  EXPECT_EQ(to_valid_utf8("a\x1B[31m\xFF\n"), "a\xEF\xBF\xBD[31m\xEF\xBF\xBD\n");
}

TEST(Text, TruncatesAtALineEnd) {
  EXPECT_EQ(truncate_text("one\ntwo\nthree", 9), "one\ntwo\n[... 6 more bytes]");
  EXPECT_EQ(truncate_text("short", 9), "short");
}

TEST(Text, IsShortenedBetweenWords) {
  EXPECT_EQ(shortened("one two three", 13), "one two three");
  EXPECT_EQ(shortened("one two three", 12), "one two ...");
  EXPECT_EQ(shortened("one two three", 11), "one two ...");
  EXPECT_EQ(shortened("onetwothree", 8), "onetw...");
  EXPECT_EQ(shortened("a muchtoolong word", 12), "a muchtoo...");
  EXPECT_EQ(shortened("\u00e9\u00e9\u00e9\u00e9", 6), "\u00e9...");
}

TEST(Toml, SaysWhereAnAssertionOfItsParserFails) {
  try {
    TomlReader::parse("a = 1\n[table]\n  [?]\nb = 2\n", "file.toml");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), StartsWith("file.toml:3:4: not valid TOML: expected "));
  }
}

TEST(Parallel, PartsMakeUpTheWhole) {
  for (const std::uint64_t count : {0U, 1U, 9U, 10U, 1000U, 100003U}) {
    std::vector<int> seen(count, 0);
    in_parts(count, 10, [&](std::uint64_t first, std::uint64_t end) {
      for (std::uint64_t i = first; i < end; ++i) {
        ++seen[i];
      }
    });
    EXPECT_THAT(seen, testing::Each(1)) << count;
  }
}

TEST(Files, WritesAtomicallyAndRefusesTooMuch) {
  const TemporaryDirectory directory("test");
  const auto path = directory.path() / "file";
  write_file_atomic(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_THROW(read_file(path, 4), Error);
  EXPECT_THROW(read_file(directory.path(), 4), Error);
  EXPECT_THROW(read_file(directory.path() / "none", 4), Error);
}

TEST(Files, TheWorkingFolderTakesNoPlaceOfAShippedFile) {
  const TemporaryDirectory planted("base-test");
  const std::filesystem::path before = std::filesystem::current_path(),
                              name = "configs/quickstart.toml";
  std::filesystem::create_directories(planted.path() / "configs");
  write_file_atomic(planted.path() / name, "planted");
  write_file_atomic(planted.path() / "configs" / "mine.toml", "mine");
  std::filesystem::current_path(planted.path());
  const auto shipped = find_shipped(name), mine = find_shipped("configs/mine.toml");
  const bool is_planted = shipped && std::filesystem::equivalent(*shipped, planted.path() / name);
  std::filesystem::current_path(before);
  EXPECT_FALSE(is_planted);
  EXPECT_EQ(mine, "configs/mine.toml");
}

TEST(Files, KnowsWhatIsBelowAFolder) {
  for (const char* path : {"/a/b", "/a/b/c", "/a/b/c/d"}) {
    EXPECT_TRUE(is_below(path, "/a/b")) << path;
  }
  for (const char* path : {"/a", "/a/bc", "/b/a/b", "a/b", ""}) {
    EXPECT_FALSE(is_below(path, "/a/b")) << path;
  }
}

TEST(Files, MakesATemporaryDirectoryInAFolderThatStays) {
  const TemporaryDirectory stays("stays");
  EXPECT_EQ(TemporaryDirectory("test", stays.path()).path().parent_path(), stays.path());
  EXPECT_TRUE(std::filesystem::is_empty(stays.path()));
}

TEST(Files, RemovesTheTemporaryDirectory) {
  std::filesystem::path path;
  {
    const TemporaryDirectory directory("test");
    path = directory.path();
    write_file_atomic(path / "inside", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Files, RemovesTemporaryDirectoriesOfKilledProcesses) {
  namespace fs = std::filesystem;
  const TemporaryDirectory stays("stays");
  const TemporaryDirectory of_this("test", stays.path());
  if (fork() == 0) {
    const TemporaryDirectory orphan("test", stays.path());
    write_file_atomic(orphan.path() / "inside", "x");
    raise(SIGKILL);
  }
  wait(nullptr);
  const TemporaryDirectory too_early("test", stays.path());
  const auto count = [&] {
    return std::distance(fs::directory_iterator(stays.path()), fs::directory_iterator());
  };
  EXPECT_EQ(count(), 3); // the orphan may be new, and of a process that has not locked it yet
  for (const auto& folder : fs::directory_iterator(stays.path())) {
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  }
  const TemporaryDirectory sweeps("test", stays.path());
  EXPECT_EQ(count(), 3);
  EXPECT_TRUE(fs::exists(of_this.path()));
  EXPECT_TRUE(fs::exists(too_early.path()));
}

TEST(Text, IsWrappedAtSpaces) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap_words("one two three", 0), (Lines{"one two three"}));
  EXPECT_EQ(wrap_words("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap_words("a muchtoolong word", 6), (Lines{"a", "muchtoolong", "word"}));
  EXPECT_EQ(wrap_words("\u00e9\u00e9 \u00e9\u00e9", 5), (Lines{"\u00e9\u00e9 \u00e9\u00e9"}));
  EXPECT_EQ(wrap_words("", 5), (Lines{""}));
}

TEST(Text, ALineIsWrappedUnderItsDescription) {
  EXPECT_EQ(wrap_line("  --top N  rows of each", 16, 11), "  --top N  rows\n           of\n"
                                                          "           each");
  EXPECT_EQ(wrap_line("  short  ", 4, 2), "  short");
  EXPECT_EQ(wrap_lines("  a b c\nd\n", 5, 4), "  a b\n    c\nd\n");
}

TEST(AtomicFile, ReplacesOnlyWhatIsWhole) {
  const TemporaryDirectory directory("files");
  const auto path = directory.path() / "a.txt";
  write_file_atomic(path, "old");
  {
    AtomicFile file(path);
    file.write("half");
  }
  EXPECT_EQ(read_file(path, 100), "old");
  AtomicFile file(path);
  file.write("one ");
  file.write("two");
  file.commit();
  EXPECT_EQ(read_file(path, 100), "one two");
  EXPECT_THROW(AtomicFile(directory.path() / "none" / "b.txt"), Error);
}

TEST(AtomicFile, WritesToADeviceInPlace) {
  const TemporaryDirectory directory("files");
  const auto link = directory.path() / "null";
  std::filesystem::create_symlink("/dev/null", link);
  write_file_atomic(link, "text");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, SaysWhatToDoWhereNothingCanBeWritten) {
  try {
    write_file_atomic("/proc/mine.txt", "text");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/proc/mine.txt: cannot be written: "));
    EXPECT_THAT(error.remedy(), HasSubstr("a folder that exists and that you may write to"));
  }
  try {
    write_file_atomic("/dev/full", "text");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
    EXPECT_THAT(error.remedy(), HasSubstr("free some space"));
  }
}

TEST(Digest, ComputesAnHmac) { // RFC 4231, test case 2
  EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Text, ShowsWhatATerminalWouldObeyOrHide) {
  EXPECT_EQ(visible("plain\n\ttext \u00e9\u4e2d\U0001F600"),
            "plain\n\ttext \u00e9\u4e2d\U0001F600");
  EXPECT_EQ(visible("\x1b[2J\r\x07\x7f"), "\\u001b[2J\\u000d\\u0007\\u007f");
  EXPECT_EQ(visible("\u009b31m"), "\\u009b31m");
  EXPECT_EQ(visible("a\u202eb\u202cc\u2066d\u2069\u200be\ufeff\u200f"),
            "a\\u202eb\\u202cc\\u2066d\\u2069\\u200be\\ufeff\\u200f");
  EXPECT_EQ(visible("\U000E0041"), "\\udb40\\udc41") << "a tag, as JSON writes it";
  EXPECT_EQ(visible("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\u0000");
}

TEST(Secrets, ATakenVariableIsNotInTheBlockThatProcShows) {
  static char block[] = "WINNOW_KEY_I=sk-hidden-0123456789";
  putenv(block);
  EXPECT_EQ(take_variable("WINNOW_KEY_I"), "sk-hidden-0123456789");
  EXPECT_STREQ(block, "WINNOW_KEY_I=");
  EXPECT_EQ(std::getenv("WINNOW_KEY_I"), nullptr);
  EXPECT_EQ(take_variable("WINNOW_KEY_I"), std::nullopt);
}

TEST(Secrets, AreCutOutInLinearTime) {
  keep_secret("sk-one-0123456789");
  keep_secret("sk-one-0123456789-longer");
  keep_secret("none");
  EXPECT_EQ(without_secrets("a sk-one-0123456789, sk-one-0123456789-longer none"),
            "a [key], [key] none");
  std::string many;
  for (int i = 0; i < 1'000'000; ++i) {
    many += "sk-one-0123456789";
  }
  const auto begin = std::chrono::steady_clock::now();
  cut_secrets(many);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30))
      << "quadratic time takes minutes";
  EXPECT_EQ(many.size(), 5'000'000U);
}

TEST(Files, KeepTextsForTheirOwner) {
  const TemporaryDirectory folder("private");
  const std::filesystem::path path = folder.path() / "file";
  const auto mode = [&] {
    return std::filesystem::status(path).permissions() & std::filesystem::perms::mask;
  };
  write_file_atomic(path, "text");
  EXPECT_NE(mode(), std::filesystem::perms(0600));
  write_file_atomic(path, "text", Readers::Owner);
  EXPECT_EQ(mode(), std::filesystem::perms(0600));
}

std::string refusal_of_toml(const std::string& text) {
  try {
    TomlReader::parse(text, "f.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "read";
}

TEST(Toml, RefusesWhatIsTooDeepForTheParser) {
  std::string names = "a", braces = "x = ", brackets = "x = ";
  for (int i = 0; i < 50'000; ++i) {
    names += i % 2 == 0 ? ".a" : " . \"b\"";
    braces += "{a.a = ";
    brackets += "[";
  }
  const std::string too_long = "this key has too many names; expected at most 32";
  EXPECT_THAT(refusal_of_toml("[" + names + "]\n"), HasSubstr(too_long));
  EXPECT_THAT(refusal_of_toml("[[" + names + "]]\n"), HasSubstr(too_long));
  EXPECT_THAT(refusal_of_toml(names + " = 1\n"), HasSubstr(too_long));
  EXPECT_THAT(refusal_of_toml("x = {" + names + " = 1}\n"), HasSubstr(too_long));
  for (const char quote : {'"', '\''}) { // a long string may end with two more of its quotes
    for (const std::size_t quotes : {3U, 4U, 5U}) {
      const std::string value = std::string(3, quote) + "y" + std::string(quotes, quote);
      EXPECT_THAT(refusal_of_toml("x = {s = " + value + ", " + names + " = 1}\n"),
                  HasSubstr(too_long))
          << value;
    }
  }
  EXPECT_THAT(refusal_of_toml(braces), HasSubstr("too many brackets within each other"));
  EXPECT_THAT(refusal_of_toml(brackets), HasSubstr("too many brackets within each other"));
  EXPECT_EQ(refusal_of_toml("# " + names + "\nx = \"" + std::string(500, '.') + "\"\ny = '''\n" +
                            std::string(500, '[') + "\n'''\nz = [1.5, 2.5]\n"),
            "read");
}

TEST(FreedMemory, LargeBlocksGoBackToTheSystem) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers allocate memory in their own way";
  }
  EXPECT_EXIT(
      {
        give_back_freed_memory();
        { const std::string large(std::size_t{16} << 20U, 'x'); } // else glibc keeps smaller ones
        const std::string block(std::size_t{1} << 20U, 'x');
        std::exit(mallinfo2().hblks > 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

std::size_t resident_bytes() {
  std::size_t program = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> program >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(FreedMemory, FreePagesBetweenBlocksGoBackToTheSystem) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers allocate memory in their own way";
  }
  std::vector<std::string> small(4000, std::string(16'000, 'x'));
  const std::string last = std::move(small.back()); // the heap does not end before it
  small.clear();
  const std::size_t before = resident_bytes();
  trim_freed_memory();
  EXPECT_LT(resident_bytes() + (std::size_t{32} << 20U), before);
}

} // namespace
} // namespace winnow
