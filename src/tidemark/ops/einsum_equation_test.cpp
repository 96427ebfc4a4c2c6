#include "tidemark/ops/einsum_equation.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

EinsumEquation parse(std::string_view equation, std::vector<Shape> shapes) {
  return parse_einsum(equation, shapes);
}

TEST(EinsumEquation, ReadsTermsAndOutput) {
  const EinsumEquation e = parse(" ab , bc -> ca ", {{2, 3}, {3, 4}});
  EXPECT_EQ(e.inputs, (std::vector<Labels>{{'a', 'b'}, {'b', 'c'}}));
  EXPECT_EQ(e.output, (Labels{'c', 'a'}));
}

TEST(EinsumEquation, ImpliesTheOutputInAlphabeticalOrder) {
  EXPECT_EQ(parse("ba", {{2, 3}}).output, (Labels{'a', 'b'}));
  EXPECT_EQ(parse("ij,jk", {{2, 3}, {3, 4}}).output, (Labels{'i', 'k'}));
  EXPECT_EQ(parse("ii", {{2, 2}}).output, Labels{});
}

TEST(EinsumEquation, AlignsEllipsesAtTheRight) {
  const EinsumEquation e = parse("...i,...i", {{5, 4, 3}, {4, 3}});
  EXPECT_EQ(e.inputs[0], (Labels{kEllipsis + 1, kEllipsis, 'i'}));
  EXPECT_EQ(e.inputs[1], (Labels{kEllipsis, 'i'}));
  EXPECT_EQ(e.output, (Labels{kEllipsis + 1, kEllipsis}));
}

TEST(EinsumEquation, RefusesWhatDoesNotFit) {
  EXPECT_THROW(parse("ij", {{2}}), InvalidArgumentError);
  EXPECT_THROW(parse("i", {{2, 3}}), InvalidArgumentError);
  EXPECT_THROW(parse("ij,jk", {{2, 3}}), InvalidArgumentError);
  EXPECT_THROW(parse("i->j", {{2}}), InvalidArgumentError);
  EXPECT_THROW(parse("i1->i", {{2, 3}}), InvalidArgumentError);
  EXPECT_THROW(parse("...i...", {{2, 3}}), InvalidArgumentError);
  EXPECT_THROW(parse("...i->i", {{2, 3}}), InvalidArgumentError);
  EXPECT_THROW(parse("i->i->i", {{2}}), InvalidArgumentError);
  EXPECT_THROW(parse("i..j", {{2, 3}}), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
