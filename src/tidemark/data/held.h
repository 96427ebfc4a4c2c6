// Elements that an iterator keeps for later: counted as the dataset's meanwhile.
#pragma once

#include <utility>

#include "tidemark/data/dataset.h"
#include "tidemark/memory/buffer.h"

namespace tidemark::data {

class Held {
 public:
  Held() = default;
  explicit Held(Element element) : element_(std::move(element)) {
    relabel(memory::Holder::value, memory::Holder::dataset);
  }
  Held(Held&& other) noexcept : element_(std::exchange(other.element_, {})) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(element_, other.element_);
    return *this;
  }
  ~Held() { relabel(memory::Holder::dataset, memory::Holder::value); }

  const Element& element() const { return element_; }
  Element take() {
    relabel(memory::Holder::dataset, memory::Holder::value);
    return std::exchange(element_, {});
  }

 private:
  void relabel(memory::Holder from, memory::Holder to) noexcept {
    for (const Tensor& t : element_) {
      memory::Buffer* buffer = t.impl()->buffer;
      if (buffer && buffer->holder == from) memory::set_holder(buffer, to);
    }
  }
  Element element_;
};

}  // namespace tidemark::data
