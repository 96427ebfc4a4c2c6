#include "tidemark/exec/eager.h"

#include <tidemark/create.h>
#include <tidemark/custom_op.h>
#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <cstring>

namespace tidemark {
namespace {

// Ops of the test's own: a kernel with a workspace, one whose output size depends on values, one
// that fails, and one of two outputs that are views.
TIDEMARK_OP(test_reverse).input("x", kFloats).output("y", like("x")).shape([](InferContext& c) {
  c.set(0, c.shape(0));
});
TIDEMARK_KERNEL(
    test_reverse, dtype_set(DType::float32),
    [](KernelContext& k) {
      const int64_t n = k.input(0).num_elements();
      auto* scratch = k.workspace<float>();
      std::memcpy(scratch, k.in<float>(0), static_cast<size_t>(n) * 4);
      for (int64_t i = 0; i < n; ++i) k.out<float>(0)[i] = scratch[n - 1 - i];
    },
    [](const OpCall& call, std::span<const Shape>) { return call.inputs[0].nbytes(); });

TIDEMARK_OP(test_positive).input("x", kFloats).output("y", like("x")).shape([](InferContext& c) {
  c.set(0, c.shape(0));
});
TIDEMARK_KERNEL(test_positive, dtype_set(DType::float32), [](KernelContext& k) {
  int64_t kept = 0;
  for (float v : k.input(0).values<float>()) {
    if (v > 0) k.out<float>(0)[kept++] = v;
  }
  k.set_rows(0, kept);
});

TIDEMARK_OP(test_fails).input("x", kFloats).output("y", like("x")).shape([](InferContext& c) {
  c.set(0, c.shape(0));
});
TIDEMARK_KERNEL(test_fails, dtype_set(DType::float32), [](KernelContext& k) { k.fail("always"); });

TIDEMARK_OP(test_halves)
    .input("x", kAny)
    .attr("num", AttrKind::integer, 2)
    .output_list("parts", like("x"), "num")
    .shape([](InferContext& c) {
      const int64_t rows = c.shape(0)[0] / c.num_outputs();
      for (int i = 0; i < c.num_outputs(); ++i) {
        c.set(i, Shape{rows});
        c.alias(i, 0, i * rows);
      }
    });

// Shape rules that nobody should write.
TIDEMARK_OP(test_view_outside)
    .input("x", kAny)
    .attr("offset", AttrKind::integer)
    .output("y", like("x"))
    .shape([](InferContext& c) {
      c.set(0, Shape{2});
      c.alias(0, 0, c.attr("offset").as_int());
    });
TIDEMARK_OP(test_view_of_nothing)
    .input("x", kAny)
    .attr("input", AttrKind::integer)
    .output("y", like("x"))
    .output("z", like("x"))
    .shape([](InferContext& c) {
      c.alias(0, 0);
      c.alias(1, static_cast<int>(c.attr("input").as_int()));
    });
TIDEMARK_OP(test_no_dtype).input("x", kAny).output("y", by_rule()).shape([](InferContext& c) {
  c.set(0, c.shape(0));
});

TEST(Eager, BrokenShapeRulesAreRefused) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  const auto before = memory::stats();
  EXPECT_EQ(call("test_view_outside", {x}, {{"offset", 1}}).num_elements(), 2);
  for (int64_t offset : {int64_t{2}, int64_t{-1}, int64_t{1} << 62, INT64_MAX, INT64_MIN}) {
    EXPECT_THROW(call("test_view_outside", {x}, {{"offset", offset}}), InternalError) << offset;
  }
  for (int input : {-1, 1, 1000}) {
    EXPECT_THROW(call_all("test_view_of_nothing", {&x, 1}, {{"input", input}}), InternalError)
        << input;
  }
  EXPECT_THROW(call("test_no_dtype", {x}), InternalError);
  EXPECT_EQ(memory::stats().live_buffers, before.live_buffers);
}

TEST(Eager, WorkspaceIsProvidedAndGoesBack) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  const int64_t before = memory::stats().live;
  const int buffers = static_cast<int>(memory::stats().live_buffers);
  const Tensor y = call("test_reverse", {x});
  EXPECT_EQ(y.data<float>()[0], 3.f);
  EXPECT_EQ(memory::stats().live_buffers, buffers + 1);
  EXPECT_GT(memory::stats().live, before);
}

TEST(Eager, OutputsOfUnknownSizeGiveTheRestBack) {
  Tensor x = zeros({1 << 20});
  x.mutable_data<float>()[17] = 5.f;
  const int64_t before = memory::stats().tensor_bytes;
  const Tensor y = call("test_positive", {x});
  EXPECT_EQ(y.shape(), (Shape{1}));
  EXPECT_EQ(y.data<float>()[0], 5.f);
  EXPECT_LT(memory::stats().tensor_bytes - before, 1 << 16);
}

TEST(Eager, AFailingKernelLeavesNothingBehind) {
  const Tensor x = Tensor::of({1.f});
  const auto before = memory::stats();
  EXPECT_THROW(call("test_fails", {x}), InvalidArgumentError);
  EXPECT_EQ(memory::stats().live, before.live);
  EXPECT_EQ(memory::stats().live_buffers, before.live_buffers);
}

TEST(Eager, ViewsShareTheInput) {
  const Tensor x = Tensor::of({1, 2, 3, 4});
  const std::vector<Tensor> parts = call_all("test_halves", std::span(&x, 1));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].data<int32_t>()[0], 3);
  EXPECT_EQ(parts[1].raw_data(), x.data<int32_t>() + 2);
}

TEST(Eager, DyingInputsAreWrittenInPlace) {
  const OpDef& add = OpRegistry::instance().get("add");
  const Tensor one = Tensor::of({1.f, 1.f});
  Tensor dying = Tensor::of({1.f, 2.f});
  const void* address = dying.raw_data();
  Tensor out;
  dispatch({add, Borrowed<2>(dying, one).span(), {}, 1u}, {&out, 1});
  EXPECT_EQ(out.raw_data(), address);
  EXPECT_EQ(out.data<float>()[1], 3.f);

  Tensor shared = Tensor::of({1.f, 2.f});
  const Tensor other = shared;
  dispatch({add, Borrowed<2>(shared, one).span(), {}, 1u}, {&out, 1});
  EXPECT_NE(out.raw_data(), shared.raw_data());
  EXPECT_EQ(other.data<float>()[1], 2.f);
}

TEST(Eager, TemporariesOfOperatorsAreReused) {
  const Tensor a = Tensor::of({1.f, 2.f});
  const int64_t before = memory::stats().allocations;
  const Tensor y = a * a + a - a;
  EXPECT_EQ(memory::stats().allocations - before, 1);
  EXPECT_EQ(y.data<float>()[1], 4.f);
  EXPECT_EQ(a.data<float>()[1], 2.f);
}

TEST(Eager, InputsGivenUpToACallByNameAreReused) {
  Tensor a = Tensor::of({1.f, 2.f});
  const Tensor held = Tensor::of({3.f, 4.f});
  const void* address = a.raw_data();
  const Tensor y = call("square", {std::move(a)});
  EXPECT_EQ(y.raw_data(), address);
  EXPECT_EQ(y.data<float>()[1], 4.f);
  const Tensor z = call("square", {held});
  EXPECT_NE(z.raw_data(), held.raw_data());
  EXPECT_EQ(held.data<float>()[1], 4.f);
}

TEST(Eager, PromotesInputsOfOneTypeVariable) {
  const Tensor y = Tensor::of({1, 2}) + Tensor::of({0.5f, 0.5f});
  EXPECT_EQ(y.dtype(), DType::float32);
  EXPECT_EQ(y.data<float>()[1], 2.5f);
}

TEST(Eager, ErrorsNameTheOpAndWhatIsAllowed) {
  try {
    call("test_reverse", {Tensor(1)});
    FAIL() << "an integer was accepted";
  } catch (const InvalidArgumentError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("[test_reverse] 'x' has dtype int32"), std::string::npos) << text;
    EXPECT_NE(text.find("float32"), std::string::npos) << text;
  }
  EXPECT_THROW(call("test_reverse", {Tensor(1.0)}), UnimplementedError);  // no float64 kernel
  EXPECT_THROW(call("test_reverse", {}), InvalidArgumentError);
  EXPECT_THROW(call("no_such_op", {}), NotFoundError);
  EXPECT_THROW(call("test_halves", {Tensor(1)}, {{"parts", 3}}), InvalidArgumentError);
}

class Recorder : public Handler {
 public:
  void handle(const OpCall& call, std::span<Tensor> outputs) override {
    names.push_back(call.op.name());
    next(call, outputs);
  }
  std::vector<std::string> names;
};

TEST(Eager, HandlersStackAndTheInnermostIsAskedFirst) {
  Recorder outer, inner;
  const Tensor x = Tensor::of({1.f});
  {
    HandlerScope a(outer);
    HandlerScope b(inner);
    EXPECT_EQ((x + x).data<float>()[0], 2.f);
  }
  EXPECT_EQ((x + x).data<float>()[0], 2.f);
  EXPECT_EQ(inner.names, std::vector<std::string>{"add"});
  EXPECT_EQ(outer.names, std::vector<std::string>{"add"});
}

TEST(Registry, BrokenDefinitionsAreRefused) {
  OpRegistry& all = OpRegistry::instance();
  EXPECT_THROW(all.add(OpDef("add").input("x", kReal).output("y", like("x")).elementwise()),
               AlreadyExistsError);
  EXPECT_THROW(all.add(OpDef("test_a").input("x", kReal).elementwise()), InvalidArgumentError);
  EXPECT_THROW(all.add(OpDef("test_b").input("x", kReal).output("y", like("x"))),
               InvalidArgumentError);
  EXPECT_THROW(all.add(OpDef("test_c").input("x", kReal).output("y", like("z")).elementwise()),
               InvalidArgumentError);
  EXPECT_EQ(all.find("test_a"), nullptr);
}

}  // namespace
}  // namespace tidemark
