// Calls every op with random tensors and attributes, sensible and not. Allowed ends: a result whose
// elements can be read, or one of our typed errors. After each call nothing may be left over. Some
// calls that gave a result are made again with each of their allocations failing in turn.
//
//   fuzz_op_calls [calls] [seed] [op]
#include <tidemark/call.h>
#include <tidemark/kernel.h>
#include <tidemark/memory.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "tidemark/memory/testing.h"

namespace {

using namespace tidemark;

char last_call[4096];  // what a signal handler can still print

void report_crash(int signal) {
  const char* text = "crashed in: ";
  (void)!write(2, text, std::strlen(text));
  (void)!write(2, last_call, std::strlen(last_call));
  (void)!write(2, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Source {
 public:
  explicit Source(uint64_t seed) : engine_(seed) {}
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
  std::mt19937_64 engine_;
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

void remember(const OpDef& op, const Case& c, int64_t number) {
  std::string text = std::to_string(number) + ": " + op.name() + "(";
  for (const Tensor& t : c.inputs)
    text += message(name_of(t.dtype()), t.shape().to_brackets(), " ");
  for (const Attr& a : c.attrs) text += message(a, " ");
  std::strncpy(last_call, (text + ")").c_str(), sizeof(last_call) - 1);
}

/// Reads every byte of an output, so that a sanitizer sees what lies outside.
uint64_t read_all(const Tensor& t) {
  uint64_t sum = 0;
  if (t.shape().num_elements() != t.num_elements()) std::abort();
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

bool is_flat(const memory::Stats& before, const memory::Stats& after) {
  return before.live == after.live && before.live_buffers == after.live_buffers &&
         before.tensor_bytes == after.tensor_bytes;
}

/// Fails each allocation of a call in turn: each time the one right error, and nothing kept.
End fail_in_turn(const OpDef& op, const Case& c) {
  const auto before = memory::stats();
  for (int64_t n = 1;; ++n) {
    const memory::testing::FailAllocation failure(n);
    try {
      call_all(op, c.inputs, c.attrs);
      return failure.happened() ? End::unnoticed : End::result;
    } catch (const ResourceExhaustedError&) {
      if (!failure.happened()) return End::unnoticed;
    }
    if (!is_flat(before, memory::stats())) return End::leak;
  }
}

End run_case(const OpDef& op, const Case& c) {
  const auto before = memory::stats();
  End end = End::result;
  try {
    const std::vector<Tensor> outputs = call_all(op, c.inputs, c.attrs);
    volatile uint64_t sink = 0;
    for (const Tensor& t : outputs) sink = sink + read_all(t);
  } catch (const Error&) {
    end = End::error;
  }
  return is_flat(before, memory::stats()) ? end : End::leak;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t calls = argc > 1 ? std::atoll(argv[1]) : 20000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (int s : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(s, report_crash);
  memory::set_limit(MiB(64));
  std::vector<const OpDef*> ops = OpRegistry::instance().all();
  if (argc > 3) ops = {&OpRegistry::instance().get(argv[3])};
  Source source(seed);
  int64_t results = 0, errors = 0;
  for (int64_t i = 0; i < calls; ++i) {
    const OpDef& op = *ops[static_cast<size_t>(source.below(static_cast<int64_t>(ops.size())))];
    const Case c = random_case(source, op);
    remember(op, c, i);
    End end = run_case(op, c);
    if (end == End::result && source.chance(8)) end = fail_in_turn(op, c);
    switch (end) {
      case End::result:
        ++results;
        break;
      case End::error:
        ++errors;
        break;
      case End::leak:
        std::fprintf(stderr, "memory left behind by %s\n%s", last_call, memory::report().c_str());
        return 1;
      case End::unnoticed:
        std::fprintf(stderr, "a failed allocation was not reported by %s\n", last_call);
        return 1;
    }
  }
  std::printf("%lld calls of %zu ops: %lld results, %lld typed errors, nothing left behind\n",
              static_cast<long long>(calls), ops.size(), static_cast<long long>(results),
              static_cast<long long>(errors));
  return results > 0 ? 0 : 1;
}
