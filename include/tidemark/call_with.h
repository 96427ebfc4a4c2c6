// Functions of tensors, called with a list of them: what steps of pipelines, signatures of models
// and training take.
//
//   auto scaled = [](const td::Tensor& x, const td::Tensor& by) { return x * by; };
//   std::vector<td::Tensor> given = {td::ones({3}), 2.f};
//   td::Tensor y = td::detail::call_with(scaled, given);
//   std::vector<td::Tensor> all = td::detail::as_tensors(std::pair(y, y));
#pragma once

#include <tidemark/error.h>
#include <tidemark/tensor.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tidemark::detail {

template <class F, size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return std::is_invocable_v<F&, decltype((void(i), std::declval<const Tensor&>()))...>;
}

/// How many tensors it takes, up to 8; 0: it takes the list.
template <class F, size_t count = 1>
constexpr size_t tensors_taken() {
  if constexpr (std::is_invocable_v<F&, const std::vector<Tensor>&>) {
    return 0;
  } else {
    static_assert(count <= 8, "not a function of one to eight tensors, or of a list of them");
    if constexpr (takes<F>(std::make_index_sequence<count>())) {
      return count;
    } else {
      return tensors_taken<F, count + 1>();
    }
  }
}

/// Throws InvalidArgumentError where the function takes another number of tensors.
template <class F>
auto call_with(F& function, const std::vector<Tensor>& given) {
  constexpr size_t kTaken = tensors_taken<F>();
  if constexpr (kTaken == 0) {
    return function(given);
  } else {
    if (given.size() != kTaken) {
      fail("the function takes ", kTaken, " tensors; ", given.size(), " were given");
    }
    return [&]<size_t... i>(std::index_sequence<i...>) { return function(given[i]...); }
    (std::make_index_sequence<kTaken>());
  }
}

inline std::vector<Tensor> as_tensors(std::vector<Tensor> all) { return all; }
inline std::vector<Tensor> as_tensors(Tensor one) { return {std::move(one)}; }
template <class Several>
requires requires { std::tuple_size<Several>::value; }
std::vector<Tensor> as_tensors(Several several) {
  return std::apply([](auto&&... part) { return std::vector<Tensor>{Tensor(part)...}; }, several);
}

}  // namespace tidemark::detail
