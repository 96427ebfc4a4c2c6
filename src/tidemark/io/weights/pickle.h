// A pickle that may hold tensors, dictionaries, lists, numbers and texts, and nothing else. No code
// is looked up or run: names of classes are texts, and those that are not known are an error.
//
//   const Pickle pickle(bytes, path);
//   const PickledValue& root = pickle.value(pickle.root());
#pragma once

#include <tidemark/attr.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io::weights {

/// Values refer to each other by number: what refers to itself is no harm.
using ValueRef = uint32_t;

struct PickledValue {
  enum class Kind : uint8_t {
    none,
    number,
    real,
    text,
    list,     // items; tuples as well
    dict,     // items: key, value, key, value, …
    name,     // text: "torch.FloatStorage"
    storage,  // text: its key; items: the class's name; number: elements
    tensor,   // items: storage, offset, sizes, strides
  };
  Kind kind = Kind::none;
  bool is_tuple = false;
  int64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<ValueRef> items;
};

class Pickle {
 public:
  /// Throws DataLossError for what is no pickle, UnimplementedError with the class or the opcode
  /// that is not read.
  Pickle(std::string_view bytes, const std::string& path);

  const PickledValue& value(ValueRef at) const { return values_[at]; }
  ValueRef root() const { return root_; }
  /// Values are numbered from 0.
  ValueRef count() const { return static_cast<ValueRef>(values_.size()); }
  /// Bytes up to the end of the pickle: others may follow.
  uint64_t size() const { return at_; }

 private:
  template <class T>
  T take();
  std::string_view take_bytes(uint64_t count);
  std::string_view take_line();
  ValueRef add(PickledValue value);
  void push(PickledValue value) { stack_.push_back(add(std::move(value))); }
  void push_text(std::string_view text);
  ValueRef pop();
  std::vector<ValueRef> pop_to_mark();
  void remember(uint64_t place);
  void recall(uint64_t place);
  void extend(PickledValue::Kind kind, const std::vector<ValueRef>& items);
  void call();
  void refer();
  /// False: the pickle is at its end.
  bool step();
  bool step_number(uint8_t code);
  bool step_container(uint8_t code);
  bool step_memory(uint8_t code);
  [[noreturn]] void damaged(std::string_view what) const;

  std::string_view bytes_;
  const std::string& path_;
  uint64_t at_ = 0;
  std::deque<PickledValue> values_;
  std::vector<ValueRef> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, ValueRef> memory_;
  ValueRef root_ = 0;
};

}  // namespace tidemark::io::weights
