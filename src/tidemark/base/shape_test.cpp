#include <tidemark/shape.h>

#include <gtest/gtest.h>

#include <vector>

namespace tidemark {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ((Shape{2, 3}).num_elements(), 6);
  EXPECT_EQ((Shape{0, int64_t{1} << 62, 8}).num_elements(), 0);
  EXPECT_THROW((Shape{int64_t{1} << 62, 4}).num_elements(), InvalidArgumentError);
  EXPECT_THROW((Shape{2, -1}).num_elements(), InvalidArgumentError);
  EXPECT_THROW(Shape::unknown().num_elements(), InvalidArgumentError);
}

TEST(Shape, GrowsAndShrinksPastTheInlineSize) {
  Shape s;
  std::vector<int64_t> model;
  for (int i = 0; i < 20; ++i) {
    s.insert(i / 2, i);
    model.insert(model.begin() + i / 2, i);
    ASSERT_EQ(s, Shape(std::span<const int64_t>(model)));
  }
  Shape copy = s;
  Shape moved = std::move(copy);
  EXPECT_EQ(moved, s);
  copy = Shape{1};
  copy = s;
  EXPECT_EQ(copy, s);
  while (!model.empty()) {
    const int at = static_cast<int>(model.size()) / 2;
    s.erase(at);
    model.erase(model.begin() + at);
    ASSERT_EQ(s, Shape(std::span<const int64_t>(model)));
  }
  EXPECT_THROW(Shape::filled(Shape::kMaxRank + 1, 1), InvalidArgumentError);
}

TEST(Shape, PrintsLikeTensorFlow) {
  EXPECT_EQ(Shape{}.to_string(), "()");
  EXPECT_EQ(Shape{3}.to_string(), "(3,)");
  EXPECT_EQ((Shape{2, kUnknownDim}).to_string(), "(2, None)");
  EXPECT_EQ(Shape::unknown().to_string(), "<unknown>");
  EXPECT_EQ((Shape{2, 3}).to_brackets(), "[2,3]");
}

TEST(Shape, BroadcastsByNumPysRule) {
  EXPECT_EQ(broadcast_shapes({2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes({2, 1}, {1, 5}), (Shape{2, 5}));
  EXPECT_EQ(broadcast_shapes({}, {4}), (Shape{4}));
  EXPECT_EQ(broadcast_shapes({0, 1}, {1, 3}), (Shape{0, 3}));
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {3}), (Shape{3}));
  EXPECT_EQ(broadcast_shapes({kUnknownDim}, {1}), (Shape{kUnknownDim}));
  try {
    broadcast_shapes({2, 3}, {2});
    FAIL() << "shapes that do not fit were accepted";
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("[2,3] vs. [2]"), std::string::npos) << e.what();
  }
}

TEST(Shape, NormalizesAxes) {
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_EQ(normalize_axis(0, 3), 0);
  EXPECT_THROW(normalize_axis(3, 3), InvalidArgumentError);
  EXPECT_THROW(normalize_axis(-4, 3), InvalidArgumentError);
  EXPECT_THROW(normalize_axis(0, 0), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
