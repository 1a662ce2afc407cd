#include "harness/named/command_store.h"

#include "base/error.h"
#include "harness/report/terminal.h"

namespace winnow::harness {

using Mode = store::RunStore::Mode;

CommandStore::CommandStore(std::string path, Use use) : path_(std::move(path)), use_(use) {}

const store::RunStore& CommandStore::to_read() {
  if (!store_) {
    store_.emplace(find_store(path_), keeps() ? Mode::ReadWrite : Mode::ReadOnly);
  }
  return *store_;
}

store::RunStore& CommandStore::to_keep() {
  if (!keeps()) {
    throw Error("the command names no store that it adds to");
  }
  if (!store_) {
    store_.emplace(path_, Mode::ReadWrite);
  }
  return *store_;
}

void CommandStore::open_if_kept() {
  if (keeps()) {
    to_keep();
  }
}

} // namespace winnow::harness
