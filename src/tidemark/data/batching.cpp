// Elements put together and taken apart.
#include <algorithm>
#include <cstring>

#include "tidemark/data/dataset.h"
#include "tidemark/data/file.h"
#include "tidemark/data/state.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::data {

namespace {

Tensor stack_strings(std::span<const Element> elements, size_t component, const Shape& shape) {
  std::vector<std::string_view> texts;
  for (const Element& e : elements) {
    for (int64_t i = 0; i < e[component].num_elements(); ++i) {
      texts.push_back(e[component].string_at(i));
    }
  }
  return Tensor::of_strings(texts, shape);
}

void check_fits(std::span<const Element> elements, const Element& e, size_t component) {
  const Tensor& first = elements[0][component];
  if (e.size() != elements[0].size() || e[component].dtype() != first.dtype()) {
    fail("[batch] elements of one batch must have one dtype: component ", component, " is ",
         name_of(first.dtype()), " in one and ", name_of(e[component].dtype()), " in another");
  }
  if (e[component].shape() == first.shape()) return;
  fail("[batch] Cannot batch tensors with different shapes in component ", component,
       ". First element had shape ", first.shape().to_brackets(), " and element ",
       &e - elements.data(), " had shape ", e[component].shape().to_brackets(),
       ". Use padded_batch, or give them one shape first");
}

Tensor stack_component(std::span<const Element> elements, size_t component) {
  const Tensor& first = elements[0][component];
  Shape shape = first.shape();
  shape.insert(0, static_cast<int64_t>(elements.size()));
  for (const Element& e : elements) check_fits(elements, e, component);
  if (first.dtype() == DType::string) return stack_strings(elements, component, shape);
  Tensor out = new_tensor(first.dtype(), shape);
  char* to = static_cast<char*>(out.mutable_raw_data());
  for (const Element& e : elements) {
    if (e[component].nbytes() == 0) continue;
    std::memcpy(to, e[component].raw_data(), e[component].nbytes());
    to += e[component].nbytes();
  }
  return out;
}

/// Copies a block of any rank into the corner of a larger one.
void copy_corner(const char* from, const Shape& from_shape, char* to, const Shape& to_shape,
                 size_t item, int axis) {
  if (axis == from_shape.rank()) {
    std::memcpy(to, from, item);
    return;
  }
  size_t from_step = item, to_step = item;
  for (int i = axis + 1; i < from_shape.rank(); ++i) {
    from_step *= static_cast<size_t>(from_shape[i]);
    to_step *= static_cast<size_t>(to_shape[i]);
  }
  if (axis + 1 == from_shape.rank()) {
    std::memcpy(to, from, from_step * static_cast<size_t>(from_shape[axis]));
    return;
  }
  for (int64_t i = 0; i < from_shape[axis]; ++i) {
    copy_corner(from, from_shape, to, to_shape, item, axis + 1);
    from += from_step;
    to += to_step;
  }
}

Shape padded_shape(std::span<const Element> elements, size_t component, const Shape& wanted) {
  Shape out = elements[0][component].shape();
  for (const Element& e : elements) {
    const Shape& s = e[component].shape();
    if (s.rank() != out.rank()) fail("[padded_batch] elements differ in rank: ", out, " and ", s);
    for (int i = 0; i < s.rank(); ++i) out[i] = std::max(out[i], s[i]);
  }
  if (!wanted.has_rank()) return out;
  if (wanted.rank() != out.rank()) {
    fail("[padded_batch] padded_shapes ", wanted, " and elements of shape ", out,
         " differ in rank");
  }
  for (int i = 0; i < out.rank(); ++i) {
    if (wanted[i] < 0) continue;
    if (wanted[i] < out[i]) {
      fail<DataLossError>("Attempted to pad to a smaller size than the input element: ", wanted[i],
                          " in padded_shapes, ", out[i], " in an element");
    }
    out[i] = wanted[i];
  }
  return out;
}

Tensor pad_strings(std::span<const Element> elements, size_t component, const Shape& padded,
                   const Tensor& value) {
  const auto rows = static_cast<int64_t>(elements.size());
  std::vector<std::string_view> texts(static_cast<size_t>(padded.num_elements() * rows),
                                      value.string_at(0));
  for (int64_t r = 0; r < rows; ++r) {
    const Tensor& t = elements[static_cast<size_t>(r)][component];
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      int64_t rest = i, at = 0, step = 1;
      for (int d = t.rank() - 1; d >= 0; --d) {
        at += rest % t.dim(d) * step;
        rest /= t.dim(d);
        step *= padded[d];
      }
      texts[static_cast<size_t>(r * padded.num_elements() + at)] = t.string_at(i);
    }
  }
  Shape shape = padded;
  shape.insert(0, rows);
  return Tensor::of_strings(texts, shape);
}

Tensor pad_component(std::span<const Element> elements, size_t component, const Shape& wanted,
                     const Tensor& value) {
  const Shape padded = padded_shape(elements, component, wanted);
  const Tensor& first = elements[0][component];
  if (first.dtype() == DType::string) return pad_strings(elements, component, padded, value);
  Shape shape = padded;
  shape.insert(0, static_cast<int64_t>(elements.size()));
  Tensor out = new_tensor(first.dtype(), shape);
  const size_t item = size_of(first.dtype());
  char* to = static_cast<char*>(out.mutable_raw_data());
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    std::memcpy(to + static_cast<size_t>(i) * item, value.raw_data(), item);
  }
  const size_t row = static_cast<size_t>(padded.num_elements()) * item;
  for (const Element& e : elements) {
    if (e[component].num_elements() > 0) {
      copy_corner(static_cast<const char*>(e[component].raw_data()), e[component].shape(), to,
                  padded, item, 0);
    }
    to += row;
  }
  return out;
}

using Join = std::function<Element(std::span<const Element>)>;

class Batches final : public Dataset {
 public:
  Batches(DatasetRef of, int64_t size, bool drop, Join join, bool takes_blocks)
      : Dataset("batch"),
        of_(std::move(of)),
        size_(size),
        drop_(drop),
        join_(std::move(join)),
        blocks_(takes_blocks) {
    if (size <= 0) fail("[batch] batch_size must be positive; given was ", size);
  }
  int64_t cardinality() const override {
    const int64_t count = of_->cardinality();
    if (count < 0) return count;
    return drop_ ? count / size_ : (count + size_ - 1) / size_;
  }
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<BatchIterator>(*this, of_->iterate());
  }

 private:
  class BatchIterator final : public Iterator {
   public:
    BatchIterator(const Batches& of, std::unique_ptr<Iterator> from)
        : size_(of.size_),
          drop_(of.drop_),
          blocks_(of.blocks_),
          join_(of.join_),
          from_(std::move(from)) {}
    bool take_next(Element& out) override {
      if (blocks_) {
        const int64_t taken = from_->next_block(size_, out);
        if (taken >= 0) return taken == size_ || (taken > 0 && !drop_);
      }
      std::vector<Element> elements;
      Element one;
      while (static_cast<int64_t>(elements.size()) < size_ && from_->next(one)) {
        elements.push_back(std::move(one));
        one.clear();
      }
      if (elements.empty()) return false;
      if (drop_ && static_cast<int64_t>(elements.size()) < size_) return false;
      out = join_(elements);
      return true;
    }
    int64_t leave_out(int64_t count) override {
      const int64_t rows = from_->skip(count * size_);
      return drop_ ? rows / size_ : (rows + size_ - 1) / size_;
    }
    void save_state(StateWriter& to) override { from_->save(to); }
    void restore_state(StateReader& from) override { from_->restore(from); }

   private:
    int64_t size_;
    bool drop_, blocks_;
    Join join_;
    std::unique_ptr<Iterator> from_;
  };

  DatasetRef of_;
  int64_t size_;
  bool drop_;
  Join join_;
  bool blocks_;
};

class Unbatched final : public Dataset {
 public:
  explicit Unbatched(DatasetRef of) : Dataset("unbatch"), of_(std::move(of)) {}
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Iterator> start() const override {
    class UnbatchedIterator final : public Iterator {
     public:
      explicit UnbatchedIterator(std::unique_ptr<Iterator> from) : from_(std::move(from)) {}
      bool take_next(Element& out) override {
        while (!rows_ || !rows_->next(out)) {
          rows_.reset();
          whole_.clear();
          if (!from_->next(whole_)) return false;
          rows_ = slices(whole_)->iterate();
        }
        return true;
      }
      void save_state(StateWriter& to) override {
        from_->save(to);
        to.number(rows_ != nullptr);
        if (!rows_) return;
        to.element(whole_);
        rows_->save(to);
      }
      void restore_state(StateReader& from) override {
        from_->restore(from);
        rows_ = restore_if(from, [&] {
          whole_ = from.element();
          return slices(whole_)->iterate();
        });
      }

     private:
      std::unique_ptr<Iterator> from_, rows_;
      Element whole_;
    };
    return std::make_unique<UnbatchedIterator>(of_->iterate());
  }

 private:
  DatasetRef of_;
};

}  // namespace

Element stacked(std::span<const Element> elements) {
  Element out;
  for (size_t i = 0; i < elements[0].size(); ++i) out.push_back(stack_component(elements, i));
  return out;
}

DatasetRef batch(DatasetRef of, int64_t size, bool drop_remainder) {
  return std::make_shared<Batches>(std::move(of), size, drop_remainder, stacked, true);
}

DatasetRef padded_batch(DatasetRef of, int64_t size, bool drop_remainder, std::vector<Shape> sizes,
                        Element values) {
  bring_to_host(values);
  const auto join = [sizes = std::move(sizes),
                     values = std::move(values)](std::span<const Element> elements) {
    Element out;
    for (size_t i = 0; i < elements[0].size(); ++i) {
      out.push_back(pad_component(elements, i, sizes.at(i), values.at(i)));
    }
    return out;
  };
  return std::make_shared<Batches>(std::move(of), size, drop_remainder, join, false);
}

DatasetRef unbatch(DatasetRef of) { return std::make_shared<Unbatched>(std::move(of)); }

}  // namespace tidemark::data
