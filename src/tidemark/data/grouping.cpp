// Elements that depend on those before them: windows, groups, states that go along.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"
#include "tidemark/data/nested.h"
#include "tidemark/data/state.h"

namespace tidemark::data {

namespace {

class Windows final : public Dataset {
 public:
  Windows(DatasetRef of, WindowSizes sizes, std::vector<int64_t> leaves)
      : Dataset("window"), of_(std::move(of)), sizes_(sizes), leaves_(std::move(leaves)) {
    if (sizes.size <= 0) fail("Window size must be greater than zero, got ", sizes.size);
    if (sizes.shift <= 0) fail("Window shift must be greater than zero, got ", sizes.shift);
    if (sizes.stride <= 0) fail("Window stride must be greater than zero, got ", sizes.stride);
  }
  int64_t cardinality() const override {
    const int64_t all = of_->cardinality();
    if (all < 0) return all;
    if (!sizes_.drop_remainder) return (all + sizes_.shift - 1) / sizes_.shift;
    return all < sizes_.reach() ? 0 : (all - sizes_.reach()) / sizes_.shift + 1;
  }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<WindowIterator>(of_->iterate(), sizes_, leaves_);
  }

  class WindowIterator final : public Iterator {
   public:
    WindowIterator(std::unique_ptr<Iterator> from, WindowSizes sizes, std::vector<int64_t> leaves)
        : from_(std::move(from)), sizes_(sizes), leaves_(std::move(leaves)) {}

   private:
    bool take_next(Element& out) override {
      const auto reach = static_cast<size_t>(sizes_.reach());
      for (Element one; !is_drained_ && held_.size() < reach; one.clear()) {
        is_drained_ = !from_->next(one);
        if (!is_drained_) held_.emplace_back(store_, std::move(one));
      }
      if (held_.empty() || (sizes_.drop_remainder && held_.size() < reach)) return false;
      out = window();
      const auto shift = static_cast<size_t>(sizes_.shift);
      if (shift > held_.size() && !is_drained_) {
        const auto between = static_cast<int64_t>(shift - held_.size());
        is_drained_ = from_->skip(between) < between;
      }
      held_.erase(held_.begin(),
                  held_.begin() + static_cast<std::ptrdiff_t>(std::min(shift, held_.size())));
      return true;
    }

    /// A dataset for each leaf of an element's structure.
    Element window() const {
      Element out;
      size_t first = 0;
      for (const int64_t leaf : leaves_) {
        std::vector<Element> rows;
        for (size_t i = 0; i < held_.size(); i += static_cast<size_t>(sizes_.stride)) {
          const auto from = held_[i].element().begin() + static_cast<std::ptrdiff_t>(first);
          rows.emplace_back(from, from + static_cast<std::ptrdiff_t>(leaf));
        }
        out.push_back(as_tensor(listed(std::move(rows))));
        first += static_cast<size_t>(leaf);
      }
      return out;
    }

    void save_state(StateWriter& to) override {
      from_->save(to);
      to.number(is_drained_);
      save_all(to, held_);
    }
    void restore_state(StateReader& from) override {
      from_->restore(from);
      is_drained_ = from.count(1);
      restore_all(from, store_, held_);
    }

    std::unique_ptr<Iterator> from_;
    WindowSizes sizes_;
    std::vector<int64_t> leaves_;
    Store store_{memory::Holder::dataset};
    std::deque<Held> held_;
    bool is_drained_ = false;
  };

  DatasetRef of_;
  WindowSizes sizes_;
  std::vector<int64_t> leaves_;
};

class Scanned final : public Dataset {
 public:
  Scanned(DatasetRef of, Element initial, Function function)
      : Dataset("scan"),
        of_(std::move(of)),
        initial_(std::move(initial)),
        function_(std::move(function)) {}
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<ScannedIterator>(of_->iterate(), initial_, function_);
  }

  class ScannedIterator final : public Iterator {
   public:
    ScannedIterator(std::unique_ptr<Iterator> from, Element state, Function function)
        : from_(std::move(from)), state_(std::move(state)), function_(std::move(function)) {}

   private:
    bool take_next(Element& out) override {
      Element one;
      if (!from_->next(one)) return false;
      Element inputs = state_;
      inputs.insert(inputs.end(), std::make_move_iterator(one.begin()),
                    std::make_move_iterator(one.end()));
      Element results = function_(std::move(inputs));
      const auto split = results.begin() + static_cast<std::ptrdiff_t>(state_.size());
      out.assign(std::make_move_iterator(split), std::make_move_iterator(results.end()));
      results.erase(split, results.end());
      state_ = std::move(results);
      return true;
    }
    void save_state(StateWriter& to) override {
      from_->save(to);
      to.element(state_);
    }
    void restore_state(StateReader& from) override {
      from_->restore(from);
      Element state = from.element();
      if (state.size() != state_.size()) StateReader::damaged("a scan of another state");
      state_ = std::move(state);
    }

    std::unique_ptr<Iterator> from_;
    Element state_;
    Function function_;
  };

  DatasetRef of_;
  Element initial_;
  Function function_;
};

class Unique final : public Dataset {
 public:
  explicit Unique(DatasetRef of) : Dataset("unique"), of_(std::move(of)) {}
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<UniqueIterator>(of_->iterate());
  }

  class UniqueIterator final : public Iterator {
   public:
    explicit UniqueIterator(std::unique_ptr<Iterator> from) : from_(std::move(from)) {}

   private:
    bool take_next(Element& out) override {
      while (from_->next(out)) {
        std::string bytes = encode(out);
        const size_t hash = std::hash<std::string>{}(bytes);
        if (is_known(hash, bytes)) continue;
        remember(hash, bytes);
        return true;
      }
      return false;
    }
    bool is_known(size_t hash, std::string_view bytes) const {
      const auto [first, last] = by_hash_.equal_range(hash);
      return std::any_of(first, last, [&](const auto& entry) {
        return seen_[entry.second].element()[0].string_at(0) == bytes;
      });
    }
    /// The bytes of what was seen are tensors, so that they are counted.
    void remember(size_t hash, std::string_view bytes) {
      seen_.emplace_back(store_, Element{Tensor::of_strings({&bytes, 1}, Shape{})});
      by_hash_.emplace(hash, seen_.size() - 1);
    }
    void save_state(StateWriter& to) override {
      from_->save(to);
      save_all(to, seen_);
    }
    void restore_state(StateReader& from) override {
      from_->restore(from);
      restore_all(from, store_, seen_);
      by_hash_.clear();
      for (size_t i = 0; i < seen_.size(); ++i) {
        const Element& one = seen_[i].element();
        if (one.size() != 1 || one[0].dtype() != DType::string || one[0].num_elements() != 1) {
          StateReader::damaged("an element that is no text");
        }
        by_hash_.emplace(std::hash<std::string_view>{}(one[0].string_at(0)), i);
      }
    }

    std::unique_ptr<Iterator> from_;
    Store store_{memory::Holder::dataset};
    std::vector<Held> seen_;
    std::unordered_multimap<size_t, size_t> by_hash_;
  };

  DatasetRef of_;
};

int64_t number_of(const Element& result, const char* what) {
  if (result.size() != 1 || result[0].num_elements() != 1 || result[0].dtype() != DType::int64) {
    fail("[group_by_window] ", what, " must return one scalar of dtype int64");
  }
  return result[0].item<int64_t>();
}

class Grouped final : public Dataset {
 public:
  Grouped(DatasetRef of, GroupFunctions functions)
      : Dataset("group_by_window"), of_(std::move(of)), functions_(std::move(functions)) {}
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<GroupedIterator>(of_->iterate(), functions_);
  }

  class GroupedIterator final : public Iterator {
   public:
    GroupedIterator(std::unique_ptr<Iterator> from, GroupFunctions functions)
        : from_(std::move(from)), functions_(std::move(functions)) {}

   private:
    bool take_next(Element& out) override {
      while (true) {
        if (open_) {
          if (open_->next(out)) return true;
          open_.reset();
          window_.clear();
        }
        if (!is_drained_) {
          fill();
        } else if (groups_.empty()) {
          return false;
        } else {
          open(groups_.begin()->first);
        }
      }
    }

    /// Takes elements until a group is whole.
    void fill() {
      for (Element one; from_->next(one); one.clear()) {
        const int64_t key = number_of(functions_.key(Element(one)), "key_func");
        std::vector<Held>& group = groups_[key];
        if (group.empty()) {
          const int64_t size = number_of(functions_.size({Tensor(key)}), "window_size_func");
          if (size <= 0) {
            groups_.erase(key);
            fail("Window size must be greater than zero, but got ", size, ".");
          }
          wanted_[key] = size;
        }
        group.emplace_back(store_, std::move(one));
        if (static_cast<int64_t>(group.size()) >= wanted_[key]) return open(key);
      }
      is_drained_ = true;
    }

    void open(int64_t key) {
      auto group = groups_.extract(key);
      window_.clear();
      for (Held& h : group.mapped()) window_.push_back(h.take());
      key_ = key;
      open_ = functions_.reduce({Tensor(key), as_tensor(listed(window_))})->iterate();
    }

    void save_state(StateWriter& to) override {
      from_->save(to);
      to.number(is_drained_);
      to.number(static_cast<int64_t>(groups_.size()));
      for (const auto& [key, group] : groups_) {
        to.number(key);
        to.number(wanted_.at(key));
        save_all(to, group);
      }
      to.number(open_ != nullptr);
      if (!open_) return;
      to.number(key_);
      to.number(static_cast<int64_t>(window_.size()));
      for (const Element& e : window_) to.element(e);
      open_->save(to);
    }
    void restore_state(StateReader& from) override {
      from_->restore(from);
      is_drained_ = from.count(1);
      groups_.clear();
      for (int64_t left = from.count(kMostSaved); left > 0; --left) {
        const int64_t key = from.number();
        wanted_[key] = from.number();
        restore_all(from, store_, groups_[key]);
      }
      open_.reset();
      if (!from.count(1)) return;
      key_ = from.number();
      window_.clear();
      for (int64_t left = from.count(kMostSaved); left > 0; --left) {
        window_.push_back(from.element());
      }
      open_ = functions_.reduce({Tensor(key_), as_tensor(listed(window_))})->iterate();
      open_->restore(from);
    }

    std::unique_ptr<Iterator> from_;
    GroupFunctions functions_;
    Store store_{memory::Holder::dataset};
    std::map<int64_t, std::vector<Held>> groups_;  // in order: the rest comes out by key
    std::unordered_map<int64_t, int64_t> wanted_;
    int64_t key_ = 0;
    std::vector<Element> window_;  // what `open_` was made of
    std::unique_ptr<Iterator> open_;
    bool is_drained_ = false;
  };

  DatasetRef of_;
  GroupFunctions functions_;
};

}  // namespace

DatasetRef window(DatasetRef of, WindowSizes sizes, std::vector<int64_t> leaves) {
  return std::make_shared<Windows>(std::move(of), sizes, std::move(leaves));
}
DatasetRef scan(DatasetRef of, Element initial, Function function) {
  bring_to_host(initial);
  return std::make_shared<Scanned>(std::move(of), std::move(initial), on_host(std::move(function)));
}
DatasetRef unique(DatasetRef of) { return std::make_shared<Unique>(std::move(of)); }
DatasetRef group_by_window(DatasetRef of, GroupFunctions functions) {
  functions.key = on_host(std::move(functions.key));
  functions.size = on_host(std::move(functions.size));
  return std::make_shared<Grouped>(std::move(of), std::move(functions));
}

}  // namespace tidemark::data
