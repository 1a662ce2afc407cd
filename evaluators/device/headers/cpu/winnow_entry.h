// The signature of each kernel as text in the module's read-only data, made by the compiler from
// the kernel's type (tasks/signature.h has the encoding): "p4fc:x i4:rows". It is read from the
// file. Included behind the candidate's code, which must not be able to change what it says.
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

template <class T> struct IsConst { static constexpr bool value = false; };
template <class T> struct IsConst<const T> { static constexpr bool value = true; };

// By name, as the headers with half, bfloat16 and fp8 types may not be included: float4, __half2,
// __nv_bfloat16, __nv_fp8_e4m3 ... Both compilers spell "T = NAME" in this function's own name.
template <class T> constexpr bool floating() {
  const char* name = __PRETTY_FUNCTION__;
  return contains(name, "T = float") || contains(name, "T = double") ||
         contains(name, "T = __half") || contains(name, "T = half") || contains(name, "bfloat16") ||
         contains(name, "T = __nv_fp8");
}

template <class T, class = void> struct Extent { static constexpr Size value = 1; };
template <class T> struct Extent<T, decltype(void(sizeof(T)))> {
  static constexpr Size value = sizeof(T);
};
// g++ takes sizeof(void) as an extension.
template <> struct Extent<void, void> { static constexpr Size value = 1; };

template <class T> struct Integer { static constexpr char kind = 'o'; };
#define WINNOW_ENTRY_KIND(type, letter)                                                            \
  template <> struct Integer<type> { static constexpr char kind = letter; };
WINNOW_ENTRY_KIND(bool, 'b')
WINNOW_ENTRY_KIND(signed char, 'i')
WINNOW_ENTRY_KIND(short, 'i')
WINNOW_ENTRY_KIND(int, 'i')
WINNOW_ENTRY_KIND(long, 'i')
WINNOW_ENTRY_KIND(long long, 'i')
WINNOW_ENTRY_KIND(char, 'i')
WINNOW_ENTRY_KIND(unsigned char, 'u')
WINNOW_ENTRY_KIND(unsigned short, 'u')
WINNOW_ENTRY_KIND(unsigned, 'u')
WINNOW_ENTRY_KIND(unsigned long, 'u')
WINNOW_ENTRY_KIND(unsigned long long, 'u')
WINNOW_ENTRY_KIND(float, 'f')
WINNOW_ENTRY_KIND(double, 'f')
#undef WINNOW_ENTRY_KIND

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

template <class T> struct Encode {
  template <class Out> static constexpr void to(Out& out) {
    const bool scalar_half = Integer<T>::kind == 'o' && floating<T>() && sizeof(T) <= 2;
    out.put(scalar_half ? 'f' : Integer<T>::kind);
    out.put_number(sizeof(T));
  }
};
template <class T> struct Encode<T*> {
  template <class Out> static constexpr void to(Out& out) {
    out.put('p');
    out.put_number(Extent<typename Plain<T>::type>::value);
    if (floating<typename Plain<T>::type>()) {
      out.put('f');
    }
    if (IsConst<T>::value) {
      out.put('c');
    }
  }
};

// Room for one parameter without its name: a space, kind, two numbers, "fc", ':'.
constexpr Size kItemBytes = 48;

template <class F> struct Signature;
template <class... P> struct Signature<void (*)(P...)> {
  template <Size NamesBytes> static constexpr auto text(const char (&names)[NamesBytes]) {
    Text<kItemBytes * sizeof...(P) + NamesBytes + 1> out;
    Size at = 0;
    const auto item = [&](auto encode) {
      if (out.used != 0) {
        out.put(' ');
      }
      encode(out);
      at = out.put_name(names, at);
    };
    (item([](auto& to) { Encode<typename Plain<P>::type>::to(to); }), ...);
    (void)item;
    return out;
  }
};

} // namespace winnow_entry

// The array winnow_signature_INDEX; the kernel comes last, as its template arguments may hold
// commas.
#define WINNOW_SIGNATURE(index, names, ...)                                                        \
  extern "C" {                                                                                     \
  extern __attribute__((visibility("default"), used))                                              \
  const decltype(winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(                            \
      names)) winnow_signature_##index;                                                            \
  constexpr decltype(winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(                        \
      names)) winnow_signature_##index =                                                           \
      winnow_entry::Signature<decltype(&__VA_ARGS__)>::text(names);                                \
  }
