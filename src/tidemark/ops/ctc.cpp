// Connectionist temporal classification (Graves et al., 2006): the loss of label sequences without
// an alignment, and the decoders that read label sequences off the scores.
#include "tidemark/ops/gradients.h"
#include "tidemark/ops/missing_gradient.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

constexpr DTypeSet kScores = dtype_set(DType::float32, DType::float64);

void check_lengths(const InferContext& c, int input, int64_t batch) {
  const Shape& s = c.shape(input);
  if (!s.has_rank()) return;
  const bool fits = s.rank() == 1 && (s[0] == batch || s[0] == kUnknownDim || batch == kUnknownDim);
  if (fits) return;
  c.fail("'", c.call().op.input_param(input).name, "' must have one element for each of the ",
         batch, " sequences; given shape ", s.to_brackets());
}

/// Throws unless the input is [time, batch, classes]; the batch size.
int64_t check_scores(const InferContext& c, int input) {
  const Shape& s = c.shape(input);
  if (!s.has_rank()) return kUnknownDim;
  if (s.rank() != 3) {
    c.fail("'", c.call().op.input_param(input).name,
           "' must have shape [time, batch, classes]; given ", s.to_brackets());
  }
  return s[1];
}

/// From `logits` on: logits, labels, label_length, logit_length.
void check_loss_inputs(const InferContext& c, int logits) {
  const int64_t batch = check_scores(c, logits);
  const Shape& labels = c.shape(logits + 1);
  if (labels.has_rank() && (labels.rank() != 2 || (batch != kUnknownDim && labels[0] != batch &&
                                                   labels[0] != kUnknownDim))) {
    c.fail("'labels' must have shape [batch, length] with the logits' batch size ", batch,
           "; given ", labels.to_brackets());
  }
  check_lengths(c, logits + 2, batch);
  check_lengths(c, logits + 3, batch);
}

void loss_rule(InferContext& c) {
  check_loss_inputs(c, 0);
  const Shape& s = c.shape(0);
  c.set(0, s.has_rank() ? Shape{s[1]} : Shape{kUnknownDim});
}

void loss_gradient_rule(InferContext& c) {
  check_loss_inputs(c, 1);
  check_lengths(c, 0, c.shape(1).has_rank() ? c.shape(1)[1] : kUnknownDim);
  c.set(0, c.shape(1));
}

void greedy_rule(InferContext& c) {
  const int64_t batch = check_scores(c, 0);
  check_lengths(c, 1, batch);
  const int64_t time = c.shape(0).has_rank() ? c.shape(0)[0] : kUnknownDim;
  c.set(0, Shape{batch, time});
  c.set(1, Shape{batch, 1});
}

void beam_rule(InferContext& c) {
  const int64_t batch = check_scores(c, 0);
  check_lengths(c, 1, batch);
  const int64_t width = c.attr("beam_width").as_int(), paths = c.attr("top_paths").as_int();
  constexpr int64_t kMost = 1 << 20;
  if (width < 1 || width > kMost) {
    c.fail("beam_width must be from 1 to ", kMost, "; given ", width);
  }
  if (paths < 1 || paths > width) {
    c.fail("top_paths must be from 1 to beam_width (", width, "); given ", paths);
  }
  const int64_t time = c.shape(0).has_rank() ? c.shape(0)[0] : kUnknownDim;
  c.set(0, Shape{paths, batch, time});
  c.set(1, Shape{batch, paths});
}

/// The gradient of ctc_loss is linear in what flows into it; that much forward mode needs. Its
/// derivative by the logits is another matter, in TensorFlow too.
void loss_gradient_gradient(Grad& g) {
  if (g.wants(1)) {
    fail<MissingGradientError>("gradient registry has no entry for: ", g.op_name(),
                               ". Differentiate once only here, or write the computation with ",
                               "smaller ops");
  }
  const Tensor ones = call("ones_like", {g.x(0)});
  const Tensor slope = call("ctc_loss_grad", {ones, g.x(1), g.x(2), g.x(3), g.x(4)},
                            {{"blank_index", g.attr("blank_index")}});
  g.dx(0) = call("sum", {g.dy() * slope}, {{"axis", Ints{0, 2}}});
}

}  // namespace

TIDEMARK_OP(ctc_loss)
    .doc(
        "The negative logarithm of the probability that the scores (logits, [time, batch, "
        "classes]) give to each row of labels, over all alignments; infinite where the labels do "
        "not fit into the time, and no gradient flows there.")
    .input("logits", kScores)
    .input("labels", kIndex, 'L')
    .input("label_length", kIndex, 'N')
    .input("logit_length", kIndex, 'M')
    .attr("blank_index", AttrKind::integer, 0)
    .output("loss", like("logits"))
    .may_fail()
    .shape(loss_rule)
    .heavy()
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("ctc_loss_grad", {g.dy(), g.x(0), g.x(1), g.x(2), g.x(3)},
                         {{"blank_index", g.attr("blank_index")}});
        },
        keep_x(0, 1, 2, 3));

TIDEMARK_OP(ctc_loss_grad)
    .doc("The gradient of ctc_loss with respect to the logits.")
    .input("dloss", kScores)
    .input("logits", kScores)
    .input("labels", kIndex, 'L')
    .input("label_length", kIndex, 'N')
    .input("logit_length", kIndex, 'M')
    .attr("blank_index", AttrKind::integer, 0)
    .output("dlogits", like("logits"))
    .may_fail()
    .shape(loss_gradient_rule)
    .heavy()
    .gradient(loss_gradient_gradient, keep_x(0, 1, 2, 3, 4));

TIDEMARK_OP(ctc_greedy_decode)
    .doc(
        "The best class of every frame, blanks (and, with merge_repeated, repetitions) left out, "
        "filled up with -1; and the negative sum of the best scores.")
    .input("inputs", kScores)
    .input("sequence_length", kIndex, 'N')
    .attr("merge_repeated", AttrKind::boolean, true)
    .attr("blank_index", AttrKind::integer, -1)
    .output("decoded", always(DType::int64))
    .output("neg_sum_logits", like("inputs"))
    .may_fail()
    .shape(greedy_rule)
    .no_gradient();

TIDEMARK_OP(ctc_beam_search_decode)
    .doc(
        "The most probable label sequences that a beam search finds, filled up with -1, and the "
        "logarithms of their probabilities. The last class is the blank.")
    .input("inputs", kScores)
    .input("sequence_length", kIndex, 'N')
    .attr("beam_width", AttrKind::integer, 100)
    .attr("top_paths", AttrKind::integer, 1)
    .attr("merge_repeated", AttrKind::boolean, false)
    .output("decoded", always(DType::int64))
    .output("log_probability", like("inputs"))
    .may_fail()
    .shape(beam_rule)
    .heavy()
    .no_gradient();

}  // namespace tidemark
