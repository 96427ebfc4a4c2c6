#include "tidemark/data/nested.h"

#include <mutex>
#include <unordered_map>

#include "tidemark/data/held.h"
#include "tidemark/data/state.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::data {

namespace {

/// Knows datasets that stand in tensors by their numbers; owns none.
struct Numbers {
  std::mutex mutex;
  int64_t last = 0;
  std::unordered_map<int64_t, std::weak_ptr<const Dataset>> all;
};

/// Never destroyed: tensors may go after the statics of this file.
Numbers& numbers() {
  static Numbers& made = *new Numbers;
  return made;
}

/// What the memory of such a tensor is.
struct Owner {
  int64_t number;
  DatasetRef dataset;
};

void give_back(void* object) {
  const std::unique_ptr<Owner> owner(static_cast<Owner*>(object));
  const std::lock_guard hold(numbers().mutex);
  numbers().all.erase(owner->number);
}

class Listed final : public Dataset {
 public:
  explicit Listed(std::vector<Element> elements)
      : Dataset("window"), store_(std::make_shared<Store>(memory::Holder::dataset)) {
    for (Element& e : elements) held_.emplace_back(*store_, std::move(e));
  }
  int64_t cardinality() const override { return static_cast<int64_t>(held_.size()); }
  const std::vector<Held>& held() const { return held_; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<ListedIterator>(
        std::static_pointer_cast<const Listed>(shared_from_this()));
  }

  class ListedIterator final : public Iterator {
   public:
    explicit ListedIterator(std::shared_ptr<const Listed> of) : all_(std::move(of)) {}

   private:
    bool take_next(Element& out) override {
      if (at_ >= all_->held_.size()) return false;
      out = all_->held_[at_++].element();
      return true;
    }
    int64_t leave_out(int64_t count) override {
      const auto taken = std::min<size_t>(static_cast<size_t>(count), all_->held_.size() - at_);
      at_ += taken;
      return static_cast<int64_t>(taken);
    }
    void save_state(StateWriter& to) override { to.number(static_cast<int64_t>(at_)); }
    void restore_state(StateReader& from) override {
      at_ = static_cast<size_t>(from.count(static_cast<int64_t>(all_->held_.size())));
    }

    std::shared_ptr<const Listed> all_;
    size_t at_ = 0;
  };

  std::shared_ptr<Store> store_;
  std::vector<Held> held_;
};

}  // namespace

Tensor as_tensor(DatasetRef dataset) {
  auto owner = std::make_unique<Owner>(Owner{0, std::move(dataset)});
  {
    const std::lock_guard hold(numbers().mutex);
    owner->number = ++numbers().last;
    numbers().all.emplace(owner->number, owner->dataset);
  }
  Owner* kept = owner.release();
  return borrowed_tensor(DType::int64, Shape{}, &kept->number, true, give_back, kept);
}

bool is_dataset(const Tensor& t) noexcept {
  const memory::Buffer* buffer = t.impl()->buffer;
  return buffer && buffer->give_back == give_back;
}

DatasetRef dataset_of(const Tensor& number) {
  if (number.dtype() == DType::int64 && number.num_elements() == 1) {
    const std::lock_guard hold(numbers().mutex);
    const auto found = numbers().all.find(number.item<int64_t>());
    if (found != numbers().all.end()) {
      if (DatasetRef dataset = found->second.lock()) return dataset;
    }
  }
  fail(
      "the tensor stands for no dataset that is alive. Datasets inside elements cannot be batched, "
      "computed with or kept longer than what they came from");
}

std::unique_ptr<std::vector<Element>> listed_elements(const Dataset& dataset) {
  const auto* found = dynamic_cast<const Listed*>(&dataset);
  if (!found) return nullptr;
  auto out = std::make_unique<std::vector<Element>>();
  for (const Held& one : found->held()) out->push_back(one.element());
  return out;
}

DatasetRef listed(std::vector<Element> elements) {
  return std::make_shared<Listed>(std::move(elements));
}

}  // namespace tidemark::data
