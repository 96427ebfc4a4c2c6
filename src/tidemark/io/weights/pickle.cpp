#include "tidemark/io/weights/pickle.h"

#include <tidemark/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tidemark/io/input_file.h"

namespace tidemark::io::weights {

namespace {

using Kind = PickledValue::Kind;

constexpr size_t kMostValues = size_t{1} << 21;

// The opcodes that files of tensors have.
constexpr uint8_t kProto = 0x80, kFrame = 0x95, kStop = '.', kMark = '(', kNone = 'N',
                  kNewTrue = 0x88, kNewFalse = 0x89, kBinInt = 'J', kBinInt1 = 'K', kBinInt2 = 'M',
                  kLong1 = 0x8a, kBinFloat = 'G', kBinUnicode = 'X', kShortBinUnicode = 0x8c,
                  kBinUnicode8 = 0x8d, kShortBinString = 'U', kBinString = 'T', kEmptyTuple = ')',
                  kTuple = 't', kTuple1 = 0x85, kTuple2 = 0x86, kTuple3 = 0x87, kEmptyList = ']',
                  kAppend = 'a', kAppends = 'e', kEmptyDict = '}', kSetItem = 's', kSetItems = 'u',
                  kGlobal = 'c', kStackGlobal = 0x93, kReduce = 'R', kBuild = 'b', kBinPut = 'q',
                  kLongBinPut = 'r', kBinGet = 'h', kLongBinGet = 'j', kMemoize = 0x94,
                  kBinPersId = 'Q', kPop = '0';

/// What may be named, and is never looked up. Names of element types and storages are texts.
constexpr std::array<std::string_view, 6> kCallable = {
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_parameter",
    "torch.Size",
    "torch._utils._rebuild_parameter_with_state",
};

bool is_known_name(std::string_view name) {
  const bool is_storage = (name.starts_with("torch.") && name.ends_with("Storage"));
  constexpr std::array<std::string_view, 14> kTypes = {
      "torch.float32", "torch.float64", "torch.float16",   "torch.bfloat16",   "torch.int8",
      "torch.int16",   "torch.int32",   "torch.int64",     "torch.uint8",      "torch.bool",
      "torch.float",   "torch.half",    "torch.complex64", "torch.complex128",
  };
  return is_storage || std::ranges::count(kCallable, name) || std::ranges::count(kTypes, name);
}

}  // namespace

void Pickle::damaged(std::string_view what) const {
  fail_damaged(path_, message("its pickle ", what, " at byte ", at_));
}

template <class T>
T Pickle::take() {
  T value{};
  std::memcpy(&value, take_bytes(sizeof(T)).data(), sizeof(T));
  return value;
}

std::string_view Pickle::take_bytes(uint64_t count) {
  if (count > bytes_.size() - at_) damaged("is cut short");
  const std::string_view out = bytes_.substr(at_, count);
  at_ += count;
  return out;
}

std::string_view Pickle::take_line() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) damaged("is cut short");
  const std::string_view out = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return out;
}

ValueRef Pickle::add(PickledValue value) {
  if (values_.size() >= kMostValues) damaged("has more values than any model needs");
  values_.push_back(std::move(value));
  return static_cast<ValueRef>(values_.size() - 1);
}

void Pickle::push_text(std::string_view text) {
  PickledValue out;
  out.kind = Kind::text;
  out.text = text;
  push(std::move(out));
}

ValueRef Pickle::pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) {
    damaged("takes what is not there");
  }
  const ValueRef out = stack_.back();
  stack_.pop_back();
  return out;
}

std::vector<ValueRef> Pickle::pop_to_mark() {
  if (marks_.empty()) damaged("has no mark");
  const auto from = stack_.begin() + static_cast<int64_t>(marks_.back());
  std::vector<ValueRef> out(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return out;
}

void Pickle::remember(uint64_t place) {
  const ValueRef top = pop();
  stack_.push_back(top);
  memory_[place] = top;
}

void Pickle::recall(uint64_t place) {
  const auto found = memory_.find(place);
  if (found == memory_.end()) damaged("asks for what it never noted");
  stack_.push_back(found->second);
}

void Pickle::extend(Kind kind, const std::vector<ValueRef>& items) {
  const ValueRef top = pop();
  stack_.push_back(top);
  PickledValue& target = values_[top];
  if (target.kind != kind || target.is_tuple || (kind == Kind::dict && items.size() % 2 != 0)) {
    damaged("adds to what takes nothing");
  }
  target.items.insert(target.items.end(), items.begin(), items.end());
}

/// A name and what it is called with: tensors become such, all else is refused.
void Pickle::call() {
  const PickledValue arguments = values_[pop()];
  const PickledValue& callee = values_[pop()];
  if (arguments.kind != Kind::list || callee.kind != Kind::name) damaged("calls what is no name");
  const std::string_view name = callee.text;
  if (!std::ranges::count(kCallable, name)) {
    fail<UnimplementedError>(path_, ": its pickle calls ", name, "; save a state_dict");
  }
  const std::vector<ValueRef>& items = arguments.items;
  PickledValue out;
  if (name.starts_with("torch._utils._rebuild_tensor")) {
    if (items.size() < 4) damaged("has a tensor without its parts");
    out.kind = Kind::tensor;
    out.items.assign(items.begin(), items.begin() + 4);
    return push(std::move(out));
  }
  if (name == "collections.OrderedDict") {
    if (!items.empty()) {
      fail<UnimplementedError>(path_, ": its pickle fills a dictionary in an unusual way");
    }
    out.kind = Kind::dict;
    return push(std::move(out));
  }
  // A parameter's tensor, or the numbers of a size.
  if (items.empty()) damaged("has a parameter without a tensor");
  stack_.push_back(items[0]);
}

/// ("storage", class, key, device, elements)
void Pickle::refer() {
  const PickledValue& id = values_[pop()];
  if (id.kind != Kind::list || id.items.size() < 5) damaged("refers to no storage");
  const PickledValue &kind = values_[id.items[0]], &type = values_[id.items[1]],
                     &key = values_[id.items[2]], &count = values_[id.items[4]];
  if (kind.text != "storage" || type.kind != Kind::name || key.kind != Kind::text ||
      count.kind != Kind::number || count.number < 0) {
    damaged("refers to no storage");
  }
  PickledValue out;
  out.kind = Kind::storage;
  out.text = key.text;
  out.number = count.number;
  out.items = {id.items[1]};
  push(std::move(out));
}

bool Pickle::step_number(uint8_t code) {
  PickledValue out;
  out.kind = Kind::number;
  switch (code) {
    case kNewTrue:
    case kNewFalse:
      out.number = code == kNewTrue;
      break;
    case kBinInt:
      out.number = take<int32_t>();
      break;
    case kBinInt1:
      out.number = take<uint8_t>();
      break;
    case kBinInt2:
      out.number = take<uint16_t>();
      break;
    case kLong1: {
      // Those of more than eight bytes are no sizes: they are kept as far as they go.
      const std::string_view digits = take_bytes(take<uint8_t>());
      const bool is_negative = !digits.empty() && (digits.back() & 0x80) != 0;
      uint64_t value = is_negative ? ~uint64_t{0} : 0;
      std::memcpy(&value, digits.data(), std::min<size_t>(digits.size(), 8));
      out.number = static_cast<int64_t>(value);
      break;
    }
    case kBinFloat:
      out.kind = Kind::real;
      out.real = std::bit_cast<double>(__builtin_bswap64(take<uint64_t>()));
      break;
    default:
      return false;
  }
  push(std::move(out));
  return true;
}

bool Pickle::step_container(uint8_t code) {
  PickledValue out;
  out.kind = Kind::list;
  switch (code) {
    case kEmptyDict:
      out.kind = Kind::dict;
      [[fallthrough]];
    case kEmptyList:
      break;
    case kEmptyTuple:
      out.is_tuple = true;
      break;
    case kTuple:
      out.items = pop_to_mark();
      out.is_tuple = true;
      break;
    case kTuple1:
    case kTuple2:
    case kTuple3:
      for (int i = 0; i <= code - kTuple1; ++i) out.items.insert(out.items.begin(), pop());
      out.is_tuple = true;
      break;
    case kAppend:
      extend(Kind::list, {pop()});
      return true;
    case kAppends:
      extend(Kind::list, pop_to_mark());
      return true;
    case kSetItem: {
      const ValueRef value = pop(), key = pop();
      extend(Kind::dict, {key, value});
      return true;
    }
    case kSetItems:
      extend(Kind::dict, pop_to_mark());
      return true;
    default:
      return false;
  }
  push(std::move(out));
  return true;
}

bool Pickle::step_memory(uint8_t code) {
  switch (code) {
    case kBinPut:
      remember(take<uint8_t>());
      return true;
    case kLongBinPut:
      remember(take<uint32_t>());
      return true;
    case kMemoize:
      remember(memory_.size());
      return true;
    case kBinGet:
      recall(take<uint8_t>());
      return true;
    case kLongBinGet:
      recall(take<uint32_t>());
      return true;
    default:
      return false;
  }
}

bool Pickle::step() {
  const auto code = take<uint8_t>();
  if (step_number(code) || step_container(code) || step_memory(code)) return true;
  switch (code) {
    case kProto:
      (void)take<uint8_t>();
      return true;
    case kFrame:
      (void)take<uint64_t>();
      return true;
    case kMark:
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      (void)pop();
      return true;
    case kNone:
      push({});
      return true;
    case kBinUnicode:
    case kBinString:
      push_text(take_bytes(take<uint32_t>()));
      return true;
    case kShortBinUnicode:
    case kShortBinString:
      push_text(take_bytes(take<uint8_t>()));
      return true;
    case kBinUnicode8:
      push_text(take_bytes(take<uint64_t>()));
      return true;
    case kGlobal:
    case kStackGlobal: {
      std::string_view module, name;
      if (code == kGlobal) {
        module = take_line();
        name = take_line();
      } else {
        name = values_[pop()].text;
        module = values_[pop()].text;
      }
      const std::string whole = message(module, ".", name);
      if (!is_known_name(whole)) {
        fail<UnimplementedError>(path_, ": its pickle has the class or function ", whole,
                                 ", which no code is run for; save a state_dict: ",
                                 "torch.save(model.state_dict(), path)");
      }
      PickledValue out;
      out.kind = Kind::name;
      const auto* kept = std::ranges::find(kCallable, std::string_view(whole));
      // The module is always "torch", or one of the list's.
      out.text = kept != kCallable.end() ? *kept : name;
      push(std::move(out));
      return true;
    }
    case kReduce:
      call();
      return true;
    case kBinPersId:
      refer();
      return true;
    case kBuild:
      // The attributes of a dictionary that keeps its order: "_metadata", which no weight needs.
      (void)pop();
      return true;
    case kStop:
      root_ = pop();
      return false;
    default:
      fail<UnimplementedError>(path_, ": its pickle has the opcode ", int{code},
                               ", which tensors do not need; save a state_dict");
  }
}

Pickle::Pickle(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {
  while (step()) {
  }
}

}  // namespace tidemark::io::weights
