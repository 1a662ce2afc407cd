#pragma once

#include <concepts>
#include <type_traits>

// The list of a struct's fields, which stands once, beside the struct:
//
//   WINNOW_FIELDS(Bounds, low, high)
//
// Then list_fields(io, bounds) calls io.field("low", bounds.low) and io.field("high", bounds.high).
// It does not compile if a field is missing. JSON without loss (tasks/json/json_fields.h), SQL and
// public JSON (store/fields.h) follow from the list.

#define WINNOW_FIELDS(Type, ...)                                                                   \
  template <typename Io, typename Value>                                                           \
  requires std::same_as<std::remove_const_t<Value>, Type>                                          \
  void list_fields(Io& io, Value& listed_struct) {                                                 \
    { [[maybe_unused]] auto& [__VA_ARGS__] = listed_struct; }                                      \
    WINNOW_RESCAN(WINNOW_FIRST_FIELD(__VA_ARGS__))                                                 \
  }

// The preprocessor expands a macro once a scan, so each rescan allows further fields: 256 of them.
#define WINNOW_FIRST_FIELD(name, ...)                                                              \
  io.field(#name, listed_struct.name);                                                             \
  __VA_OPT__(WINNOW_NEXT_FIELD WINNOW_NOTHING()(__VA_ARGS__))
#define WINNOW_NEXT_FIELD(name, ...)                                                               \
  io.field(#name, listed_struct.name);                                                             \
  __VA_OPT__(WINNOW_FIRST_FIELD WINNOW_NOTHING()(__VA_ARGS__))
#define WINNOW_NOTHING()
#define WINNOW_RESCAN(...)                                                                         \
  WINNOW_RESCAN_3(WINNOW_RESCAN_3(WINNOW_RESCAN_3(WINNOW_RESCAN_3(__VA_ARGS__))))
#define WINNOW_RESCAN_3(...)                                                                       \
  WINNOW_RESCAN_2(WINNOW_RESCAN_2(WINNOW_RESCAN_2(WINNOW_RESCAN_2(__VA_ARGS__))))
#define WINNOW_RESCAN_2(...)                                                                       \
  WINNOW_RESCAN_1(WINNOW_RESCAN_1(WINNOW_RESCAN_1(WINNOW_RESCAN_1(__VA_ARGS__))))
#define WINNOW_RESCAN_1(...) __VA_ARGS__
