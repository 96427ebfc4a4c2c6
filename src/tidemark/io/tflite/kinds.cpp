#include "tidemark/io/tflite/kinds.h"

#include <algorithm>

namespace tidemark::io::tflite {

namespace {

using enum OptionForm;
using enum Treats;

constexpr Option kActivation[] = {{"activation", 0, byte}};
constexpr Option kConv[] = {{"padding", 0, byte},
                            {"stride_w", 1},
                            {"stride_h", 2},
                            {"activation", 3, byte},
                            {"dilation_w", 4, int32, 1},
                            {"dilation_h", 5, int32, 1}};
constexpr Option kDepthwise[] = {{"padding", 0, byte},
                                 {"stride_w", 1},
                                 {"stride_h", 2},
                                 {"activation", 4, byte},
                                 {"dilation_w", 5, int32, 1},
                                 {"dilation_h", 6, int32, 1}};
constexpr Option kConv3d[] = {{"padding", 0, byte},
                              {"stride_d", 1},
                              {"stride_w", 2},
                              {"stride_h", 3},
                              {"activation", 4, byte},
                              {"dilation_d", 5, int32, 1},
                              {"dilation_w", 6, int32, 1},
                              {"dilation_h", 7, int32, 1}};
constexpr Option kTransposeConv[] = {
    {"padding", 0, byte}, {"stride_w", 1}, {"stride_h", 2}, {"activation", 3, byte}};
constexpr Option kPool[] = {{"padding", 0, byte}, {"stride_w", 1}, {"stride_h", 2},
                            {"filter_w", 3},      {"filter_h", 4}, {"activation", 5, byte}};
constexpr Option kFullyConnected[] = {{"activation", 0, byte},
                                      {"format", 1, byte},
                                      {"keep_num_dims", 2, flag},
                                      {"asymmetric", 3, flag}};
constexpr Option kSoftmax[] = {{"beta", 0, real}};
constexpr Option kConcat[] = {{"axis", 0}, {"activation", 1, byte}};
constexpr Option kLocalNorm[] = {
    {"radius", 0}, {"bias", 1, real}, {"alpha", 2, real}, {"beta", 3, real}};
constexpr Option kResize[] = {{"align_corners", 2, flag}, {"half_pixel_centers", 3, flag}};
constexpr Option kResizeNearest[] = {{"align_corners", 0, flag}, {"half_pixel_centers", 1, flag}};
constexpr Option kReshape[] = {{"new_shape", 0, int32s}};
constexpr Option kBlock[] = {{"block_size", 0}};
constexpr Option kGather[] = {{"axis", 0}, {"batch_dims", 1}};
constexpr Option kReducer[] = {{"keep_dims", 0, flag}};
constexpr Option kSqueeze[] = {{"squeeze_dims", 0, int32s}};
constexpr Option kSplit[] = {{"num_splits", 0}};
constexpr Option kStridedSlice[] = {{"begin_mask", 0},       {"end_mask", 1},
                                    {"ellipsis_mask", 2},    {"new_axis_mask", 3},
                                    {"shrink_axis_mask", 4}, {"offset", 5, flag}};
constexpr Option kCast[] = {{"in_type", 0, byte}, {"out_type", 1, byte}};
constexpr Option kOutputType[] = {{"output_type", 0, byte}};
constexpr Option kPack[] = {{"values_count", 0}, {"axis", 1}};
constexpr Option kUnpack[] = {{"num", 0}, {"axis", 1}};
constexpr Option kOneHot[] = {{"axis", 0}};
constexpr Option kLeaky[] = {{"alpha", 0, real}};
constexpr Option kMirrorPad[] = {{"mode", 0, byte}};
constexpr Option kUnique[] = {{"idx_out_type", 0, byte, 2}};
constexpr Option kReverseSequence[] = {{"seq_dim", 0}, {"batch_dim", 1}};
constexpr Option kIf[] = {{"then_branch", 0, graph}, {"else_branch", 1, graph}};
constexpr Option kWhile[] = {{"cond", 0, graph}, {"body", 1, graph}};
constexpr Option kBatchMatmul[] = {{"adj_x", 0, flag}, {"adj_y", 1, flag}};
constexpr Option kCumsum[] = {{"exclusive", 0, flag}, {"reverse", 1, flag}};
constexpr Option kBucketize[] = {{"boundaries", 0, reals}};
constexpr Option kSequenceLstm[] = {{"activation", 0, byte},      {"cell_clip", 1, real},
                                    {"projection_clip", 2, real}, {"time_major", 3, flag},
                                    {"asymmetric", 4, flag},      {"diagonal", 5, flag}};
constexpr int64_t kStatesOfLstm[] = {18, 19};
constexpr Option kGelu[] = {{"approximate", 0, flag}};

constexpr OperatorKind kKinds[] = {
    {0, "ADD", 11, kActivation},
    {1, "AVERAGE_POOL_2D", 5, kPool},
    {2, "CONCATENATION", 10, kConcat, places},
    {3, "CONV_2D", 1, kConv},
    {4, "DEPTHWISE_CONV_2D", 2, kDepthwise},
    {5, "DEPTH_TO_SPACE", 94, kBlock, places},
    {6, "DEQUANTIZE"},
    {7, "EMBEDDING_LOOKUP"},
    {8, "FLOOR"},
    {9, "FULLY_CONNECTED", 8, kFullyConnected},
    {11, "L2_NORMALIZATION", 12, kActivation},
    {12, "L2_POOL_2D", 5, kPool},
    {13, "LOCAL_RESPONSE_NORMALIZATION", 13, kLocalNorm},
    {14, "LOGISTIC"},
    {17, "MAX_POOL_2D", 5, kPool},
    {18, "MUL", 21, kActivation},
    {19, "RELU"},
    {20, "RELU_N1_TO_1"},
    {21, "RELU6"},
    {22, "RESHAPE", 17, kReshape, places},
    {23, "RESIZE_BILINEAR", 15, kResize},
    {25, "SOFTMAX", 9, kSoftmax},
    {26, "SPACE_TO_DEPTH", 19, kBlock, places},
    {28, "TANH"},
    {34, "PAD"},
    {36, "GATHER", 23, kGather, places},
    {37, "BATCH_TO_SPACE_ND", 0, {}, places},
    {38, "SPACE_TO_BATCH_ND"},
    {39, "TRANSPOSE", 0, {}, places},
    {40, "MEAN", 27, kReducer},
    {41, "SUB", 28, kActivation},
    {42, "DIV", 29, kActivation},
    {43, "SQUEEZE", 30, kSqueeze, places},
    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", 71, kSequenceLstm, meaning, kStatesOfLstm},
    {45, "STRIDED_SLICE", 32, kStridedSlice, places},
    {47, "EXP"},
    {48, "TOPK_V2", 0, {}, places},
    {49, "SPLIT", 35, kSplit, places},
    {50, "LOG_SOFTMAX"},
    {53, "CAST", 37, kCast, numbers},
    {54, "PRELU"},
    {55, "MAXIMUM"},
    {56, "ARG_MAX", 40, kOutputType},
    {57, "MINIMUM"},
    {58, "LESS"},
    {59, "NEG"},
    {60, "PADV2"},
    {61, "GREATER"},
    {62, "GREATER_EQUAL"},
    {63, "LESS_EQUAL"},
    {64, "SELECT", 0, {}, places},
    {65, "SLICE", 0, {}, places},
    {66, "SIN"},
    {67, "TRANSPOSE_CONV", 49, kTransposeConv},
    {69, "TILE", 0, {}, places},
    {70, "EXPAND_DIMS", 0, {}, places},
    {71, "EQUAL"},
    {72, "NOT_EQUAL"},
    {73, "LOG"},
    {74, "SUM", 27, kReducer},
    {75, "SQRT"},
    {76, "RSQRT"},
    {77, "SHAPE", 55, kOutputType, numbers},
    {78, "POW"},
    {79, "ARG_MIN", 57, kOutputType},
    {81, "REDUCE_PROD", 27, kReducer},
    {82, "REDUCE_MAX", 27, kReducer},
    {83, "PACK", 59, kPack, places},
    {84, "LOGICAL_OR"},
    {85, "ONE_HOT", 61, kOneHot},
    {86, "LOGICAL_AND"},
    {87, "LOGICAL_NOT"},
    {88, "UNPACK", 64, kUnpack, places},
    {89, "REDUCE_MIN", 27, kReducer},
    {90, "FLOOR_DIV"},
    {91, "REDUCE_ANY", 27, kReducer},
    {92, "SQUARE"},
    {93, "ZEROS_LIKE"},
    {94, "FILL", 0, {}, places},
    {95, "FLOOR_MOD"},
    {96, "RANGE"},
    {97, "RESIZE_NEAREST_NEIGHBOR", 74, kResizeNearest},
    {98, "LEAKY_RELU", 75, kLeaky},
    {99, "SQUARED_DIFFERENCE"},
    {100, "MIRROR_PAD", 77, kMirrorPad, places},
    {101, "ABS"},
    {102, "SPLIT_V", 79, kSplit, places},
    {103, "UNIQUE", 80, kUnique, numbers},
    {104, "CEIL"},
    {105, "REVERSE_V2", 0, {}, places},
    {106, "ADD_N"},
    {107, "GATHER_ND", 0, {}, places},
    {108, "COS"},
    {109, "WHERE"},
    {110, "RANK", 0, {}, numbers},
    {111, "ELU"},
    {112, "REVERSE_SEQUENCE", 87, kReverseSequence, places},
    {113, "MATRIX_DIAG", 0, {}, numbers},
    {114, "QUANTIZE"},
    {115, "MATRIX_SET_DIAG", 0, {}, numbers},
    {116, "ROUND"},
    {117, "HARD_SWISH"},
    {118, "IF", 92, kIf, numbers},
    {119, "WHILE", 93, kWhile, numbers},
    {122, "SCATTER_ND", 0, {}, numbers},
    {123, "SELECT_V2", 0, {}, places},
    {125, "SEGMENT_SUM"},
    {126, "BATCH_MATMUL", 101, kBatchMatmul},
    {128, "CUMSUM", 102, kCumsum},
    {130, "BROADCAST_TO", 0, {}, places},
    {132, "CONV_3D", 106, kConv3d},
    {133, "IMAG"},
    {134, "REAL"},
    {135, "COMPLEX_ABS"},
    {140, "REDUCE_ALL", 27, kReducer},
    {145, "BROADCAST_ARGS", 0, {}, numbers},
    {147, "BUCKETIZE", 115, kBucketize},
    {150, "GELU", 116, kGelu},
    {151, "DYNAMIC_UPDATE_SLICE", 0, {}, places},
    {152, "RELU_0_TO_1"},
    {153, "UNSORTED_SEGMENT_PROD"},
    {154, "UNSORTED_SEGMENT_MAX"},
    {155, "UNSORTED_SEGMENT_SUM"},
    {156, "ATAN2"},
    {157, "UNSORTED_SEGMENT_MIN"},
    {158, "SIGN"},
    {160, "BITWISE_XOR", 0, {}, numbers},
};

/// Operators that are not read, so that they can be named.
struct Named {
  int32_t code;
  std::string_view name;
};
constexpr Named kNotRead[] = {
    {10, "HASHTABLE_LOOKUP"},
    {15, "LSH_PROJECTION"},
    {16, "LSTM"},
    {24, "RNN"},
    {27, "SVDF"},
    {29, "CONCAT_EMBEDDINGS"},
    {30, "SKIP_GRAM"},
    {31, "CALL"},
    {32, "CUSTOM"},
    {33, "EMBEDDING_LOOKUP_SPARSE"},
    {35, "UNIDIRECTIONAL_SEQUENCE_RNN"},
    {46, "BIDIRECTIONAL_SEQUENCE_RNN"},
    {51, "DELEGATE"},
    {52, "BIDIRECTIONAL_SEQUENCE_LSTM"},
    {120, "NON_MAX_SUPPRESSION_V4"},
    {121, "NON_MAX_SUPPRESSION_V5"},
    {68, "SPARSE_TO_DENSE"},
    {80, "FAKE_QUANT"},
    {124, "DENSIFY"},
    {129, "CALL_ONCE"},
    {131, "RFFT2D"},
    {136, "HASHTABLE"},
    {137, "HASHTABLE_FIND"},
    {138, "HASHTABLE_IMPORT"},
    {139, "HASHTABLE_SIZE"},
    {141, "CONV_3D_TRANSPOSE"},
    {142, "VAR_HANDLE"},
    {143, "READ_VARIABLE"},
    {144, "ASSIGN_VARIABLE"},
    {146, "RANDOM_STANDARD_NORMAL"},
    {148, "RANDOM_UNIFORM"},
    {149, "MULTINOMIAL"},
    {159, "BITCAST"},
    {161, "RIGHT_SHIFT"},
    {203, "DILATE"},
};

}  // namespace

const OperatorKind* find_kind(int32_t code) {
  const auto* found = std::ranges::find(kKinds, code, &OperatorKind::code);
  return found == std::end(kKinds) ? nullptr : found;
}

const OperatorKind* find_kind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &OperatorKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

std::string_view name_of_code(int32_t code) {
  if (const OperatorKind* kind = find_kind(code)) return kind->name;
  const auto* found = std::ranges::find(kNotRead, code, &Named::code);
  return found == std::end(kNotRead) ? std::string_view() : found->name;
}

std::span<const OperatorKind> all_kinds() { return kKinds; }

}  // namespace tidemark::io::tflite
