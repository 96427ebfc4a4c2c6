// Elements in the memory of a device. The copy is enqueued where the element is asked for: behind a
// prefetch that is its thread, and who takes the element waits for nothing.
#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"

namespace tidemark::data {

namespace {

class OnDevice final : public Dataset {
 public:
  OnDevice(DatasetRef of, Device device)
      : Dataset("copy_to_device"), of_(std::move(of)), device_(device) {}
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  class OnDeviceIterator final : public Iterator {
   public:
    OnDeviceIterator(std::unique_ptr<Iterator> from, Device device)
        : from_(std::move(from)), device_(device) {}

   private:
    bool take_next(Element& out) override {
      Element here;
      if (!from_->next(here)) return false;
      for (Tensor& t : here) {
        if (t.dtype() != DType::string) t = t.to(device_);
      }
      out = std::move(here);
      return true;
    }
    int64_t leave_out(int64_t count) override { return from_->skip(count); }
    void save_state(StateWriter& to) override { from_->save(to); }
    void restore_state(StateReader& from) override { from_->restore(from); }

    const std::unique_ptr<Iterator> from_;
    const Device device_;
  };

  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<OnDeviceIterator>(of_->iterate(), device_);
  }

  const DatasetRef of_;
  const Device device_;
};

}  // namespace

DatasetRef on_device(DatasetRef of, Device device) {
  return std::make_shared<OnDevice>(std::move(of), device);
}

}  // namespace tidemark::data
