// Instructions of the IR as instructions of the CPU.

#if TIDEMARK_WITH_XBYAK
#include <cmath>
#include <string>

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/fusion/emitter.h"

namespace tidemark::fusion {

namespace {

constexpr int kCallHome = 2;  // operands of a call of a loop, from here on

struct Comparison {
  const char* op;
  int predicate;
};
constexpr Comparison kComparisons[] = {{"equal", 0x00},   {"not_equal", 0x04},
                                       {"less", 0x11},    {"less_equal", 0x12},
                                       {"greater", 0x1e}, {"greater_equal", 0x1d}};

constexpr const char* kFloatOps[] = {
    "add",     "subtract", "multiply",      "truediv",       "negative",   "square",
    "maximum", "minimum",  "relu",          "relu6",         "relu_grad",  "leaky_relu",
    "abs",     "floor",    "ceil",          "round",         "rint",       "sqrt",
    "rsqrt",   "exp",      "tanh",          "sigmoid",       "reciprocal", "squared_difference",
    "gelu",    "softsign", "clip_by_value", "divide_no_nan", "gelu_grad",  "sign",
    "swish",   "is_nan",   "is_inf",        "is_finite"};
/// Those of them that are written as polynomials for floats.
constexpr const char* kFloat32Ops[] = {"exp", "tanh", "sigmoid", "gelu", "gelu_grad", "swish"};
constexpr const char* kIntOps[] = {"add",     "subtract", "multiply", "negative", "square",
                                   "maximum", "minimum",  "abs",      "relu"};
constexpr const char* kBoolOps[] = {"logical_and", "logical_or", "logical_xor",
                                    "logical_not", "equal",      "not_equal"};

template <size_t N>
bool contains(const char* const (&names)[N], const std::string& op) {
  for (const char* name : names) {
    if (op == name) return true;
  }
  return false;
}

bool is_comparison(const std::string& op) {
  for (const Comparison& c : kComparisons) {
    if (op == c.op) return true;
  }
  return false;
}

}  // namespace

bool Emitter::is_inline(const Instruction& i) const {
  const DType in = computed_in(p_.code[i.args[0]].dtype);
  if (i.code == Code::cast) {
    const DType result = computed_in(i.dtype);
    if (is_floating(in) && is_integer(result)) return false;
    return wide_ || in != DType::int64 || !is_floating(result);
  }
  const std::string& op = i.op->name();
  if (in == DType::bool_) return contains(kBoolOps, op);
  if (is_comparison(op)) return true;
  if (is_integer(in)) return contains(kIntOps, op);
  if (in == DType::float64) return contains(kFloatOps, op) && !contains(kFloat32Ops, op);
  if (op == "log") return has_log();
  // The other gelu is by tanh.
  if ((op == "gelu" || op == "gelu_grad") && i.params[0] != 0) return false;
  return contains(kFloatOps, op);
}

void Emitter::operation(const Instruction& i, const Vec& out, const Vec* in) {
  if (i.code == Code::select) return choose(out, in[0], in[1], in[2]);
  const DType from = p_.code[i.args[0]].dtype;
  const Lanes lanes(*this, from);
  if (i.code == Code::cast) return cast(from, i.dtype, out, in[0]);
  const std::string& op = i.op->name();
  bool done = false;
  if (from == DType::bool_) {
    done = bool_op(op, out, in);
  } else if (is_integer(from)) {
    done = comparison(op, out, in, true) || int_op(op, out, in);
  } else {
    done = comparison(op, out, in, false) || exact_float_op(op, i, out, in) ||
           float_op(op, i, out, in);
  }
  if (!done) throw Refused();
}

// --- choosing and comparing
// -----------------------------------------------------------------------

void Emitter::choose(const Vec& out, const Vec& mask, const Vec& yes, const Vec& no) {
  const bool is_bool = long_ && !is_whole(mask);  // its lanes are narrower than what it chooses
  if (wide_) {
    long_ && !is_bool ? vpmovq2m(k2, mask) : vpmovd2m(k2, mask);
    long_ ? vblendmpd(out | k2, no, yes) : vblendmps(out | k2, no, yes);
  } else if (is_bool) {
    const Vec wider = temp();
    vpmovsxdq(wider, mask);
    vblendvpd(out, no, yes, wider);
  } else {
    vblendvps(out, no, yes, mask);
  }
}

void Emitter::compare(const Vec& out, const Vec& a, const Xbyak::Operand& b, int predicate) {
  const auto how = static_cast<uint8_t>(predicate);
  if (wide_) {
    long_ ? vcmppd(k2, a, b, how) : vcmpps(k2, a, b, how);
    return write_mask(out);
  }
  if (!long_) return vcmpps(out, a, b, how);
  const Vec lanes = temp();
  vcmppd(lanes, a, b, how);
  write_mask(out, lanes);
}

/// a > b, or a == b.
void Emitter::compare_ints(const Vec& out, const Vec& a, const Vec& b, bool greater) {
  const auto write = [&](const auto& to) {
    if (greater) {
      long_ ? vpcmpgtq(to, a, b) : vpcmpgtd(to, a, b);
    } else {
      long_ ? vpcmpeqq(to, a, b) : vpcmpeqd(to, a, b);
    }
  };
  if (wide_) {
    write(k2);
    return write_mask(out);
  }
  const Vec lanes = temp();
  write(lanes);
  write_mask(out, lanes);
}

/// `out` differs from both.
void Emitter::multiply_long(const Vec& out, const Vec& a, const Vec& b) {
  if (wide_) return vpmullq(out, a, b);
  // Of the halves; what the upper ones make together is beyond 64 bits.
  const Vec t = temp();
  vpsrlq(out, a, 32);
  vpmuludq(out, out, b);
  vpsrlq(t, b, 32);
  vpmuludq(t, t, a);
  vpaddq(out, out, t);
  vpsllq(out, out, 32);
  vpmuludq(t, a, b);
  vpaddq(out, out, t);
}

/// `out` may be one of both.
void Emitter::extreme_int(const Vec& out, const Vec& a, const Vec& b, bool least) {
  if (!long_) return least ? vpminsd(out, a, b) : vpmaxsd(out, a, b);
  if (wide_) return least ? vpminsq(out, a, b) : vpmaxsq(out, a, b);
  const Vec mask = temp();
  vpcmpgtq(mask, a, b);
  least ? vblendvpd(out, a, b, mask) : vblendvpd(out, b, a, mask);
}

bool Emitter::comparison(const std::string& op, const Vec& out, const Vec* in, bool ints) {
  for (const Comparison& test : kComparisons) {
    if (op != test.op) continue;
    if (!ints) {
      compare(out, in[0], in[1], test.predicate);
      return true;
    }
    const bool negated = op == "not_equal" || op == "less_equal" || op == "greater_equal";
    if (op == "equal" || op == "not_equal") {
      compare_ints(out, in[0], in[1], false);
    } else if (op == "less" || op == "greater_equal") {
      compare_ints(out, in[1], in[0], true);
    } else {
      compare_ints(out, in[0], in[1], true);
    }
    if (negated) wide_ ? vpxord(out, out, ci(~0u)) : vpxor(out, out, ci(~0u));
    return true;
  }
  return false;
}

bool Emitter::bool_op(const std::string& op, const Vec& out, const Vec* in) {
  if (op == "logical_and") {
    wide_ ? vpandd(out, in[0], in[1]) : vpand(out, in[0], in[1]);
  } else if (op == "logical_or") {
    wide_ ? vpord(out, in[0], in[1]) : vpor(out, in[0], in[1]);
  } else if (op == "logical_xor" || op == "not_equal") {
    wide_ ? vpxord(out, in[0], in[1]) : vpxor(out, in[0], in[1]);
  } else if (op == "logical_not") {
    wide_ ? vpxord(out, in[0], ci(~0u)) : vpxor(out, in[0], ci(~0u));
  } else if (op == "equal") {
    wide_ ? vpxord(out, in[0], in[1]) : vpxor(out, in[0], in[1]);
    wide_ ? vpxord(out, out, ci(~0u)) : vpxor(out, out, ci(~0u));
  } else {
    return false;
  }
  return true;
}

bool Emitter::int_op(const std::string& op, const Vec& out, const Vec* in) {
  const Vec& x = in[0];
  if (op == "add") {
    long_ ? vpaddq(out, x, in[1]) : vpaddd(out, x, in[1]);
  } else if (op == "subtract") {
    long_ ? vpsubq(out, x, in[1]) : vpsubd(out, x, in[1]);
  } else if (op == "multiply" || op == "square") {
    const Vec& y = op == "square" ? x : in[1];
    long_ ? multiply_long(out, x, y) : vpmulld(out, x, y);
  } else if (op == "negative") {
    splat_bits(out, 0);
    long_ ? vpsubq(out, out, x) : vpsubd(out, out, x);
  } else if (op == "maximum" || op == "minimum") {
    extreme_int(out, x, in[1], op == "minimum");
  } else if (op == "abs" && !long_) {
    vpabsd(out, x);
  } else if (op == "abs") {
    const Vec negated = temp();
    splat_bits(negated, 0);
    vpsubq(negated, negated, x);
    extreme_int(out, x, negated, false);
  } else if (op == "relu") {
    splat_bits(out, 0);
    extreme_int(out, out, x, false);
  } else {
    return false;
  }
  return true;
}

void Emitter::cast(DType from, DType to, const Vec& out, const Vec& x) {
  const DType in = computed_in(from), result = computed_in(to);
  if (in != result && (is_long(from) || is_long(to))) return cast_long(in, result, out, x);
  if (in == result) {
    vmovaps(out, x);
  } else if (in == DType::bool_) {
    const uint32_t one = result == DType::int32 ? 1u : 0x3f800000u;
    wide_ ? vpandd(out, x, ci(one)) : vpand(out, x, ci(one));
  } else if (result == DType::float32) {
    vcvtdq2ps(out, x);
  } else if (in == DType::float32) {  // to bool
    compare(out, x, c(0.f), 0x04);
  } else {
    const Vec zero = temp();
    splat_bits(zero, 0);
    const Vec both[] = {x, zero};
    comparison("not_equal", out, both, true);
  }
}

/// One of both has 64 bits.
void Emitter::cast_long(DType in, DType result, const Vec& out, const Vec& x) {
  if (result == DType::bool_) {
    const Vec zero = temp();
    splat_bits(zero, 0);
    const Vec both[] = {x, zero};
    comparison("not_equal", out, both, is_integer(in));
  } else if (in == DType::bool_) {
    const bool ints = is_integer(result);
    vpmovsxdq(out, x);
    const Lanes lanes(*this, result);
    bits_and(out, out, ints ? cq(1) : c(1));
  } else if (in == DType::float64) {
    vcvtpd2ps(out, x);
  } else if (in == DType::float32) {
    vcvtps2pd(out, x);
  } else if (in == DType::int32) {
    is_integer(result) ? vpmovsxdq(out, x) : vcvtdq2pd(out, x);
  } else if (result == DType::float64) {
    vcvtqq2pd(out, x);
  } else if (result == DType::float32) {
    vcvtqq2ps(out, x);
  } else if (wide_) {
    vpmovqd(out, x);
  } else {
    write_mask(out, x);  // which takes the lower halves
  }
}

// --- floats -------------------------------------------------------------------------------------

/// x > y ? x : y (or less), NaN on either side coming through. `out` differs from both.
void Emitter::maximum(const Vec& out, const Vec& x, const Vec& y, bool least) {
  least ? smaller(out, x, y) : larger(out, x, y);
  if (wide_) {
    long_ ? vcmppd(k2, x, x, 3) : vcmpps(k2, x, x, 3);
    long_ ? vmovapd(out | k2, x) : vmovaps(out | k2, x);
  } else {
    const Vec mask = temp();
    long_ ? vcmppd(mask, x, x, 3) : vcmpps(mask, x, x, 3);
    vblendvps(out, out, x, mask);
  }
}

/// Ops of one rounding or none: the same bits as their loops give.
bool Emitter::exact_float_op(const std::string& op, const Instruction& i, const Vec& out,
                             const Vec* in) {
  const Vec& x = in[0];
  const Vec& y = in[1];
  if (op == "add") {
    add_to(out, x, y);
  } else if (op == "subtract") {
    subtract(out, x, y);
  } else if (op == "multiply") {
    multiply(out, x, y);
  } else if (op == "truediv") {
    divide(out, x, y);
  } else if (op == "square") {
    multiply(out, x, x);
  } else if (op == "squared_difference") {
    subtract(out, x, y);
    multiply(out, out, out);
  } else if (op == "negative") {
    bits_xor(out, x, sign_bit());
  } else if (op == "abs") {
    bits_and(out, x, magnitude_bits());
  } else if (op == "maximum" || op == "minimum") {
    maximum(out, x, y, op == "minimum");
  } else if (op == "clip_by_value") {
    const Vec low = temp();
    maximum(low, x, in[2], true);
    maximum(out, low, y, false);
  } else if (op == "floor" || op == "ceil" || op == "round" || op == "rint") {
    round(out, x, op == "floor" ? 1 : op == "ceil" ? 2 : 0);
  } else if (op == "sqrt") {
    square_root(out, x);
  } else if (op == "rsqrt" || op == "reciprocal") {
    const Vec root = temp();
    if (op == "rsqrt") square_root(root, x);
    splat(out, 1.f);
    divide(out, out, op == "rsqrt" ? root : x);
  } else if (op == "relu" || op == "relu6") {
    splat_bits(out, 0);
    larger(out, out, x);
    if (op == "relu6") {
      const Vec six = temp();
      splat(six, 6.f);
      smaller(out, six, out);
    }
  } else if (op == "relu_grad") {
    compare(out, y, c(0.f), 0x1e);
    bits_and(out, out, x);
  } else if (op == "leaky_relu") {
    const Vec mask = temp(), scaled = temp();
    multiply(scaled, x, c(i.params[0]));
    compare(mask, x, c(0.f), 0x1e);
    choose(out, mask, x, scaled);
  } else {
    return false;
  }
  return true;
}

bool Emitter::float_op(const std::string& op, const Instruction& i, const Vec& out, const Vec* in) {
  const Vec& x = in[0];
  if (op == "exp") {
    exp(out, x);
  } else if (op == "tanh") {
    tanh(out, x);
  } else if (op == "log") {
    log(out, x);
  } else if (op == "sigmoid") {
    sigmoid(out, x);
  } else if (op == "swish") {
    const Vec t = temp(), s = temp();
    multiply(t, x, c(i.params[0]));
    sigmoid(s, t);
    multiply(out, x, s);
  } else if (op == "gelu" || op == "gelu_grad") {
    gelu_or_grad(i, out, in);
  } else if (op == "softsign") {
    const Vec t = temp();
    bits_and(t, x, magnitude_bits());
    add_to(t, t, c(1.f));
    divide(out, x, t);
  } else if (op == "divide_no_nan") {
    const Vec zero = temp(), mask = temp(), top = temp(), bottom = temp();
    splat_bits(zero, 0);
    compare(mask, in[1], zero, 0);
    choose(top, mask, zero, x);
    splat(zero, 1.f);
    choose(bottom, mask, zero, in[1]);
    divide(out, top, bottom);
  } else if (op == "sign") {
    const Vec one = temp(), t = temp();
    splat(one, 1.f);
    compare(out, x, c(0.f), 0x1e);
    bits_and(out, out, one);
    compare(t, x, c(0.f), 0x11);
    bits_and(t, t, one);
    subtract(out, out, t);
    compare(t, x, x, 3);
    choose(one, t, x, out);
    vmovaps(out, one);
  } else if (op == "is_nan") {
    compare(out, x, x, 3);
  } else if (op == "is_inf" || op == "is_finite") {
    const Vec t = temp();
    bits_and(t, x, magnitude_bits());
    compare(out, t, c(INFINITY), op == "is_inf" ? 0x00 : 0x11);
  } else {
    return false;
  }
  return true;
}

/// To the nearest number of the half type, still as floats.
void Emitter::round_half(DType dtype, const Vec& x) {
  const Vec t = temp();
  if (dtype == DType::float16) {
    vcvtps2ph(half(t), x, 0);
    vcvtph2ps(x, half(t));
    return;
  }
  const Vec quiet = temp();
  vpsrld(t, x, 16);
  wide_ ? vpandd(t, t, ci(1)) : vpand(t, t, ci(1));
  vpaddd(t, t, x);
  vpaddd(t, t, ci(0x7fff));
  wide_ ? vpandd(t, t, ci(0xffff0000)) : vpand(t, t, ci(0xffff0000));
  wide_ ? vpord(quiet, x, ci(0x00400000)) : vpor(quiet, x, ci(0x00400000));
  wide_ ? vpandd(quiet, quiet, ci(0xffff0000)) : vpand(quiet, quiet, ci(0xffff0000));
  if (wide_) {
    vcmpps(k2, x, x, 3);
    vblendmps(x | k2, t, quiet);
  } else {
    const Vec mask = temp();
    vcmpps(mask, x, x, 3);
    vblendvps(x, t, quiet, mask);
  }
}

// --- calls --------------------------------------------------------------------------------------

/// A call may use every register.
void Emitter::save_all() {
  for (Value v = 0; v < p_.code.size(); ++v) {
    if (reg_of_[v] >= 0) spill(v);
  }
}

/// The op's own loop over one vector.
void Emitter::call_loop(Value v) {
  const Instruction& i = p_.code[v];
  // The loop runs over kVectorRun elements. Where those here are fewer they are given several times
  // over.
  const DType from = p_.code[i.args[0]].dtype;
  constexpr int kRun = static_cast<int>(cpu::kVectorRun);
  const int operand = has_long_ ? 128 : 64;  // bytes
  const int area = kCallHome * width_;
  const int result = area + 3 * operand, pointers = result + operand, params = pointers + 24;
  for (int a = 0; a < i.arity; ++a) {
    const Vec x = use(i.args[a]);
    const int given = lanes_ * (is_long(from) ? 8 : 4);
    for (int k = 0; k < kRun / lanes_; ++k) {
      vmovups(ptr[rsp + area + a * operand + k * given], x);
    }
    lea(rax, ptr[rsp + area + a * operand]);
    mov(ptr[rsp + pointers + a * 8], rax);
  }
  save_all();
  // Accumulators go to the frame and come back.
  std::vector<std::pair<int, int>> pinned;
  for (const std::vector<int>* registers : {&accumulator_, &twin_}) {
    for (const int reg : *registers) {
      if (reg < 0) continue;
      if (free_homes_.empty()) free_homes_.push_back(next_home_++);
      pinned.emplace_back(reg, free_homes_.back());
      free_homes_.pop_back();
      vmovups(home(pinned.back().second), whole(reg));
    }
  }
  for (int k = 0; k < 2; ++k) {
    mov(rax, __builtin_bit_cast(uint64_t, i.params[static_cast<size_t>(k)]));
    mov(ptr[rsp + params + k * 8], rax);
  }
  lea(rdi, ptr[rsp + result]);
  lea(rsi, ptr[rsp + pointers]);
  mov(edx, kRun);
  lea(rcx, ptr[rsp + params]);
  const cpu::LoopFn loop = i.code == Code::cast
                               ? cpu::cast_loop(computed_in(from), computed_in(i.dtype))
                               : cpu::loop_for(i.op->name(), from)->run;
  mov(rax, reinterpret_cast<uint64_t>(loop));
  call(rax);
  if (wide_ && tail_) {
    mov(rcx, rbp);
    sub(rcx, rbx);
    mov(eax, -1);
    bzhi(eax, eax, ecx);
    kmovw(k1, eax);
  }
  for (const auto& [reg, slot] : pinned) {
    vmovups(whole(reg), home(slot));
    free_homes_.push_back(slot);
  }
  const int r = take_register();
  vmovups(vec(r, is_long(i.dtype)), ptr[rsp + result]);
  holder_[static_cast<size_t>(r)] = v;
  reg_of_[v] = r;
}

}  // namespace tidemark::fusion
#endif
