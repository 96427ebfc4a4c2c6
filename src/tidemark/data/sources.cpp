// Where elements come from.
#include <algorithm>
#include <mutex>

#include "tidemark/data/dataset.h"
#include "tidemark/data/rows.h"
#include "tidemark/data/state.h"
#include "tidemark/graph/node.h"

namespace tidemark::data {

namespace {

/// What a function that is being traced makes tells types, and is never gone over.
const Element& with_values(const Element& element) {
  for (const Tensor& t : element) {
    if (!t.is_symbolic()) continue;
    fail<UnimplementedError>(
        "a dataset that was made inside of a function of a tensor without a value, ",
        graph::describe(t),
        ", cannot be gone over. Make the dataset outside of the function and pass it in, or loop "
        "over the tensor itself");
  }
  return element;
}

class Single final : public Dataset {
 public:
  explicit Single(Element element) : Dataset("from_tensors"), element_(std::move(element)) {}
  int64_t cardinality() const override { return 1; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<SingleIterator>(with_values(element_));
  }

  class SingleIterator final : public Iterator {
   public:
    explicit SingleIterator(Element element) : element_(std::move(element)) {}

   private:
    bool take_next(Element& out) override {
      if (is_done_) return false;
      is_done_ = true;
      out = element_;
      return true;
    }
    void save_state(StateWriter& to) override { to.number(is_done_); }
    void restore_state(StateReader& from) override { is_done_ = from.count(1); }

    Element element_;
    bool is_done_ = false;
  };

  Element element_;
};

class Slices final : public Dataset {
 public:
  explicit Slices(Element tensors) : Dataset("from_tensor_slices"), tensors_(std::move(tensors)) {
    if (tensors_.empty()) fail("[from_tensor_slices] at least one tensor is needed");
    for (const Tensor& t : tensors_) {
      if (t.rank() == 0) fail("[from_tensor_slices] a scalar has no rows to go over");
      if (t.dim(0) != tensors_[0].dim(0)) {
        fail("[from_tensor_slices] the tensors differ in their first size: ", tensors_[0].dim(0),
             " and ", t.dim(0));
      }
    }
  }
  int64_t cardinality() const override { return tensors_[0].dim(0); }
  const Element* rows() const override { return &tensors_; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<SliceIterator>(with_values(tensors_));
  }

  class SliceIterator final : public Iterator {
   public:
    explicit SliceIterator(Element tensors) : tensors_(std::move(tensors)) {}

   private:
    int64_t rows() const { return tensors_[0].dim(0); }
    bool take_next(Element& out) override {
      if (at_ >= rows()) return false;
      out.clear();
      for (const Tensor& t : tensors_) out.push_back(row_of(t, at_));
      ++at_;
      return true;
    }
    int64_t take_block(int64_t count, Element& out) override {
      const int64_t taken = std::min(count, rows() - at_);
      out.clear();
      for (const Tensor& t : tensors_) out.push_back(t.rows(at_, taken));
      at_ += taken;
      return taken;
    }
    int64_t leave_out(int64_t count) override {
      const int64_t taken = std::min(count, rows() - at_);
      at_ += taken;
      return taken;
    }
    void save_state(StateWriter& to) override { to.number(at_); }
    void restore_state(StateReader& from) override { at_ = from.count(rows()); }

    Element tensors_;
    int64_t at_ = 0;
  };

  Element tensors_;
};

class Range final : public Dataset {
 public:
  Range(int64_t start, int64_t stop, int64_t step, DType dtype)
      : Dataset("range"), start_(start), stop_(stop), step_(step), dtype_(dtype) {
    if (step == 0) fail("[range] the step must not be 0");
  }
  int64_t cardinality() const override {
    const int64_t span = step_ > 0 ? stop_ - start_ : start_ - stop_;
    const int64_t size = step_ > 0 ? step_ : -step_;
    return span <= 0 ? 0 : (span - 1) / size + 1;
  }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<RangeIterator>(start_, step_, cardinality(), dtype_);
  }

  class RangeIterator final : public Iterator {
   public:
    RangeIterator(int64_t start, int64_t step, int64_t count, DType dtype)
        : start_(start), step_(step), count_(count), dtype_(dtype) {}

   private:
    bool take_next(Element& out) override {
      if (taken_ == count_) return false;
      const int64_t value = start_ + taken_++ * step_;
      out.assign(1, dtype_ == DType::int32 ? Tensor(static_cast<int32_t>(value)) : Tensor(value));
      return true;
    }
    int64_t leave_out(int64_t count) override {
      const int64_t taken = std::min(count, count_ - taken_);
      taken_ += taken;
      return taken;
    }
    void save_state(StateWriter& to) override { to.number(taken_); }
    void restore_state(StateReader& from) override { taken_ = from.count(count_); }

    int64_t start_, step_, count_;
    DType dtype_;
    int64_t taken_ = 0;
  };

  int64_t start_, stop_, step_;
  DType dtype_;
};

class RandomNumbers final : public Dataset {
 public:
  RandomNumbers(Seeds seeds, bool again) : Dataset("random"), draws_(seeds), again_(again) {}
  int64_t cardinality() const override { return kInfinite; }

 private:
  std::unique_ptr<Iterator> start() const override {
    Seeds seeds = draws_.seeds();
    if (again_) {
      const std::lock_guard hold(mutex_);
      seeds.first = draws_.next();
      seeds.second = draws_.next();
    }
    return std::make_unique<RandomNumberIterator>(seeds);
  }

  class RandomNumberIterator final : public Iterator {
   public:
    explicit RandomNumberIterator(Seeds seeds) : draws_(seeds) {}

   private:
    bool take_next(Element& out) override {
      out.assign(1, Tensor(static_cast<int64_t>(draws_.next())));
      return true;
    }
    void save_state(StateWriter& to) override { save_draws(to, draws_); }
    void restore_state(StateReader& from) override { draws_ = restore_draws(from); }

    Draws draws_;
  };

  mutable std::mutex mutex_;
  mutable Draws draws_;
  bool again_;
};

class Generated final : public Dataset {
 public:
  Generated(std::function<std::unique_ptr<Iterator>()> make, int64_t count, const char* name)
      : Dataset(name), make_(std::move(make)), count_(count) {}
  int64_t cardinality() const override { return count_; }

 private:
  std::unique_ptr<Iterator> start() const override { return make_(); }

  std::function<std::unique_ptr<Iterator>()> make_;
  int64_t count_;
};

}  // namespace

DatasetRef single(Element element) {
  bring_to_host(element);
  return std::make_shared<Single>(std::move(element));
}
DatasetRef slices(Element tensors) {
  bring_to_host(tensors);
  return std::make_shared<Slices>(std::move(tensors));
}
DatasetRef range(int64_t start, int64_t stop, int64_t step, DType dtype) {
  return std::make_shared<Range>(start, stop, step, dtype);
}
DatasetRef random_numbers(Seeds seeds, bool again) {
  return std::make_shared<RandomNumbers>(seeds, again);
}
DatasetRef generated(std::function<std::unique_ptr<Iterator>()> make, int64_t count,
                     const char* name) {
  return std::make_shared<Generated>(std::move(make), count, name);
}

}  // namespace tidemark::data
