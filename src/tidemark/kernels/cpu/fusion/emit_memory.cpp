// Reading and writing elements: whole vectors, what is left at the end, single ones.

#if TIDEMARK_WITH_XBYAK
#include "tidemark/kernels/cpu/fusion/emitter.h"

namespace tidemark::fusion {

namespace {

constexpr int kIn = 0, kOut = 1, kKept = 2;  // arrays of pointers
constexpr int kCopyHome = 1;                 // where the AVX2 code puts a tail to read it whole

int bytes(DType d) { return static_cast<int>(size_of(d)); }

}  // namespace

/// The pointer, in a register: one it stays in during the loop, or rax.
Xbyak::Reg64 Emitter::pointer(int array, int index) {
  for (const Cached& kept : cached_) {
    if (kept.array == array && kept.index == index) return kept.reg;
  }
  const Xbyak::Reg64& base = array == kIn ? r13 : array == kOut ? r14 : r15;
  mov(rax, ptr[base + index * 8]);
  return rax;
}

void Emitter::cache_pointers(const std::vector<PassStep>& steps) {
  cached_.clear();
  if (has_calls_) return;  // which use the registers
  const Xbyak::Reg64 free[] = {r8, r9, r10, r11, rdx};
  const auto cache = [&](int array, int index) {
    if (cached_.size() == std::size(free)) return;
    const Xbyak::Reg64 reg = free[cached_.size()];
    const Xbyak::Reg64 from = pointer(array, index);
    if (from.getIdx() != rax.getIdx()) return;  // there already
    mov(reg, from);
    cached_.push_back({array, index, reg});
  };
  for (const PassStep& s : steps) {
    const Instruction& i = p_.code[s.value];
    const bool loads = i.code == Code::load || i.code == Code::random;
    if (s.kind == PassStep::Kind::compute && loads) cache(kIn, sources_.of[s.value]);
    if (s.kind == PassStep::Kind::store) cache(kOut, s.slot);
    if (s.kind == PassStep::Kind::keep || s.kind == PassStep::Kind::restore) cache(kKept, s.slot);
    if (s.kind == PassStep::Kind::collect) cache(kKept, first_lanes() + s.slot);
  }
}

void Emitter::load_source(Value v, const Vec& into) {
  const int source = sources_.of[v];
  if ((options_.scalars >> source) & 1u) return load_scalar(v, into);
  const DType dtype = p_.code[v].dtype;
  if (tail_ && !wide_) {
    copy_tail(false, dtype, kIn, source);
    return load_dense(dtype, into, rsp + kCopyHome * width_, false);
  }
  const Xbyak::Reg64 base = pointer(kIn, source);
  load_dense(dtype, into, base + rbx * bytes(dtype), tail_);
}

void Emitter::load_dense(DType dtype, const Vec& into, const Xbyak::RegExp& at, bool masked) {
  const Vec to = masked ? Vec(into | k1 | T_z) : into;
  switch (dtype) {
    case DType::bfloat16:
      vpmovzxwd(to, ptr[at]);
      vpslld(into, into, 16);
      return;
    case DType::float16:
      vcvtph2ps(to, ptr[at]);
      return;
    case DType::bool_:
      vpmovzxbd(to, ptr[at]);
      if (wide_) {
        vptestmd(k2, into, into);
        vpmovm2d(into, k2);
      } else {
        const Vec zero = temp();
        vpxor(zero, zero, zero);
        vpcmpgtd(into, into, zero);
      }
      return;
    default:
      is_long(dtype) ? vmovupd(to, ptr[at]) : vmovups(to, ptr[at]);
  }
}

void Emitter::load_scalar(Value v, const Vec& into) {
  const Xbyak::Reg64 at = pointer(kIn, sources_.of[v]);
  const Xbyak::Xmm low = quarter(into);
  switch (p_.code[v].dtype) {
    case DType::bfloat16:
      movzx(eax, word[at]);
      shl(eax, 16);
      vmovd(low, eax);
      vbroadcastss(into, low);
      return;
    case DType::float16:
      movzx(eax, word[at]);
      vmovd(low, eax);
      vcvtph2ps(low, low);
      vbroadcastss(into, low);
      return;
    case DType::bool_:
      movzx(eax, byte[at]);
      neg(eax);
      vmovd(low, eax);
      vpbroadcastd(into, low);
      return;
    case DType::float64:
    case DType::int64:
      broadcast_long(into, ptr[at]);
      return;
    default:
      vbroadcastss(into, ptr[at]);
  }
}

/// The elements that are left, between memory and the frame.
void Emitter::copy_tail(bool to_memory, DType dtype, int array, int index) {
  const Xbyak::Reg64 base = pointer(array, index);
  const Xbyak::Reg64 &memory = to_memory ? rdi : rsi, &frame = to_memory ? rsi : rdi;
  lea(memory, ptr[base + rbx * bytes(dtype)]);
  lea(frame, ptr[rsp + kCopyHome * width_]);
  mov(rcx, rbp);
  sub(rcx, rbx);
  imul(rcx, rcx, bytes(dtype));
  rep();
  movsb();
}

void Emitter::store(Value v, int output) {
  const DType dtype = p_.code[v].dtype;
  const Lanes lanes(*this, dtype);
  const Vec x = use(v);
  if (tail_ && !wide_) {
    store_dense(dtype, x, rsp + kCopyHome * width_, false);
    return copy_tail(true, dtype, kOut, output);
  }
  const Xbyak::Reg64 base = pointer(kOut, output);
  const Xbyak::RegExp at = base + rbx * bytes(dtype);
  if (options_.stream && !tail_ && bytes(dtype) == 4) {
    vmovntps(ptr[at], x);
  } else {
    store_dense(dtype, x, at, tail_);
  }
}

void Emitter::store_dense(DType dtype, const Vec& x, const Xbyak::RegExp& at, bool masked) {
  if (bytes(dtype) < 4) return store_narrow(dtype, x, at, masked);
  if (masked) {
    is_long(dtype) ? vmovupd(ptr[at] | k1, x) : vmovups(ptr[at] | k1, x);
  } else {
    vmovups(ptr[at], x);
  }
}

void Emitter::store_narrow(DType dtype, const Vec& x, const Xbyak::RegExp& at, bool masked) {
  const Xbyak::Address to = masked ? ptr[at] | k1 : ptr[at];
  if (dtype == DType::float16) {
    vcvtps2ph(to, x, 0);
    return;
  }
  const Vec t = temp();
  if (dtype == DType::bfloat16) {
    vpsrld(t, x, 16);
  } else {
    wide_ ? vpandd(t, x, ci(1)) : vpand(t, x, ci(1));
  }
  if (wide_) {
    dtype == DType::bfloat16 ? vpmovdw(to, t) : vpmovdb(to, t);
    return;
  }
  const Xbyak::Xmm low = quarter(t), upper = quarter(temp());
  if (!has_long_) vextracti128(upper, Xbyak::Ymm(t.getIdx()), 1);
  vpackusdw(low, low, has_long_ ? low : upper);
  if (dtype == DType::bfloat16) {
    has_long_ ? vmovq(to, low) : vmovdqu(to, low);
  } else {
    vpackuswb(low, low, low);
    has_long_ ? vmovd(to, low) : vmovq(to, low);
  }
}

/// One element: a value of a row.
void Emitter::store_one(Value v, int output) {
  const DType dtype = p_.code[v].dtype;
  const Lanes lanes(*this, dtype);
  const Vec x = use(v);
  const Vec t = temp();
  const Xbyak::Xmm low = quarter(t);
  const Xbyak::Reg64 at = pointer(kOut, output);
  switch (dtype) {
    case DType::bfloat16:
      vpsrld(t, x, 16);
      vmovd(ecx, low);
      mov(word[at], cx);
      return;
    case DType::float16:
      vcvtps2ph(low, quarter(x), 0);
      vmovd(ecx, low);
      mov(word[at], cx);
      return;
    case DType::bool_:
      vmovd(ecx, quarter(x));
      and_(ecx, 1);
      mov(byte[at], cl);
      return;
    case DType::float64:
    case DType::int64:
      vmovsd(ptr[at], quarter(x));
      return;
    default:
      vmovss(ptr[at], quarter(x));
  }
}

// Rows kept between passes have room for a whole last vector.
void Emitter::keep(Value v, int slot) {
  const Lanes lanes(*this, p_.code[v].dtype);
  const Vec x = use(v);
  const DType dtype = schedule_.kept[static_cast<size_t>(slot)];
  const Xbyak::Reg64 base = pointer(kKept, slot);
  store_dense(dtype, x, base + rbx * bytes(dtype), false);
}

void Emitter::restore(Value v, int slot, const Vec& into) {
  const Lanes lanes(*this, p_.code[v].dtype);
  const DType dtype = schedule_.kept[static_cast<size_t>(slot)];
  const Xbyak::Reg64 base = pointer(kKept, slot);
  load_dense(dtype, into, base + rbx * bytes(dtype), false);
}

Xbyak::Address Emitter::lanes_at(int slot) {
  return ptr[pointer(kKept, first_lanes() + slot) + rbx * (long_ ? 8 : 4)];
}

}  // namespace tidemark::fusion
#endif
