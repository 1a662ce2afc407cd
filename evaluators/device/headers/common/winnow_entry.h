// The signature of each kernel as text in the module's data, made by the compiler from the kernel's
// type (tasks/plan/signature.h has the encoding): "p4fc:x i4:rows". It is read from the file, as
// are the constant expressions of the plan. Included behind the candidate's code, which must not be
// able to change what it says. NVRTC reads this with -default-device; clang takes constexpr
// functions for both sides.
#pragma once

namespace winnow_entry {

using Size = decltype(sizeof(0));

constexpr Size length(const char* text) {
  Size n = 0;
  while (text[n] != '\0') {
    ++n;
  }
  return n;
}

constexpr bool contains(const char* text, const char* word) {
  for (; *text != '\0'; ++text) {
    Size n = 0;
    while (word[n] != '\0' && text[n] == word[n]) {
      ++n;
    }
    if (word[n] == '\0') {
      return true;
    }
  }
  return false;
}

template <class T> struct Plain { using type = T; };
template <class T> struct Plain<const T> { using type = T; };
template <class T> struct Plain<volatile T> { using type = T; };
template <class T> struct Plain<const volatile T> { using type = T; };

template <class T> struct Tag {};

// By name, as the headers with half, bfloat16 and fp8 types may not be included: float4, __half2,
// __nv_bfloat16, __nv_fp8_e4m3 ... Compilers spell "T = NAME" in this function's own name, NVRTC
// "T=NAME".
template <class T> constexpr bool named_floating() {
  const char* name = __PRETTY_FUNCTION__;
  return contains(name, "T = float") || contains(name, "T=float") || contains(name, "T = double") ||
         contains(name, "T=double") || contains(name, "T = __half") || contains(name, "T=__half") ||
         contains(name, "T = half") || contains(name, "T=half") || contains(name, "bfloat16") ||
         contains(name, "T = __nv_fp") || contains(name, "T=__nv_fp");
}

// Functions rather than static members, which GPU compilers would put into the module.
template <class T> constexpr char kind(Tag<T>) { return 'o'; }
constexpr char kind(Tag<bool>) { return 'b'; }
constexpr char kind(Tag<signed char>) { return 'i'; }
constexpr char kind(Tag<short>) { return 'i'; }
constexpr char kind(Tag<int>) { return 'i'; }
constexpr char kind(Tag<long>) { return 'i'; }
constexpr char kind(Tag<long long>) { return 'i'; }
constexpr char kind(Tag<char>) { return 'i'; }
constexpr char kind(Tag<unsigned char>) { return 'u'; }
constexpr char kind(Tag<unsigned short>) { return 'u'; }
constexpr char kind(Tag<unsigned>) { return 'u'; }
constexpr char kind(Tag<unsigned long>) { return 'u'; }
constexpr char kind(Tag<unsigned long long>) { return 'u'; }
constexpr char kind(Tag<float>) { return 'f'; }
constexpr char kind(Tag<double>) { return 'f'; }

template <class T> constexpr bool floating() {
  const char known = kind(Tag<T>());
  return known == 'f' || (known == 'o' && named_floating<T>());
}

// Of void and of incomplete types 1. g++ takes sizeof(void) as an extension.
constexpr Size extent(Tag<void>, int) { return 1; }
template <class T> constexpr Size extent(Tag<T>, decltype(sizeof(T))) { return sizeof(T); }
template <class T> constexpr Size extent(Tag<T>, ...) { return 1; }

// float2, __half2 and the like are structs of several.
template <class T> constexpr bool scalar_float() {
  return kind(Tag<T>()) == 'f' || (extent(Tag<T>(), 0) <= 2 && floating<T>());
}

template <class T> constexpr bool is_const(Tag<T>) { return false; }
template <class T> constexpr bool is_const(Tag<const T>) { return true; }

template <Size N> struct Text {
  char bytes[N] = {};
  Size used = 0;
  constexpr void put(char c) { bytes[used++] = c; }
  constexpr void put_number(Size value) {
    if (value >= 10) {
      put_number(value / 10);
    }
    put(static_cast<char>('0' + value % 10));
  }
  // The name that begins at `at` of `names` (each is ended by a NUL); returns where the next
  // begins.
  template <Size NamesBytes> constexpr Size put_name(const char (&names)[NamesBytes], Size at) {
    put(':');
    for (; at + 1 < NamesBytes && names[at] != '\0'; ++at) {
      put(names[at]);
    }
    return at + 1;
  }
};

template <class T, class Out> constexpr void encode(Out& out, Tag<T> type) {
  out.put(scalar_float<T>() ? 'f' : kind(type));
  out.put_number(sizeof(T));
}
template <class T, class Out> constexpr void encode(Out& out, Tag<T*>) {
  using Element = typename Plain<T>::type;
  out.put('p');
  out.put_number(extent(Tag<Element>(), 0));
  if (scalar_float<Element>()) {
    out.put('f');
  }
  if (is_const(Tag<T>())) {
    out.put('c');
  }
}

// Room for one parameter without its name: a space, kind, two numbers, "fc", ':'.
enum : Size { kItemBytes = 48 };

template <class T, class Out, Size NamesBytes>
constexpr void put_item(Out& out, const char (&names)[NamesBytes], Size& at) {
  if (out.used != 0) {
    out.put(' ');
  }
  encode(out, Tag<typename Plain<T>::type>());
  at = out.put_name(names, at);
}

template <class F> struct Signature;
template <class... P> struct Signature<void (*)(P...)> {
  template <Size NamesBytes> static constexpr auto text(const char (&names)[NamesBytes]) {
    Text<kItemBytes * sizeof...(P) + NamesBytes + 1> out;
    [[maybe_unused]] Size at = 0;
    (put_item<P>(out, names, at), ...);
    return out;
  }
};

} // namespace winnow_entry

#if defined(WINNOW_CPU_DEVICE)
#define WINNOW_ENTRY_DATA __attribute__((visibility("default"), used))
#else
#define WINNOW_ENTRY_DATA __device__ __attribute__((used))
#endif

// The array winnow_signature_INDEX; the kernel comes last, as its template arguments may hold
// commas.
#define WINNOW_SIGNATURE(index, names, ...)                                                        \
  extern "C" {                                                                                     \
  extern WINNOW_ENTRY_DATA const decltype(winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(   \
      names)) winnow_signature_##index;                                                            \
  WINNOW_ENTRY_DATA constexpr decltype(winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(      \
      names)) winnow_signature_##index =                                                           \
      winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(names);                                \
  }

// The number winnow_constant_INDEX: the value of a constant expression of the plan.
#define WINNOW_CONSTANT(index, ...)                                                                \
  extern "C" {                                                                                     \
  extern WINNOW_ENTRY_DATA const long long winnow_constant_##index;                                \
  WINNOW_ENTRY_DATA constexpr long long winnow_constant_##index = (long long)(__VA_ARGS__);        \
  }
