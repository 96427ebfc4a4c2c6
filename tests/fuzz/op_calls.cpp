// Calls every op with random tensors and attributes, sensible and not. Allowed ends: a result whose
// elements can be read, or one of our typed errors. After each call nothing may be left over. Some
// calls that gave a result are made again with each of their allocations failing in turn.
// --only=OP calls that one.
#include <tidemark/call.h>
#include <tidemark/kernel.h>
#include <tidemark/memory.h>

#include <limits>

#include "fuzzer.h"
#include "live_memory.h"
#include "tidemark/memory/testing.h"

namespace {

using namespace tidemark;

class Source {
 public:
  explicit Source(fuzz::Random& engine) : engine_(engine) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool chance(int in) { return below(in) == 0; }

  DType dtype(DTypeSet allowed) {
    const DTypeSet set = chance(16) ? kAny : allowed;
    for (;;) {
      const auto d = static_cast<DType>(below(kDTypeSlots));
      if (set.contains(d)) return d;
    }
  }

  Shape shape() {
    Shape s;
    const int64_t rank = chance(40) ? 9 : below(5);
    int64_t elements = 1;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t dim = chance(8) ? 0 : 1 + below(chance(3) ? 5 : 2);
      if (chance(12) && elements < 100) dim = 1 + below(200);  // past several vectors, with a tail
      elements *= dim;
      s.push_back(dim);
    }
    return s;
  }

  int64_t integer() {
    if (chance(20)) {
      const int64_t extreme[] = {std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min(),
                                 int64_t{1} << 62,
                                 int64_t{1} << 31,
                                 -(int64_t{1} << 31),
                                 1 << 20};
      return extreme[below(6)];
    }
    return below(9) - 3;
  }

  double real() {
    const double extreme[] = {0.0,
                              -0.0,
                              1e300,
                              -1e300,
                              1e-300,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    return chance(10) ? extreme[below(7)] : static_cast<double>(below(4001) - 2000) / 500;
  }

 private:
  fuzz::Random& engine_;
};

template <class T>
void fill_with(Source& source, const Tensor& t) {
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      t.mutable_data<T>()[i] = source.chance(2);
    } else if constexpr (std::is_integral_v<T>) {
      t.mutable_data<T>()[i] = static_cast<T>(source.integer());
    } else if constexpr (requires(T c) { c.real(); }) {
      t.mutable_data<T>()[i] = T(static_cast<typename T::value_type>(source.real()),
                                 static_cast<typename T::value_type>(source.real()));
    } else {
      t.mutable_data<T>()[i] = T(static_cast<float>(source.real()));
    }
  }
}

Tensor random_tensor(Source& source, DType dtype, const Shape& shape) {
  if (dtype == DType::string) {
    const std::vector<std::string_view> words(static_cast<size_t>(shape.num_elements()), "tide");
    return Tensor::of_strings(words, shape);
  }
  Tensor t = Tensor::uninitialized(dtype, shape);
  switch (dtype) {
    case DType::bool_:
      fill_with<bool>(source, t);
      break;
    case DType::int8:
      fill_with<int8_t>(source, t);
      break;
    case DType::uint8:
      fill_with<uint8_t>(source, t);
      break;
    case DType::int16:
      fill_with<int16_t>(source, t);
      break;
    case DType::uint16:
      fill_with<uint16_t>(source, t);
      break;
    case DType::int32:
      fill_with<int32_t>(source, t);
      break;
    case DType::uint32:
      fill_with<uint32_t>(source, t);
      break;
    case DType::int64:
      fill_with<int64_t>(source, t);
      break;
    case DType::uint64:
      fill_with<uint64_t>(source, t);
      break;
    case DType::float16:
      fill_with<Half>(source, t);
      break;
    case DType::bfloat16:
      fill_with<BFloat16>(source, t);
      break;
    case DType::float32:
      fill_with<float>(source, t);
      break;
    case DType::float64:
      fill_with<double>(source, t);
      break;
    case DType::complex64:
      fill_with<std::complex<float>>(source, t);
      break;
    case DType::complex128:
      fill_with<std::complex<double>>(source, t);
      break;
    default:
      break;
  }
  return t;
}

Attr random_attr(Source& source, const Param& p) {
  if (!p.required && source.chance(2)) return p.fallback;
  switch (p.attr_kind) {
    case AttrKind::boolean:
      return Attr(source.chance(2));
    case AttrKind::integer:
      return Attr(source.integer());
    case AttrKind::real:
      return Attr(source.real());
    case AttrKind::dtype:
      return Attr(source.dtype(kAny));
    case AttrKind::string: {
      const char* words[] = {"",         "left",       "right",     "REFLECT", "SYMMETRIC",
                             "CONSTANT", "DESCENDING", "ASCENDING", "nonsense"};
      return Attr(words[source.below(9)]);
    }
    case AttrKind::ints: {
      Ints values;
      for (int64_t n = source.below(4); n > 0; --n) values.push_back(source.integer());
      return Attr(values);
    }
  }
  return {};
}

struct Case {
  std::vector<Tensor> inputs;
  std::vector<Attr> attrs;
};

Case random_case(Source& source, const OpDef& op) {
  Case c;
  const Shape common = source.shape();
  const bool alike = source.chance(2);
  DType by_var[128] = {};
  size_t count = op.inputs().size();
  if (op.has_input_list()) count += static_cast<size_t>(source.below(3));
  for (size_t i = 0; i < count; ++i) {
    const Param& p = op.input_param(static_cast<int>(i));
    DType& dtype = by_var[p.type_var & 127];
    if (dtype == DType::invalid || source.chance(12)) dtype = source.dtype(p.dtypes);
    c.inputs.push_back(random_tensor(source, dtype, alike ? common : source.shape()));
  }
  for (int index : op.attrs()) {
    c.attrs.push_back(random_attr(source, op.params()[static_cast<size_t>(index)]));
  }
  return c;
}

std::string describe(const OpDef& op, const Case& c) {
  std::string text = op.name() + "(";
  for (const Tensor& t : c.inputs) {
    text += message(name_of(t.dtype()), t.shape().to_brackets(), " ");
  }
  for (const Attr& a : c.attrs) text += message(a, " ");
  return text + ")";
}

/// Reads every byte of an output, so that a sanitizer sees what lies outside.
uint64_t read_all(const Tensor& t) {
  uint64_t sum = 0;
  if (t.shape().num_elements() != t.num_elements()) fuzz::found("a shape of other elements");
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      for (char c : t.string_at(i)) sum += static_cast<unsigned char>(c);
    }
    return sum;
  }
  const auto* bytes = static_cast<const unsigned char*>(t.raw_data());
  for (size_t i = 0; i < t.nbytes(); ++i) sum += bytes[i];
  return sum;
}

enum class End { result, error, leak, unnoticed };

/// Fails each allocation of a call in turn: each time the one right error, and nothing kept.
End fail_in_turn(const OpDef& op, const Case& c) {
  const auto before = fuzz::live_memory();
  for (int64_t n = 1;; ++n) {
    const memory::testing::FailAllocation failure(n);
    try {
      call_all(op, c.inputs, c.attrs);
      return failure.happened() ? End::unnoticed : End::result;
    } catch (const ResourceExhaustedError&) {
      if (!failure.happened()) return End::unnoticed;
    }
    if (fuzz::live_memory() != before) return End::leak;
  }
}

End run_case(const OpDef& op, const Case& c) {
  const auto before = fuzz::live_memory();
  End end = End::result;
  try {
    const std::vector<Tensor> outputs = call_all(op, c.inputs, c.attrs);
    volatile uint64_t sink = 0;
    for (const Tensor& t : outputs) sink = sink + read_all(t);
  } catch (const Error&) {
    end = End::error;
  }
  return fuzz::live_memory() == before ? end : End::leak;
}

class OpCalls final : public fuzz::Fuzzer {
 public:
  explicit OpCalls(const fuzz::Settings& settings) {
    memory::set_limit(MiB(64));
    if (!settings.only.empty()) ops_ = {&OpRegistry::instance().get(settings.only)};
  }

  bool execute(fuzz::Random& random) override {
    Source source(random);
    const OpDef& op = *ops_[static_cast<size_t>(source.below(static_cast<int64_t>(ops_.size())))];
    const Case c = random_case(source, op);
    End end = run_case(op, c);
    if (end == End::result && source.chance(8)) end = fail_in_turn(op, c);
    if (end == End::leak) {
      fuzz::found("memory left behind by " + describe(op, c) + "\n" + memory::report());
    }
    if (end == End::unnoticed) {
      fuzz::found("a failed allocation was not reported by " + describe(op, c));
    }
    return end == End::result;
  }

 private:
  std::vector<const OpDef*> ops_ = OpRegistry::instance().all();
};

const fuzz::AddFuzzer added("op_calls", fuzz::make<OpCalls>);

}  // namespace
