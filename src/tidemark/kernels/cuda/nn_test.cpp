// Kernels along lines and over channels, as on the CPU: softmax, cross entropies, normalisation,
// pooling.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

constexpr DType kFloating[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};

DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }

/// Between the bounds, without special numbers.
Tensor numbers(DType dtype, const Shape& shape, std::mt19937& random, double low = -3,
               double high = 3) {
  const Tensor t = new_tensor(DType::float64, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    static_cast<double*>(t.mutable_raw_data())[i] =
        std::uniform_real_distribution<>(low, high)(random);
  }
  return call("cast", {t}, {{"dtype", dtype}});
}

/// Lines that threads take alone and lines that blocks take; side by side, too.
const Shape kLines[] = {{5, 7}, {3, 300}, {2, 5, 3}, {1500, 2}, {0, 3}};

TEST(CudaSoftmax, LinesAreAsOnTheCpu) {
  std::mt19937 random(1);
  std::vector<GpuCall> calls;
  for (const DType d : kFloating) {
    for (const Shape& shape : kLines) {
      const Tensor x = random_tensor(d, shape, random), dy = numbers(d, shape, random);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        for (const char* op : {"softmax", "log_softmax"}) {
          calls.push_back({op, {x}, {{"axis", axis}}, 1});
          const Tensor y = call(op, {x}, {{"axis", axis}});
          calls.push_back({message(op, "_grad"), {y, dy}, {{"axis", axis}}, 8});
        }
      }
    }
    calls.push_back({"softmax", {random_tensor(d, {40}, random)}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaSoftmax, CrossEntropiesAreAsOnTheCpu) {
  std::mt19937 random(2);
  std::vector<GpuCall> calls;
  for (const DType d : kFloating) {
    for (const int64_t classes : {3, 300}) {
      const Tensor x = numbers(d, {6, classes}, random), dloss = numbers(d, {6}, random);
      const Tensor labels = Tensor::of<int32_t>({0, 1, 2, 2, 1, 0});
      const Tensor wide = call("cast", {labels}, {{"dtype", DType::int64}});
      const Tensor weights = call("softmax", {numbers(d, {6, classes}, random)});
      const Tensor lse = call_all("sparse_softmax_cross_entropy", {{x, labels}})[1];
      calls.push_back({"sparse_softmax_cross_entropy", {x, labels}, {}, 4});
      calls.push_back({"sparse_softmax_cross_entropy", {x, wide}, {}, 4});
      calls.push_back({"softmax_cross_entropy", {x, weights}, {}, 4});
      calls.push_back({"sparse_softmax_cross_entropy_grad", {x, labels, lse, dloss}, {}, 1});
      calls.push_back({"sparse_softmax_cross_entropy_grad", {x, wide, lse, dloss}, {}, 1});
      calls.push_back({"softmax_cross_entropy_grad", {x, weights, lse, dloss}, {}, 1});
    }
  }
  const Tensor x = numbers(DType::float32, {2, 3}, random),
               one = numbers(DType::float32, {2}, random);
  for (const int32_t bad : {-1, 3}) {
    calls.push_back({"sparse_softmax_cross_entropy", {x, Tensor::of<int32_t>({0, bad})}});
    calls.push_back(
        {"sparse_softmax_cross_entropy_grad", {x, Tensor::of<int32_t>({bad, 0}), one, one}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaAttention, QueriesSeeWhatTheyDoOnTheCpu) {
  std::mt19937 random(5);
  std::vector<GpuCall> calls;
  struct {
    Shape batch;
    int64_t queries, keys, depth, value_depth;
    std::vector<Shape> masks;  // of the batch, queries and keys; empty: there is none
  } const sizes[] = {{{2, 3}, 5, 7, 4, 3, {{}, {2, 3, 5, 7}, {2, 1, 1, 7}, {1, 3, 5, 1}}},
                     {{}, 40, 300, 8, 2, {{}, {40, 300}}},
                     {{3}, 4, 4, 2, 5, {{1, 4, 4}}},
                     {{2}, 3, 0, 2, 2, {{}}},
                     {{2}, 0, 3, 2, 2, {{}}}};
  for (const DType d : kFloating) {
    for (const auto& s : sizes) {
      const auto shape = [&](int64_t length, int64_t depth) {
        Shape whole = s.batch;
        whole.push_back(length);
        whole.push_back(depth);
        return whole;
      };
      const Tensor q = numbers(d, shape(s.queries, s.depth), random);
      const Tensor key = numbers(d, shape(s.keys, s.depth), random);
      const Tensor value = numbers(d, shape(s.keys, s.value_depth), random);
      for (const Shape& of_mask : s.masks) {
        const Tensor mask =
            of_mask.rank() == 0
                ? Tensor(true)
                : call("greater", {numbers(DType::float32, of_mask, random), Tensor(-1.f)});
        for (const bool is_causal : {false, true}) {
          const std::vector<std::pair<std::string, Attr>> attrs = {{"scale", 0.3},
                                                                   {"causal", is_causal}};
          calls.push_back({"attention", {q, key, value, mask}, attrs, 8});
          const auto y = call_all("attention", {{q, key, value, mask}},
                                  {{"scale", 0.3}, {"causal", is_causal}});
          const Tensor dy = numbers(d, y[0].shape(), random);
          const Tensor dlog = numbers(wide_of(d), y[1].shape(), random);
          const Tensor none = call("cast", {Tensor(0.f)}, {{"dtype", wide_of(d)}});
          for (const Tensor& of_log : {dlog, none}) {
            calls.push_back(
                {"attention_grad", {q, key, value, mask, y[0], y[1], dy, of_log}, attrs, 60});
          }
        }
      }
    }
  }
  expect_as_on_cpu(calls);
}

TEST(CudaAttention, OneKernelGivesWhatTheCpuDoes) {
  std::mt19937 random(7);
  std::vector<GpuCall> calls;
  struct {
    Shape batch;
    int64_t queries, keys, depth, value_depth;
    std::vector<Shape> masks;
  } const sizes[] = {{{2}, 70, 70, 16, 16, {{}}},
                     {{1, 2}, 130, 150, 32, 16, {{}, {1, 2, 130, 150}, {1, 2, 1, 150}}},
                     {{}, 20, 9, 16, 48, {{}, {20, 1}}},
                     {{}, 3, 40, 128, 64, {{}}}};
  for (const DType d : {DType::bfloat16, DType::float16}) {
    for (const auto& s : sizes) {
      if (d == DType::float16 && s.depth != 32) continue;
      const auto shape = [&](int64_t length, int64_t depth) {
        Shape whole = s.batch;
        whole.push_back(length);
        whole.push_back(depth);
        return whole;
      };
      const Tensor q = numbers(d, shape(s.queries, s.depth), random);
      const Tensor key = numbers(d, shape(s.keys, s.depth), random);
      const Tensor value = numbers(d, shape(s.keys, s.value_depth), random);
      for (const Shape& of_mask : s.masks) {
        const Tensor mask =
            of_mask.rank() == 0
                ? Tensor(true)
                : call("greater", {numbers(DType::float32, of_mask, random), Tensor(-1.f)});
        for (const bool is_causal : {false, true}) {
          if (is_causal && of_mask.rank() > 2) continue;
          const std::vector<std::pair<std::string, Attr>> attrs = {{"scale", 0.3},
                                                                   {"causal", is_causal}};
          const auto y = call_all("attention", {{q, key, value, mask}},
                                  {{"scale", 0.3}, {"causal", is_causal}});
          const Tensor dy = numbers(d, y[0].shape(), random);
          const Tensor dlog = numbers(DType::float32, y[1].shape(), random);
          calls.push_back({"attention", {q, key, value, mask}, attrs, 8});
          calls.push_back({"attention_grad",
                           {q, key, value, mask, y[0], y[1], dy, is_causal ? dlog : Tensor(0.f)},
                           attrs,
                           60});
        }
      }
    }
  }
  expect_as_on_cpu(calls);
}

TEST(CudaAttention, ScoresOfSomeQueriesAtATimeAddUp) {
  constexpr int64_t kKeys = 4'500'000;  // scores of one query are more than half of what is kept
  std::mt19937 random(6);
  const DType d = DType::float32;
  const Tensor q = numbers(d, {2, 1}, random), dy = numbers(d, {2, 1}, random);
  const Tensor key = numbers(d, {kKeys, 1}, random), value = numbers(d, {kKeys, 1}, random);
  const auto y = call_all("attention", {{q, key, value, Tensor(true)}});
  const GpuCall forward{"attention", {q, key, value, Tensor(true)}, {}, 1};
  const GpuCall gradient{
      "attention_grad", {q, key, value, Tensor(true), y[0], y[1], dy, Tensor(0.f)}, {}, 1};
  expect_as_on_cpu({forward, gradient});
}

TEST(CudaCtc, AlignmentsAddUpAsOnTheCpu) {
  std::mt19937 random(8);
  std::vector<GpuCall> calls;
  const Tensor labels = Tensor::of<int32_t>({1, 1, 3, 2, 0, 1, 4, 2, 3}, {3, 3});
  const auto add = [&](const Tensor& logits, const Tensor& of_label, const Tensor& of_logit,
                       int64_t blank) {
    const Tensor dloss = numbers(logits.dtype(), {3}, random);
    const std::vector<std::pair<std::string, Attr>> attrs = {{"blank_index", blank}};
    calls.push_back({"ctc_loss", {logits, labels, of_label, of_logit}, attrs, 1});
    calls.push_back({"ctc_loss_grad", {dloss, logits, labels, of_label, of_logit}, attrs, 3});
  };
  const Tensor few = Tensor::of<int64_t>({3, 0, 2}), all = Tensor::of<int32_t>({9, 9, 9});
  for (const DType d : {DType::float32, DType::float64}) {
    const Tensor logits = numbers(d, {9, 3, 5}, random);
    add(logits, few, all, 0);
    add(logits, Tensor::of<int32_t>({3, 3, 3}), Tensor::of<int64_t>({9, 2, 0}), -1);
    add(logits, Tensor::of<int32_t>({0, 3, 1}), Tensor::of<int32_t>({0, 4, 5}), 2);
    add(numbers(d, {12, 3, 300}, random), few, Tensor::of<int32_t>({12, 7, 11}), 299);
  }
  const Tensor logits = numbers(DType::float32, {9, 3, 4}, random);
  add(logits, Tensor::of<int64_t>({3, 3, 3}), all, 0);  // a label that is no class
  add(logits, Tensor::of<int64_t>({3, 4, 3}), all, 0);
  add(logits, Tensor::of<int64_t>({3, 0, 3}), Tensor::of<int32_t>({9, -1, 9}), 0);
  add(logits, few, all, 4);
  expect_as_on_cpu(calls);
}

TEST(CudaNorms, RowsAndChannelsAreAsOnTheCpu) {
  std::mt19937 random(3);
  std::vector<GpuCall> calls;
  for (const DType d : kFloating) {
    for (const Shape& shape : {Shape{9, 5}, Shape{2, 3, 300}, Shape{130, 4}}) {
      const int64_t n = shape.dim(-1);
      const Tensor x = numbers(d, shape, random, 1, 4), dy = numbers(d, shape, random);
      const Tensor scale = numbers(d, {n}, random), offset = numbers(d, {n}, random);
      calls.push_back({"layer_norm", {x, scale, offset}, {{"epsilon", 0.1}}, 4});
      calls.push_back({"rms_norm", {x, scale}, {{"epsilon", 0.1}}, 4});
      const auto y = call_all("layer_norm", {{x, scale, offset}}, {{"epsilon", 0.1}});
      const auto z = call_all("rms_norm", {{x, scale}}, {{"epsilon", 0.1}});
      calls.push_back({"layer_norm_grad", {x, scale, y[1], y[2], dy}, {}, 400});
      calls.push_back({"rms_norm_grad", {x, scale, z[1], dy}, {}, 400});

      const Tensor wide = call("cast", {scale}, {{"dtype", wide_of(d)}});
      const Tensor shift = call("cast", {offset}, {{"dtype", wide_of(d)}});
      calls.push_back({"batch_norm", {x, wide, shift}, {{"epsilon", 0.01}}, 8});
      const auto b = call_all("batch_norm", {{x, wide, shift}}, {{"epsilon", 0.01}});
      calls.push_back({"batch_norm_grad", {x, wide, b[1], b[2], dy}, {{"epsilon", 0.01}}, 400});
    }
  }
  expect_as_on_cpu(calls);
}

TEST(CudaPooling, WindowsAreAsOnTheCpu) {
  std::mt19937 random(4);
  std::vector<GpuCall> calls;
  struct {
    Ints ksize, strides;
  } const windows[] = {{{2, 2}, {2, 2}}, {{3, 3}, {1, 1}}, {{2, 1}, {3, 2}}, {{3, 2}, {2, 2}}};
  for (const DType d : kFloating) {
    for (const Shape& shape : {Shape{2, 7, 6, 3}, Shape{1, 2, 2, 5}}) {
      for (const auto& [ksize, strides] : windows) {
        for (const char* padding : {"VALID", "SAME"}) {
          if (shape[1] < ksize[0] && std::string_view(padding) == "VALID") continue;
          const std::vector<std::pair<std::string, Attr>> attrs = {
              {"ksize", ksize}, {"strides", strides}, {"padding", padding}};
          // Few values: of several greatest elements the first one counts.
          const Tensor x = call("round", {numbers(d, shape, random)});
          const Tensor y =
              call("max_pool", {x}, {{"ksize", ksize}, {"strides", strides}, {"padding", padding}});
          calls.push_back({"max_pool", {x}, attrs});
          calls.push_back({"max_pool_with_argmax", {x}, attrs});
          calls.push_back({"avg_pool", {x}, attrs, 4});
          calls.push_back({"max_pool_grad", {x, y, numbers(d, y.shape(), random)}, attrs});
        }
      }
    }
  }
  expect_as_on_cpu(calls);
}

}  // namespace
}  // namespace tidemark::cuda
