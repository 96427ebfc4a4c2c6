// Datasets that say how many elements they have.
#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"

namespace tidemark::data {

namespace {

class Counted final : public Dataset {
 public:
  Counted(DatasetRef of, int64_t count)
      : Dataset("assert_cardinality"), of_(std::move(of)), count_(count) {}
  int64_t cardinality() const override { return count_; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<CountedIterator>(of_->iterate(), count_);
  }

  class CountedIterator final : public Iterator {
   public:
    CountedIterator(std::unique_ptr<Iterator> from, int64_t count)
        : from_(std::move(from)), count_(count) {}

   private:
    bool take_next(Element& out) override {
      if (from_->next(out)) {
        if (++taken_ > count_ && count_ >= 0) wrong("at least ");
        return true;
      }
      if (count_ == kInfinite || (count_ >= 0 && taken_ < count_)) wrong("");
      return false;
    }
    [[noreturn]] void wrong(const char* how) const {
      const auto text = [](int64_t count) {
        return count == kInfinite ? std::string("an infinite number of elements")
                                  : message(count, count == 1 ? " element" : " elements");
      };
      fail<FailedPreconditionError>("Input dataset was expected to contain ", text(count_),
                                    " but contained ", how, text(taken_), ".");
    }
    void save_state(StateWriter& to) override {
      to.number(taken_);
      from_->save(to);
    }
    void restore_state(StateReader& from) override {
      taken_ = from.number();
      from_->restore(from);
    }

    std::unique_ptr<Iterator> from_;
    int64_t count_, taken_ = 0;
  };

  DatasetRef of_;
  int64_t count_;
};

}  // namespace

DatasetRef counted(DatasetRef of, int64_t count) {
  return std::make_shared<Counted>(std::move(of), count);
}

}  // namespace tidemark::data
