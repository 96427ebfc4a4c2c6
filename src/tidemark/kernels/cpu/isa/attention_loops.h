// Scaled dot-product attention over one item of a batch, block by block: the scores of a block live
// in the workspace, never the whole matrix. One table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

inline constexpr int64_t kAttentionQueries = 256, kAttentionKeys = 128;  // of a block

/// Rows are dense; the mask (null: none) is bool with strides in elements.
struct AttentionItem {
  const void *query, *key, *value;
  const bool* mask;
  int64_t mask_row, mask_column;
  int64_t queries, keys, depth, value_depth;
  double scale;
  bool causal;
  void *y, *lse;                 // read by backward
  const void *dy, *dlse;         // backward; dlse null: none
  void *dquery, *dkey, *dvalue;  // backward
  int64_t begin,
      end;  // rows of the query done by forward, of the keys by backward; at most a block
  void* workspace;
};

/// Elements of the workspace.
constexpr int64_t attention_workspace(int64_t depth, int64_t value_depth) {
  return (depth + value_depth + 2 * kAttentionQueries) * kAttentionKeys;
}

struct AttentionLoops {
  void (*forward)(const AttentionItem& item) = nullptr;
  void (*backward)(const AttentionItem& item) = nullptr;
};

struct AttentionTable {
  AttentionLoops loops[kDTypeSlots];
};

const AttentionTable& attention_loops();

}  // namespace tidemark::cpu
