#if TIDEMARK_WITH_XBYAK
#include "tidemark/kernels/cpu/fusion/emitter.h"

#include <algorithm>

namespace tidemark::fusion {

namespace {

constexpr int kFree = -1, kTemp = -2, kPinned = -3;
constexpr int kHomes = 160;     // vectors of the frame
constexpr int kFirstHome = 20;  // before it: the mask, copies of tails, operands of calls
constexpr int kMaxAccumulators = 6;
constexpr int kOpsACall = 5;

bool has_long_elements(const FusedProgram& p) {
  return std::any_of(p.code.begin(), p.code.end(),
                     [](const Instruction& i) { return size_of(computed_in(i.dtype)) == 8; });
}

}  // namespace

Emitter::Emitter(const FusedProgram& program, const Schedule& schedule, const Sources& sources,
                 const CodeOptions& options, void* buffer, size_t bytes)
    : CodeGenerator(bytes, buffer),
      p_(program),
      schedule_(schedule),
      sources_(sources),
      options_(options),
      wide_(options.level == CodeLevel::avx512),
      has_long_(has_long_elements(program)),
      lanes_((wide_ ? 16 : 8) / (has_long_ ? 2 : 1)),
      width_(wide_ ? 64 : 32),
      reg_of_(program.code.size(), -1),
      home_of_(program.code.size(), -1),
      holder_(wide_ ? 32 : 16, kFree),
      locked_(wide_ ? 32 : 16, false),
      accumulator_(program.code.size(), -1),
      twin_(program.code.size(), -1),
      next_home_(kFirstHome) {}

void Emitter::check() {
  int calls = 0, others = 0;
  const auto fits = [](DType d) {
    return is_floating(d) || d == DType::int32 || d == DType::int64 || d == DType::bool_;
  };
  for (const Instruction& i : p_.code) {
    if (!fits(i.dtype)) throw Refused();
    const bool reduces = i.code == Code::reduce || i.code == Code::collect;
    if (reduces && is_integer(i.dtype) && i.reduction == Reduction::mean) {
      throw Refused();
    }
    const bool computed = i.code == Code::map || i.code == Code::cast;
    others += computed || i.code == Code::select || reduces;
    if (!computed || is_inline(i)) continue;
    ++calls;
    // By the op's own loop: bools, which are bytes there, are wider here.
    has_calls_ = true;
    if (computed_in(i.dtype) == DType::bool_) throw Refused();
    for (int a = 0; a < i.arity; ++a) {
      if (p_.code[i.args[a]].dtype == DType::bool_) throw Refused();
    }
  }
  // A call of a loop for few long elements costs more than what the others save.
  if (has_long_ && calls * kOpsACall > others) throw Refused();
}

void Emitter::emit() {
  check();
  enter();
  for (const Pass& p : schedule_.passes) pass(p);
  leave();
  write_pool();
}

// rbx: the element; rbp: their number; r13, r14, r15: the arrays of inputs, outputs, kept rows.
void Emitter::enter() {
  for (const auto& reg : {rbx, rbp, r12, r13, r14, r15}) push(reg);
  mov(r12, rsp);
  mov(r13, ptr[rdi + offsetof(RunArgs, in)]);
  mov(r14, ptr[rdi + offsetof(RunArgs, out)]);
  mov(r15, ptr[rdi + offsetof(RunArgs, kept)]);
  mov(rbp, ptr[rdi + offsetof(RunArgs, n)]);
  sub(rsp, kHomes * width_);
  and_(rsp, -64);
}

void Emitter::leave() {
  vzeroupper();
  mov(rsp, r12);
  for (const auto& reg : {r15, r14, r13, r12, rbp, rbx}) pop(reg);
  ret();
}

void Emitter::pass(const Pass& pass) {
  once(pass.once);
  if (pass.elements.empty()) return;
  Xbyak::Label loop, tail, done;
  for (const PassStep& s : pass.elements) {
    if (s.kind == PassStep::Kind::reduce) start_reduction(s.value);
  }
  cache_pointers(pass.elements);
  xor_(ebx, ebx);
  L(loop);
  lea(rax, ptr[rbx + lanes_]);
  cmp(rax, rbp);
  jg(tail, T_NEAR);
  body(pass.elements, false);
  add(rbx, lanes_);
  jmp(loop, T_NEAR);
  L(tail);
  cmp(rbx, rbp);
  jge(done, T_NEAR);
  set_tail_mask();
  body(pass.elements, true);
  L(done);
  cached_.clear();
  for (const PassStep& s : pass.elements) {
    if (s.kind == PassStep::Kind::reduce) finish_reduction(s.value);
  }
}

/// Opmask 1, or a vector in the frame: true in the lanes that are left.
void Emitter::set_tail_mask() {
  mov(rcx, rbp);
  sub(rcx, rbx);
  if (wide_) {
    mov(eax, -1);
    bzhi(eax, eax, ecx);
    kmovw(k1, eax);
    return;
  }
  const int t = take_register();
  vmovd(Xbyak::Xmm(t), ecx);
  vpbroadcastd(vec(t), Xbyak::Xmm(t));
  const int iota = take_register();
  for (int lane = 0; lane < lanes_; ++lane) {
    mov(dword[rsp + kMaskHome * width_ + lane * 4], lane);
  }
  vmovdqu(vec(iota), home(kMaskHome));
  vpcmpgtd(vec(t), vec(t), vec(iota));
  vmovdqu(home(kMaskHome), vec(t));
  free_temps();
}

void Emitter::start_list(const std::vector<PassStep>& steps) {
  list_ = &steps;
  last_use_.assign(p_.code.size(), 0);
  for (size_t s = 0; s < steps.size(); ++s) {
    const Instruction& i = p_.code[steps[s].value];
    last_use_[steps[s].value] = s;
    if (!steps[s].reads_args()) continue;
    for (int a = 0; a < i.arity; ++a) last_use_[i.args[a]] = s;
  }
}

void Emitter::once(const std::vector<PassStep>& steps) {
  in_elements_ = tail_ = false;
  start_list(steps);
  for (now_ = 0; now_ < steps.size(); ++now_) step(steps[now_]);
  for (Value v = 0; v < p_.code.size(); ++v) unbind(v);
}

void Emitter::body(const std::vector<PassStep>& steps, bool tail) {
  in_elements_ = true;
  tail_ = tail;
  start_list(steps);
  const int homes = next_home_;
  for (now_ = 0; now_ < steps.size(); ++now_) step(steps[now_]);
  for (Value v = 0; v < p_.code.size(); ++v) {
    unbind(v);
    if (p_.code[v].level != Level::row) home_of_[v] = -1;
  }
  free_homes_.clear();
  next_home_ = homes;
  in_elements_ = tail_ = false;
}

void Emitter::step(const PassStep& s) {
  const Instruction& i = p_.code[s.value];
  switch (s.kind) {
    case PassStep::Kind::compute:
      compute(s.value);
      break;
    case PassStep::Kind::restore: {
      const int r = take_register();
      restore(s.value, s.slot, vec(r, is_long(i.dtype)));
      holder_[r] = s.value;
      reg_of_[s.value] = r;
      break;
    }
    case PassStep::Kind::keep:
      keep(s.value, s.slot);
      break;
    case PassStep::Kind::store:
      in_elements_ ? store(s.value, s.slot) : store_one(s.value, s.slot);
      break;
    case PassStep::Kind::reduce:
      accumulate(s.value);
      break;
    case PassStep::Kind::collect:
      collect(s.value, s.slot);
      break;
  }
  free_temps();
  // What is not used again gives its register and its place in the frame up.
  const auto let_go = [&](Value v) {
    if (last_use_[v] != now_) return;
    unbind(v);
    if (home_of_[v] >= 0 && p_.code[v].level != Level::row) {
      free_homes_.push_back(home_of_[v]);
      home_of_[v] = -1;
    }
  };
  let_go(s.value);
  for (int a = 0; a < i.arity; ++a) let_go(i.args[a]);
}

void Emitter::compute(Value v) {
  const Instruction& i = p_.code[v];
  const Lanes lanes(*this, i.dtype);
  // Had when they are first used.
  if (i.code == Code::constant) return;
  if ((i.code == Code::load || i.code == Code::random) && in_elements_) return;
  if (i.code == Code::load) {
    const Vec out = temp();
    load_scalar(v, out);
    if (home_of_[v] < 0) home_of_[v] = next_home_++;
    vmovups(home(home_of_[v]), out);
    return;
  }
  if ((i.code == Code::map || i.code == Code::cast) && !is_inline(i)) {
    call_loop(v);
  } else {
    Vec in[3] = {vec(0), vec(0), vec(0)};
    for (int a = 0; a < i.arity; ++a) in[a] = use(i.args[a]);
    const int r = take_register();
    locked_[static_cast<size_t>(r)] = true;
    const Vec out = vec(r, is_long(i.dtype));
    holder_[static_cast<size_t>(r)] = v;
    reg_of_[v] = r;
    operation(i, out, in);
  }
  if (is_half(i.dtype) && i.code != Code::select) round_half(i.dtype, use(v));
  if (i.level != Level::row) return;
  if (home_of_[v] < 0) home_of_[v] = next_home_++;
  if (next_home_ > kHomes) throw Refused();
  vmovups(home(home_of_[v]), use(v));
}

// --- registers ----------------------------------------------------------------------------------

Emitter::Vec Emitter::vec(int index, bool is_long) const {
  const bool all = is_long || !has_long_;
  if (wide_) return all ? Vec(Xbyak::Zmm(index)) : Vec(Xbyak::Ymm(index));
  return all ? Vec(Xbyak::Ymm(index)) : Vec(Xbyak::Xmm(index));
}
Emitter::Vec Emitter::half(const Vec& v) const {
  return v.isZMM() ? Vec(Xbyak::Ymm(v.getIdx())) : Vec(Xbyak::Xmm(v.getIdx()));
}
Emitter::Vec Emitter::quarter(const Vec& v) const { return Xbyak::Xmm(v.getIdx()); }

Xbyak::Address Emitter::home(int slot) { return ptr[rsp + slot * width_]; }

/// Locked until free_temps.
int Emitter::take_register() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (size_t r = 0; r < holder_.size(); ++r) {
      if (holder_[r] != kFree) continue;
      holder_[r] = kTemp;
      locked_[r] = true;
      temps_.push_back(static_cast<int>(r));
      return static_cast<int>(r);
    }
    evict();
  }
  throw Refused();
}

Emitter::Vec Emitter::temp() { return vec(take_register()); }

void Emitter::pin(int reg) { holder_[static_cast<size_t>(reg)] = kPinned; }
void Emitter::unpin(int reg) { holder_[static_cast<size_t>(reg)] = kFree; }

void Emitter::free_temps() {
  for (const int r : temps_) {
    if (holder_[static_cast<size_t>(r)] == kTemp) holder_[static_cast<size_t>(r)] = kFree;
  }
  temps_.clear();
  std::fill(locked_.begin(), locked_.end(), false);
}

size_t Emitter::next_use(Value v) const {
  for (size_t s = now_ + 1; s < list_->size(); ++s) {
    const PassStep& step = (*list_)[s];
    const Instruction& i = p_.code[step.value];
    if (step.value == v) return s;
    for (int a = 0; a < i.arity; ++a) {
      if (i.args[a] == v) return s;
    }
  }
  return list_->size();
}

bool Emitter::can_be_had_again(Value v) const {
  const Instruction& i = p_.code[v];
  if (i.code == Code::constant || home_of_[v] >= 0) return true;
  return in_elements_ && (i.code == Code::load || i.code == Code::random);
}

void Emitter::evict() {
  int victim = -1;
  size_t furthest = 0;
  for (size_t r = 0; r < holder_.size(); ++r) {
    if (holder_[r] < 0 || locked_[r]) continue;
    const auto v = static_cast<Value>(holder_[r]);
    // Storing a value costs as much as needing it some steps earlier.
    const size_t distance = next_use(v) + (can_be_had_again(v) ? 8 : 0);
    if (victim < 0 || distance > furthest) {
      victim = holder_[r];
      furthest = distance;
    }
  }
  if (victim < 0) throw Refused();
  spill(static_cast<Value>(victim));
}

void Emitter::spill(Value v) {
  if (!can_be_had_again(v)) {
    if (free_homes_.empty()) free_homes_.push_back(next_home_++);
    home_of_[v] = free_homes_.back();
    free_homes_.pop_back();
    if (home_of_[v] >= kHomes) throw Refused();
    vmovups(home(home_of_[v]), vec(reg_of_[v], is_long(p_.code[v].dtype)));
  }
  unbind(v);
}

void Emitter::unbind(Value v) {
  if (reg_of_[v] < 0) return;
  holder_[static_cast<size_t>(reg_of_[v])] = kFree;
  reg_of_[v] = -1;
}

Emitter::Vec Emitter::use(Value v) {
  const Lanes lanes(*this, p_.code[v].dtype);
  if (reg_of_[v] < 0) {
    const int r = take_register();
    materialize(v, vec(r));
    holder_[static_cast<size_t>(r)] = v;
    reg_of_[v] = r;
  }
  locked_[static_cast<size_t>(reg_of_[v])] = true;
  return vec(reg_of_[v]);
}

void Emitter::materialize(Value v, const Vec& into) {
  const Instruction& i = p_.code[v];
  if (i.code == Code::constant) {
    if (i.dtype == DType::bool_) {
      splat_bits(into, i.params[0] != 0 ? ~0u : 0u);
    } else if (i.dtype == DType::int32) {
      splat_bits(into, static_cast<uint32_t>(static_cast<int32_t>(i.params[0])));
    } else if (i.dtype == DType::int64) {
      splat_long(into, static_cast<uint64_t>(static_cast<int64_t>(i.params[0])));
    } else {
      splat(into, i.params[0]);
      if (is_half(i.dtype)) round_half(i.dtype, into);
    }
  } else if (home_of_[v] >= 0) {
    vmovups(into, home(home_of_[v]));
  } else if (in_elements_ && (i.code == Code::load || i.code == Code::random)) {
    load_source(v, into);
  } else {
    throw Refused();
  }
}

// --- reductions ---------------------------------------------------------------------------------

void Emitter::start_reduction(Value v) {
  const Instruction& i = p_.code[v];
  const Lanes lanes(*this, i.dtype);
  if (std::count_if(holder_.begin(), holder_.end(), [](int h) { return h == kPinned; }) >=
      (wide_ ? kMaxAccumulators : 5)) {
    throw Refused();
  }
  const auto pinned = [&] {
    const int taken = take_register();
    holder_[static_cast<size_t>(taken)] = kPinned;
    return taken;
  };
  const int r = pinned();
  accumulator_[v] = r;
  const bool ints = is_integer(i.dtype);
  if (!wide_ && !ints && is_sum(i.reduction)) {
    twin_[v] = pinned();
    splat_bits(vec(twin_[v]), 0);
  }
  const bool is_max = i.reduction == Reduction::max, is_min = i.reduction == Reduction::min;
  if (long_) {
    constexpr uint64_t kSign = uint64_t{1} << 63, kInfinity = uint64_t{0x7ff} << 52;
    uint64_t bits = 0;
    if (is_max) bits = ints ? kSign : kSign | kInfinity;
    if (is_min) bits = ints ? ~kSign : kInfinity;
    splat_long(vec(r), bits);
  } else {
    uint32_t bits = 0;
    if (is_max) bits = ints ? 0x80000000u : 0xff800000u;
    if (is_min) bits = ints ? 0x7fffffffu : 0x7f800000u;
    splat_bits(vec(r), bits);
  }
  free_temps();
}

void Emitter::combine_ints(Reduction reduction, const Vec& into, const Vec& x) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::mean:
      return long_ ? vpaddq(into, into, x) : vpaddd(into, into, x);
    case Reduction::max:
    case Reduction::min:
      return extreme_int(into, into, x, reduction == Reduction::min);
  }
}

void Emitter::combine(Reduction reduction, const Vec& into, const Vec& x) {
  if (is_sum(reduction)) {
    add_to(into, into, x);
    return;
  }
  const Vec out = temp();
  maximum(out, into, x, reduction == Reduction::min);
  vmovaps(into, out);
}

void Emitter::accumulate(Value v) {
  const Instruction& i = p_.code[v];
  const Lanes lanes(*this, i.dtype);
  const Vec x = use(i.args[0]);
  const Vec acc = vec(accumulator_[v]);
  const bool ints = is_integer(i.dtype);
  if (!tail_ && twin_[v] >= 0) {
    // Vectors go to the two in turn; which comes first makes no difference to their sum.
    const Vec sum = temp();
    add_to(sum, acc, x);
    vmovaps(acc, vec(twin_[v]));
    vmovaps(vec(twin_[v]), sum);
    return;
  }
  if (!tail_) {
    ints ? combine_ints(i.reduction, acc, x) : combine(i.reduction, acc, x);
    return;
  }
  // Lanes beyond the end change nothing.
  const Vec sum = temp();
  vmovaps(sum, acc);
  ints ? combine_ints(i.reduction, sum, x) : combine(i.reduction, sum, x);
  if (wide_) {
    long_ ? vmovapd(acc | k1, sum) : vmovaps(acc | k1, sum);
  } else {
    const Vec mask = tail_lanes();
    vblendvps(acc, acc, sum, mask);
  }
}

/// Lanes are there beyond the end too, and stay as they are.
void Emitter::collect(Value v, int slot) {
  const Instruction& i = p_.code[v];
  const Lanes width(*this, i.dtype);
  const Vec x = use(i.args[0]);
  const Xbyak::Address at = lanes_at(slot);
  const Vec joined = temp();
  vmovups(joined, at);
  if (is_integer(i.dtype)) {
    combine_ints(i.reduction, joined, x);
  } else {
    combine(i.reduction, joined, x);
  }
  if (tail_ && wide_) {
    long_ ? vmovupd(at | k1, joined) : vmovups(at | k1, joined);
    return;
  }
  if (tail_) {
    const Vec mask = tail_lanes(), before = temp();
    vmovups(before, at);
    vblendvps(joined, before, joined, mask);
  }
  vmovups(at, joined);
}

void Emitter::finish_reduction(Value v) {
  const Instruction& i = p_.code[v];
  const Lanes lanes(*this, i.dtype);
  const Vec acc = vec(accumulator_[v]);
  if (twin_[v] >= 0) {
    add_to(acc, acc, vec(twin_[v]));
    holder_[static_cast<size_t>(twin_[v])] = kFree;
    twin_[v] = -1;
  }
  fold_lanes(i.reduction, is_integer(i.dtype), acc);
  if (i.reduction == Reduction::mean) {
    const Vec count = temp();
    const Xbyak::Xmm low = quarter(count);
    if (long_) {
      vcvtsi2sd(low, low, rbp);
      broadcast_long(count, low);
    } else {
      vcvtsi2ss(low, low, rbp);
      vbroadcastss(count, low);
    }
    divide(acc, acc, count);
  }
  if (is_half(i.dtype)) round_half(i.dtype, acc);
  if (home_of_[v] < 0) home_of_[v] = next_home_++;
  if (next_home_ > kHomes) throw Refused();
  vmovups(home(home_of_[v]), acc);
  holder_[static_cast<size_t>(accumulator_[v])] = kFree;
  accumulator_[v] = -1;
  free_temps();
}

}  // namespace tidemark::fusion
#endif
