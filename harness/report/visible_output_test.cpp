#include "base/files.h"
#include "harness/report/visible_output.h"

#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

/// What `write` sends to the terminal behind std::cout.
template <typename Write> std::string sent(const Write& write) {
  std::ostringstream terminal;
  std::streambuf* before = std::cout.rdbuf(terminal.rdbuf());
  {
    const VisibleOutput visible_output;
    write();
  }
  std::cout.rdbuf(before);
  return terminal.str();
}

TEST(VisibleOutput, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(sent([] { std::cout << "a\x1b[2J" << '\x07' << 7 << "\u202e\n"; }),
            "a\\u001b[2J\\u00077\\u202e\n");
}

TEST(VisibleOutput, PutsCharactersTogetherThatAreWrittenInPieces) {
  EXPECT_EQ(sent([] {
              for (const char c : std::string("\u00e9\u202e\U0001F600\xff|")) {
                std::cout << c << std::flush;
              }
            }),
            "\u00e9\\u202e\U0001F600\\xff|");
  EXPECT_EQ(sent([] { std::cout << "\xe2\x80"; }), "\\xe2\\x80") << "never completed";
}

TEST(VisibleOutput, KeepsLineEndsOfCsvButNoOtherReturn) {
  EXPECT_EQ(sent([] {
              std::cout << "a\r"
                        << "\nb\rc\r\n";
            }),
            "a\r\nb\\u000dc\r\n");
}

TEST(VisibleOutput, LetsOnlyWinnowItselfEraseALine) {
  EXPECT_EQ(sent([] { std::cout << erase_line << "\r\x1b[K"; }), "\r\x1b[K\\u000d\\u001b[K");
}

TEST(VisibleOutput, KeepsTheBytesOfAFileThatNobodyLooksAt) {
  if (isatty(STDOUT_FILENO) == 0) {
    EXPECT_EQ(sent([] { print_file("a\x1b\xff"); }), "a\x1b\xff");
  }
}

bool is_program_text(const fs::path& path) {
  const std::string name = path.filename().string();
  return (name.ends_with(".cpp") || name.ends_with(".h")) &&
         name.find("_test.") == std::string::npos &&
         path.string().find("/testing/") == std::string::npos;
}

// A printf would go around the buffers. Hidden children (evaluators/, process/) may: the
// coordinator reads what they print.
TEST(VisibleOutput, IsTheOnlyWayToPrint) {
  const std::vector<std::string> ways{
      "std::printf", "fprintf(",     "std::puts",      "fputs(",         "fwrite(",
      "fmt::print",  "std::clog",    "STDOUT_FILENO,", "STDERR_FILENO,", "stdout_sink",
      "stderr_sink", "stdout_color", "stderr_color"};
  for (const char* folder :
       {"base", "tasks", "profiling", "search", "lab", "store", "agents", "remote", "harness"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(WINNOW_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file() || !is_program_text(entry.path()) ||
          entry.path().string().find("host_program") != std::string::npos ||
          entry.path().filename() == "interrupt.cpp") {
        continue; // host_program/ writes C++ that prints; a handler of signals writes a constant
      }
      const std::string text = read_file(entry.path(), 8U << 20U);
      for (const std::string& way : ways) {
        EXPECT_EQ(text.find(way), std::string::npos) << entry.path() << " prints by " << way;
      }
    }
  }
}

} // namespace
} // namespace winnow::harness
