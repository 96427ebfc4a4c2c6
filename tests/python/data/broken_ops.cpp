// Op libraries nobody should build. Each macro picks one way to be broken.
#include <tidemark/custom_op.h>

#include <stdexcept>

using namespace tidemark;

#if defined(BROKEN_DEFINITIONS)

TIDEMARK_OP(add).input("x", kFloats).output("y", like("x")).elementwise();  // the name is taken
TIDEMARK_OP(broken_no_output).input("x", kFloats).elementwise();
TIDEMARK_OP(broken_no_rule).input("x", kFloats).output("y", like("x"));
TIDEMARK_OP(broken_like).input("x", kFloats).output("y", like("z")).elementwise();
TIDEMARK_OP(broken_count).input("x", kFloats).output_list("y", like("x"), "n").elementwise();
TIDEMARK_OP(broken_among).among(kFloats).input("x", kFloats).output("y", like("x")).elementwise();
TIDEMARK_KERNEL(add, dtype_set(DType::float32), [](KernelContext&) {});  // there is one already

TIDEMARK_OP(broken_axis).input("x", kFloats).output("y", like("x")).elementwise().along_axis();
TIDEMARK_OP(broken_relu)
    .tensorflow("Relu")
    .input("x", kFloats)
    .output("y", like("x"))
    .elementwise();
TIDEMARK_OP(broken_test).input("x", kFloats).output("y", always(DType::bool_)).elementwise();
template <class T>
struct Same {
  static T of(T x, const cpu::LoopParams&) { return x; }
};
const ElementwiseKernels<Same, float> broken_test_kernels("broken_test");
const ElementwiseKernels<Same, float> add_kernels("add");

#else  // definitions that are sound, rules and kernels that are not

#define BROKEN_OP(name, rule)          \
  TIDEMARK_OP(name)                    \
      .input("x", kFloats)             \
      .attr("n", AttrKind::integer, 0) \
      .output("y", like("x"))          \
      .shape(rule)
#define SAME_SHAPE [](InferContext& c) { c.set(0, c.shape(0)); }

BROKEN_OP(broken_throws, SAME_SHAPE);
TIDEMARK_KERNEL(broken_throws, dtype_set(DType::float32), [](KernelContext& k) {
  if (k.attr("n").as_int() == 0) throw std::runtime_error("thrown by a kernel");
  throw 5;
});

BROKEN_OP(broken_rule_throws, [](InferContext&) { throw std::out_of_range("thrown by a rule"); });
BROKEN_OP(broken_size, [](InferContext& c) { c.set(0, Shape{c.attr("n").as_int(), 3}); });
TIDEMARK_KERNEL(broken_size, dtype_set(DType::float32), [](KernelContext& k) {
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) k.out<float>(0)[i] = 1;
});

BROKEN_OP(broken_rows, SAME_SHAPE);
TIDEMARK_KERNEL(broken_rows, dtype_set(DType::float32),
                [](KernelContext& k) { k.set_rows(0, k.attr("n").as_int()); });

BROKEN_OP(broken_row_rule, SAME_SHAPE).rows([](const RowQuestion&) {
  return std::optional<RowRule>(RowRule{{}, {RowResult::rows}});
});
TIDEMARK_KERNEL(broken_row_rule, dtype_set(DType::float32), [](KernelContext&) {});

BROKEN_OP(broken_workspace, SAME_SHAPE);
TIDEMARK_KERNEL(
    broken_workspace, dtype_set(DType::float32), [](KernelContext& k) { k.out<float>(0)[0] = 1; },
    [](const OpCall& call, std::span<const Shape>) {
      return static_cast<size_t>(call.attr("n").as_int());
    });

BROKEN_OP(broken_view, [](InferContext& c) {
  c.set(0, c.shape(0));
  c.alias(0, 0, c.attr("n").as_int());
});
BROKEN_OP(broken_no_kernel, SAME_SHAPE);

#endif
