#include "tidemark/kernels/cpu/arrays/combine.h"

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tidemark::cpu {

namespace {

/// What arithmetic on T happens in.
template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<Half> {
  using type = float;
};
template <>
struct Compute<BFloat16> {
  using type = float;
};

template <class T>
constexpr bool kIsComplex = is_complex(dtype_of<T>());

/// Integers wrap around, as they do elsewhere; unsigned arithmetic is defined to.
template <class T, Combine How>
T combined(T a, T b) {
  using C = typename Compute<T>::type;
  if constexpr (std::is_same_v<T, bool>) {
    return How == Combine::multiply ? a && b : a || b;
  } else if constexpr (std::is_integral_v<T> && How != Combine::min && How != Combine::max) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    if constexpr (How == Combine::add) return static_cast<T>(x + y);
    if constexpr (How == Combine::subtract) return static_cast<T>(x - y);
    return static_cast<T>(x * y);
  } else {
    const C x = static_cast<C>(a), y = static_cast<C>(b);
    if constexpr (How == Combine::add) return static_cast<T>(x + y);
    if constexpr (How == Combine::subtract) return static_cast<T>(x - y);
    if constexpr (How == Combine::multiply) return static_cast<T>(x * y);
    if constexpr (How == Combine::min) return y < x || y != y ? b : a;
    if constexpr (How == Combine::max) return y > x || y != y ? b : a;
  }
}

template <class T, Combine How>
void run_row(void* to, const void* from, int64_t count) {
  T* a = static_cast<T*>(to);
  const T* b = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) a[i] = combined<T, How>(a[i], b[i]);
}

template <size_t Bytes>
void assign_row(void* to, const void* from, int64_t count) {
  std::memcpy(to, from, static_cast<size_t>(count) * Bytes);
}

template <class T>
CombineRow row_of_type(Combine how) {
  switch (how) {
    case Combine::assign:
      return assign_row<sizeof(T)>;
    case Combine::add:
      return run_row<T, Combine::add>;
    case Combine::subtract:
      return run_row<T, Combine::subtract>;
    case Combine::multiply:
      return run_row<T, Combine::multiply>;
    case Combine::min:
      if constexpr (!kIsComplex<T>) return run_row<T, Combine::min>;
      return nullptr;
    case Combine::max:
      if constexpr (!kIsComplex<T>) return run_row<T, Combine::max>;
      return nullptr;
  }
  return nullptr;
}

template <class T>
void divide_row_of_type(void* to, int64_t count, int64_t by) {
  using C = typename Compute<T>::type;
  T* values = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsComplex<T>) {
      values[i] /= static_cast<typename T::value_type>(by);
    } else if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      values[i] = static_cast<T>(static_cast<Wide>(values[i]) / static_cast<Wide>(by));
    } else {
      values[i] = static_cast<T>(static_cast<C>(values[i]) / static_cast<C>(by));
    }
  }
}

template <class T>
T neutral(Combine how) {
  using C = typename Compute<T>::type;
  if constexpr (kIsComplex<T>) {
    return T(how == Combine::multiply ? 1 : 0);
  } else if constexpr (std::is_same_v<T, Half>) {
    const float most = 65504.f;
    if (how == Combine::min || how == Combine::max) return T(how == Combine::min ? most : -most);
    return T(how == Combine::multiply ? 1.f : 0.f);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    T most;
    most.bits = how == Combine::min ? 0x7f7f : 0xff7f;
    if (how == Combine::min || how == Combine::max) return most;
    return T(how == Combine::multiply ? 1.f : 0.f);
  } else {
    if (how == Combine::min) return std::numeric_limits<C>::max();
    if (how == Combine::max) return std::numeric_limits<C>::lowest();
    return static_cast<T>(how == Combine::multiply ? 1 : 0);
  }
}

/// Calls fn with a value of the dtype's type; false for strings.
template <class Fn>
bool with_type(DType dtype, Fn&& fn) {
  switch (dtype) {
#define TIDEMARK_TYPE(type) \
  case dtype_of<type>():    \
    fn(type{});             \
    return true;
    TIDEMARK_TYPE(bool)
    TIDEMARK_TYPE(int8_t)
    TIDEMARK_TYPE(int16_t)
    TIDEMARK_TYPE(int32_t)
    TIDEMARK_TYPE(int64_t)
    TIDEMARK_TYPE(uint8_t)
    TIDEMARK_TYPE(uint16_t)
    TIDEMARK_TYPE(uint32_t)
    TIDEMARK_TYPE(uint64_t)
    TIDEMARK_TYPE(Half)
    TIDEMARK_TYPE(BFloat16)
    TIDEMARK_TYPE(float)
    TIDEMARK_TYPE(double)
    TIDEMARK_TYPE(std::complex<float>)
    TIDEMARK_TYPE(std::complex<double>)
#undef TIDEMARK_TYPE
    default:
      return false;
  }
}

}  // namespace

CombineRow combine_row(Combine how, DType dtype) {
  CombineRow row = nullptr;
  with_type(dtype, [&](auto value) { row = row_of_type<decltype(value)>(how); });
  return row;
}

DivideRow divide_row(DType dtype) {
  DivideRow row = nullptr;
  with_type(dtype, [&](auto value) {
    using T = decltype(value);
    if constexpr (!std::is_same_v<T, bool>) row = divide_row_of_type<T>;
  });
  return row;
}

void fill_neutral(Combine how, DType dtype, void* to, int64_t count) {
  with_type(dtype, [&](auto value) {
    using T = decltype(value);
    std::fill_n(static_cast<T*>(to), count, neutral<T>(how));
  });
}

}  // namespace tidemark::cpu
