// Constants and arithmetic in lanes of 32 or 64 bits, as the instruction being written has them.

#if TIDEMARK_WITH_XBYAK
#include "tidemark/kernels/cpu/fusion/emitter.h"

namespace tidemark::fusion {

void Emitter::write_pool() {
  align(64);
  const int copies = wide_ ? 1 : lanes_;
  for (auto& [bits, label] : long_pool_) {
    L(label);
    for (int lane = 0; lane < copies; ++lane) dq(bits);
  }
  for (auto& [bits, label] : pool_) {
    L(label);
    for (int lane = 0; lane < copies; ++lane) dd(bits);
  }
}

Xbyak::Address Emitter::ci(uint32_t bits) {
  Xbyak::Label& label = pool_[bits];
  return wide_ ? ptr_b[rip + label] : ptr[rip + label];
}
Xbyak::Address Emitter::cq(uint64_t bits) {
  Xbyak::Label& label = long_pool_[bits];
  return wide_ ? ptr_b[rip + label] : ptr[rip + label];
}
Xbyak::Address Emitter::c(double value) {
  return long_ ? cq(__builtin_bit_cast(uint64_t, value))
               : ci(__builtin_bit_cast(uint32_t, static_cast<float>(value)));
}

void Emitter::splat_bits(const Vec& out, uint32_t bits) {
  if (bits == 0) {
    wide_ ? vpxord(out, out, out) : vpxor(out, out, out);
    return;
  }
  vbroadcastss(out, ptr[rip + pool_[bits]]);
}
void Emitter::splat_long(const Vec& out, uint64_t bits) {
  if (bits == 0) return splat_bits(out, 0);
  broadcast_long(out, ptr[rip + long_pool_[bits]]);
}
void Emitter::broadcast_long(const Vec& out, const Xbyak::Operand& from) {
  out.isZMM() ? vbroadcastsd(Xbyak::Zmm(out.getIdx()), from)
              : vbroadcastsd(Xbyak::Ymm(out.getIdx()), from);
}
void Emitter::splat(const Vec& out, double value) {
  if (long_) return splat_long(out, __builtin_bit_cast(uint64_t, value));
  splat_bits(out, __builtin_bit_cast(uint32_t, static_cast<float>(value)));
}

void Emitter::add_to(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  long_ ? vaddpd(out, a, b) : vaddps(out, a, b);
}
void Emitter::subtract(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  long_ ? vsubpd(out, a, b) : vsubps(out, a, b);
}
void Emitter::multiply(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  long_ ? vmulpd(out, a, b) : vmulps(out, a, b);
}
void Emitter::divide(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  long_ ? vdivpd(out, a, b) : vdivps(out, a, b);
}
void Emitter::square_root(const Vec& out, const Vec& x) {
  long_ ? vsqrtpd(out, x) : vsqrtps(out, x);
}
void Emitter::larger(const Vec& out, const Vec& a, const Vec& b) {
  long_ ? vmaxpd(out, a, b) : vmaxps(out, a, b);
}
void Emitter::smaller(const Vec& out, const Vec& a, const Vec& b) {
  long_ ? vminpd(out, a, b) : vminps(out, a, b);
}

void Emitter::bits_and(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  if (!wide_) return vpand(out, a, b);
  long_ ? vpandq(out, a, b) : vpandd(out, a, b);
}
void Emitter::bits_xor(const Vec& out, const Vec& a, const Xbyak::Operand& b) {
  if (!wide_) return vpxor(out, a, b);
  long_ ? vpxorq(out, a, b) : vpxord(out, a, b);
}

/// Opmask 2 as lanes of 0 and -1: as wide as those that were compared, or a bool's.
void Emitter::write_mask(const Vec& out) {
  long_&& is_whole(out) ? vpmovm2q(out, k2) : vpmovm2d(out, k2);
}
void Emitter::write_mask(const Vec& out, const Vec& lanes) {
  if (!long_ || is_whole(out)) return vmovaps(out, lanes);
  const Xbyak::Xmm high = quarter(temp());
  vextractf128(high, Xbyak::Ymm(lanes.getIdx()), 1);
  vshufps(out, quarter(lanes), high, 0x88);
}

/// AVX2: -1 in the lanes that are left at the end.
Emitter::Vec Emitter::tail_lanes() {
  const Vec mask = temp();
  long_ ? vpmovsxdq(mask, home(kMaskHome)) : vmovups(mask, home(kMaskHome));
  return mask;
}

/// Every lane becomes all lanes joined.
void Emitter::fold_lanes(Reduction reduction, bool ints, const Vec& acc) {
  const Vec other = temp();
  const auto join = [&] {
    ints ? combine_ints(reduction, acc, other) : combine(reduction, acc, other);
  };
  const Xbyak::Ymm half_of(acc.getIdx()), to_half(other.getIdx());
  if (acc.isZMM()) {
    const Xbyak::Zmm from(acc.getIdx()), to(other.getIdx());
    long_ ? vshuff64x2(to, from, from, 0x4e) : vshuff32x4(to, from, from, 0x4e);
    join();
    long_ ? vshuff64x2(to, from, from, 0xb1) : vshuff32x4(to, from, from, 0xb1);
    join();
  } else if (acc.isYMM()) {
    wide_ ? vshuff32x4(to_half, half_of, half_of, 1) : vperm2f128(to_half, half_of, half_of, 1);
    join();
  }
  if (long_) {
    vpermilpd(other, acc, 0x55);
    return join();
  }
  vpermilps(other, acc, 0x4e);
  join();
  vpermilps(other, acc, 0xb1);
  join();
}

}  // namespace tidemark::fusion
#endif
