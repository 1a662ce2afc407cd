#pragma once

#include <iosfwd>
#include <memory>
#include <string_view>

namespace winnow::harness {

/// While it lives, all that is written to std::cout and std::cerr is visible (base/text.h):
/// workers, models, stores and configurations can send nothing to a terminal. There is no other way
/// to print: visible_output_test.cpp looks for one.
class VisibleOutput {
public:
  VisibleOutput();
  ~VisibleOutput();
  /// Whether anything was written to std::cout.
  bool has_begun() const;
  VisibleOutput(const VisibleOutput&) = delete; // the streams have one buffer
  VisibleOutput& operator=(const VisibleOutput&) = delete;

private:
  class Buffer;
  friend std::ostream& erase_line(std::ostream& out);
  friend void print_file(std::string_view bytes);

  std::unique_ptr<Buffer> out_, err_;
};

/// Goes to the beginning of the line and erases it: the only control that Winnow sends to a
/// terminal. `out << erase_line`.
std::ostream& erase_line(std::ostream& out);

/// Prints the contents of a file, such as an export or a kernel: to a terminal visibly, elsewhere
/// byte by byte.
void print_file(std::string_view bytes);

} // namespace winnow::harness
