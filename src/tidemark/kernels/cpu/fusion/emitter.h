// Writes machine code for a program: one function that runs all passes over one run of elements.
//
// Each pass is a loop over vectors and, for what is left, its body once more under a mask. A value
// is a vector of 32-bit lanes: float32 and the half types as floats, int32, bool as 0 or -1; or of
// 64-bit ones: float64, int64. In a program that has such, the others take half a vector. Bodies
// are straight lines, so registers are handed out while instructions are written: the value whose
// next use is furthest away gives its register up, to the stack or, where it can be had again
// (constants, inputs, values of a row), for nothing.
#pragma once

#include <xbyak/xbyak.h>

#include <map>
#include <vector>

#include "tidemark/kernels/cpu/elementwise/loop.h"
#include "tidemark/kernels/cpu/fusion/machine_code.h"

namespace tidemark::fusion {

/// The program has to be interpreted.
struct Refused {};
inline constexpr int kMaskHome = 0;  // of the frame: which lanes are left at the end, for AVX2

class Emitter : public Xbyak::CodeGenerator {
 public:
  using Vec = Xbyak::Xmm;  // of the level's width

  Emitter(const FusedProgram& program, const Schedule& schedule, const Sources& sources,
          const CodeOptions& options, void* buffer, size_t bytes);
  /// Throws Refused, or Xbyak::Error when the buffer is too small.
  void emit();

 private:
  // --- frame and loops (emitter.cpp) ---
  void check();
  bool calls_loops() const;
  void enter();
  void leave();
  void pass(const Pass& pass);
  void once(const std::vector<PassStep>& steps);
  void body(const std::vector<PassStep>& steps, bool tail);
  void start_list(const std::vector<PassStep>& steps);
  void step(const PassStep& s);
  void compute(Value v);
  void set_tail_mask();
  void start_reduction(Value v);
  void accumulate(Value v);
  void collect(Value v, int slot);
  void finish_reduction(Value v);
  void combine(Reduction reduction, const Vec& into, const Vec& x);
  void combine_ints(Reduction reduction, const Vec& into, const Vec& x);
  void fold_lanes(Reduction reduction, bool ints, const Vec& acc);
  void write_pool();

  // --- registers ---
  /// Lanes of 64 bits, as the elements of this dtype are computed in.
  static bool is_long(DType dtype) { return size_of(computed_in(dtype)) == 8; }
  /// What the instruction that is being written has: temporaries and constants are like that.
  class Lanes {
   public:
    Lanes(Emitter& emitter, DType dtype) : emitter_(emitter), outer_(emitter.long_) {
      emitter.long_ = is_long(dtype);
    }
    ~Lanes() { emitter_.long_ = outer_; }
    Lanes(const Lanes&) = delete;

   private:
    Emitter& emitter_;
    const bool outer_;
  };
  Vec vec(int index, bool is_long) const;
  Vec vec(int index) const { return vec(index, long_); }
  Vec whole(int index) const { return vec(index, has_long_); }
  bool is_whole(const Vec& v) const { return wide_ ? v.isZMM() : v.isYMM(); }
  Vec half(const Vec& v) const;     // half as wide
  Vec quarter(const Vec& v) const;  // 16 bytes
  int take_register();
  void evict();
  Vec use(Value v);
  Vec temp();
  void free_temps();
  /// Nobody else's until it is let go.
  void pin(int reg);
  void unpin(int reg);
  void materialize(Value v, const Vec& into);
  void spill(Value v);
  void unbind(Value v);
  bool can_be_had_again(Value v) const;
  size_t next_use(Value v) const;
  Xbyak::Address home(int slot);

  // --- memory (emit_memory.cpp) ---
  Xbyak::Reg64 pointer(int array, int index);
  void cache_pointers(const std::vector<PassStep>& steps);
  void load_source(Value v, const Vec& into);
  void load_scalar(Value v, const Vec& into);
  void load_dense(DType dtype, const Vec& into, const Xbyak::RegExp& at, bool masked);
  void store(Value v, int output);
  void store_one(Value v, int output);
  void store_dense(DType dtype, const Vec& x, const Xbyak::RegExp& at, bool masked);
  void store_narrow(DType dtype, const Vec& x, const Xbyak::RegExp& at, bool masked);
  void copy_tail(bool to_memory, DType dtype, int array, int index);
  void keep(Value v, int slot);
  void restore(Value v, int slot, const Vec& into);
  Xbyak::Address lanes_at(int slot);  // of a column reduction
  int first_lanes() const { return static_cast<int>(schedule_.kept.size()); }

  // --- operations (emit_ops.cpp) ---
  bool is_inline(const Instruction& i) const;
  void operation(const Instruction& i, const Vec& out, const Vec* in);
  bool float_op(const std::string& op, const Instruction& i, const Vec& out, const Vec* in);
  bool exact_float_op(const std::string& op, const Instruction& i, const Vec& out, const Vec* in);
  bool int_op(const std::string& op, const Vec& out, const Vec* in);
  bool bool_op(const std::string& op, const Vec& out, const Vec* in);
  bool comparison(const std::string& op, const Vec& out, const Vec* in, bool ints);
  void cast(DType from, DType to, const Vec& out, const Vec& x);
  void choose(const Vec& out, const Vec& mask, const Vec& yes, const Vec& no);
  void compare(const Vec& out, const Vec& a, const Xbyak::Operand& b, int predicate);
  void multiply_long(const Vec& out, const Vec& a, const Vec& b);
  void extreme_int(const Vec& out, const Vec& a, const Vec& b, bool least);
  void compare_ints(const Vec& out, const Vec& a, const Vec& b, bool greater);
  void write_mask(const Vec& out);
  void write_mask(const Vec& out, const Vec& lanes);
  Vec tail_lanes();
  void cast_long(DType in, DType result, const Vec& out, const Vec& x);
  void round_half(DType dtype, const Vec& x);
  void maximum(const Vec& out, const Vec& x, const Vec& y, bool least);
  void call_loop(Value v);
  void save_all();

  // --- functions (emit_math.cpp) ---
  void exp(const Vec& out, const Vec& x);
  void expm1_small(const Vec& out, const Vec& x);  // of x in [-40, 0] and below
  void log(const Vec& out, const Vec& x);
  void tanh(const Vec& out, const Vec& x);
  void sigmoid(const Vec& out, const Vec& x);
  void gelu(const Vec& out, const Vec& x, const Vec* part);
  void gelu_grad(const Vec& out, const Vec& dy, const Vec& x, const Vec* part);
  /// Both of the same x, as where an activation is computed again: the dear part is had once.
  void gelu_or_grad(const Instruction& i, const Vec& out, const Vec* in);
  bool is_gelu_ahead(const Instruction& grad) const;
  void bell(const Vec& out, const Vec& t);
  void tail_over_bell(const Vec& out, const Vec& t);
  void polynomial(const Vec& p, const Vec& x, std::initializer_list<float> falling);
  bool has_log() const { return wide_; }

  // --- lanes of either width (emit_lanes.cpp) ---
  Xbyak::Address c(double value);
  Xbyak::Address ci(uint32_t bits);
  Xbyak::Address cq(uint64_t bits);
  Xbyak::Address sign_bit() { return long_ ? cq(uint64_t{1} << 63) : ci(0x80000000); }
  Xbyak::Address magnitude_bits() { return long_ ? cq(~uint64_t{0} >> 1) : ci(0x7fffffff); }
  void splat(const Vec& out, double value);
  void splat_bits(const Vec& out, uint32_t bits);
  void splat_long(const Vec& out, uint64_t bits);
  void broadcast_long(const Vec& out, const Xbyak::Operand& from);
  void add_to(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void subtract(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void multiply(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void divide(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void square_root(const Vec& out, const Vec& x);
  void larger(const Vec& out, const Vec& a, const Vec& b);   // b where one is no number
  void smaller(const Vec& out, const Vec& a, const Vec& b);  // likewise
  void bits_and(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void bits_xor(const Vec& out, const Vec& a, const Xbyak::Operand& b);
  void round(const Vec& out, const Vec& x, int mode);
  void blend(const Vec& out, const Vec& mask, const Vec& yes, const Xbyak::Operand& no);

  const FusedProgram& p_;
  const Schedule& schedule_;
  const Sources& sources_;
  const CodeOptions options_;
  const bool wide_;  // AVX-512
  const bool has_long_;
  const int lanes_;
  const int width_;  // bytes of a vector
  bool has_calls_ = false;
  bool long_ = false;

  std::vector<int> reg_of_, home_of_;  // by value; -1: none
  std::vector<int> holder_;            // by register: a value, kFree, kTemp or kPinned
  std::vector<bool> locked_;           // by register
  std::vector<int> temps_;
  std::vector<int> accumulator_;  // register by value; -1: none
  // Its second half, where sums have the lanes of two vectors: those of AVX-512, for equal bits.
  std::vector<int> twin_;
  std::vector<int> free_homes_;
  int next_home_ = 0;
  const std::vector<PassStep>* list_ = nullptr;
  size_t now_ = 0;
  std::vector<size_t> last_use_;
  bool tail_ = false, in_elements_ = false;
  int gelu_part_ = -1;  // register that gelu_grad left for gelu
  Value gelu_part_of_ = kNoValue;
  std::map<uint32_t, Xbyak::Label> pool_;
  std::map<uint64_t, Xbyak::Label> long_pool_;
  struct Cached {
    int array, index;
    Xbyak::Reg64 reg;
  };
  std::vector<Cached> cached_;
};

}  // namespace tidemark::fusion
