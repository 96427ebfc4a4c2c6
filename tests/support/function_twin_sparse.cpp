// Functions of tf.sparse: they take dense tensors and give what they make as dense ones.
#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

namespace {
namespace sp = tidemark::sparse;

Tensors parts(const td::SparseTensor& x) { return {x.indices, x.values, x.dense_shape}; }
}  // namespace

Functions sparse_functions() {
  return {
      {"sparse.from_dense", [](const Tensors& x) { return parts(sp::from_dense(x[0])); }},
      {"sparse.to_dense",
       [](const Tensors& x) {
         return Tensors{sp::to_dense(sp::from_dense(x[0])),
                        sp::to_dense(sp::from_dense(x[0]), -1.f)};
       }},
      {"sparse.eye", [](const Tensors&) { return parts(sp::eye(3, 5)); }},
      {"sparse.reorder",
       [](const Tensors& x) {
         const td::SparseTensor s = sp::from_dense(x[0]);
         const td::Ints last = {0};
         return parts(sp::reorder(
             {td::reverse(s.indices, last), td::reverse(s.values, last), s.dense_shape}));
       }},
      {"sparse.reshape",
       [](const Tensors& x) {
         return parts(sp::reshape(sp::from_dense(x[0]), {-1, 2}));
       }},
      {"sparse.transpose",
       [](const Tensors& x) { return parts(sp::transpose(sp::from_dense(x[0]))); }},
      {"sparse.expand_dims",
       [](const Tensors& x) {
         Tensors out = parts(sp::expand_dims(sp::from_dense(x[0])));
         for (td::Tensor& t : parts(sp::expand_dims(sp::from_dense(x[0]), 1))) out.push_back(t);
         return out;
       }},
      {"sparse.slice",
       [](const Tensors& x) {
         return parts(sp::slice(sp::from_dense(x[0]), {1, 0}, {2, 9}));
       }},
      {"sparse.concat",
       [](const Tensors& x) {
         return parts(sp::concat(-1, {sp::from_dense(x[0]), sp::from_dense(x[1])}));
       }},
      {"sparse.reset_shape",
       [](const Tensors& x) { return parts(sp::reset_shape(sp::from_dense(x[0]))); }},
      {"sparse.add",
       [](const Tensors& x) { return parts(sp::add(sp::from_dense(x[0]), sp::from_dense(x[1]))); }},
      {"sparse.maximum",
       [](const Tensors& x) {
         const td::SparseTensor a = sp::from_dense(x[0]), b = sp::from_dense(x[1]);
         return Tensors{sp::to_dense(sp::maximum(a, b)), sp::to_dense(sp::minimum(a, b))};
       }},
      {"sparse.reduce",
       [](const Tensors& x) {
         const td::SparseTensor s = sp::from_dense(x[0]);
         return Tensors{sp::reduce_sum(s), sp::reduce_sum(s, {1}), sp::reduce_max(s, {0})};
       }},
      {"sparse.softmax", [](const Tensors& x) { return parts(sp::softmax(sp::from_dense(x[0]))); }},
      {"sparse.to_indicator",
       [](const Tensors& x) { return Tensors{sp::to_indicator(sp::from_dense(x[0]), 6)}; }},
      {"sparse.sparse_dense_matmul",
       [](const Tensors& x) {
         const td::SparseTensor s = sp::from_dense(x[0]);
         return Tensors{sp::sparse_dense_matmul(s, x[1]),
                        sp::sparse_dense_matmul(s, x[2], {.adjoint_a = true, .adjoint_b = true})};
       }},
      {"sparse.segments",
       [](const Tensors& x) {
         return Tensors{sp::segment_sum(x[0], x[1], x[2]), sp::segment_mean(x[0], x[1], x[2]),
                        sp::segment_sqrt_n(x[0], x[1], x[2])};
       }},
      {"sets",
       [](const Tensors& x) {
         Tensors out = parts(td::sets::intersection(x[0], x[1]));
         for (const td::SparseTensor& one :
              {td::sets::union_(x[0], x[1]), td::sets::difference(x[0], x[1]),
               td::sets::difference(x[0], x[1], false)}) {
           for (const td::Tensor& t : parts(one)) out.push_back(t);
         }
         return out;
       }},
      {"nn.ctc_decoders",
       [](const Tensors& x) {
         const auto greedy = td::nn::ctc_greedy_decoder(x[0], x[1]);
         Tensors out = parts(greedy.decoded[0]);
         out.push_back(greedy.log_probability);
         const auto searched = td::nn::ctc_beam_search_decoder(x[0], x[1], {.top_paths = 2});
         for (const td::SparseTensor& path : searched.decoded) {
           for (const td::Tensor& t : parts(path)) out.push_back(t);
         }
         out.push_back(searched.log_probability);
         return out;
       }},
  };
}

}  // namespace function_twin
