#include "tidemark/compile/fuse_groups.h"

#include <algorithm>

namespace tidemark::compile {

namespace {

constexpr size_t kMaxMembers = 48;
constexpr size_t kMaxLoads = 20;
constexpr size_t kMaxStores = 6;
/// Columns that are collected beside reductions of their rows: lanes for a row each piece.
constexpr int64_t kLongestCollectedRow = 8 << 10;
/// Fewer rows than this of a long row are better reduced by the op's own kernel.
constexpr int64_t kFewRows = 16;

int64_t row_length(const Shape& space, int reduced) {
  int64_t n = 1;
  for (int d = 0; d < reduced; ++d) n *= space[space.rank() - 1 - d];
  return n;
}

Shape row_shape(const Shape& space, int reduced) {
  Shape shape = space;
  for (int d = 0; d < reduced; ++d) shape[shape.rank() - 1 - d] = 1;
  return shape;
}

bool broadcasts_to(const Shape& shape, const Shape& space) {
  if (shape.rank() > space.rank()) return false;
  for (int d = 1; d <= shape.rank(); ++d) {
    if (shape[shape.rank() - d] != 1 && shape[shape.rank() - d] != space[space.rank() - d]) {
      return false;
    }
  }
  return true;
}

class Grouper {
 public:
  explicit Grouper(const FuseGraph& graph) : g_(graph), group_of_(graph.size(), -1) {}

  std::vector<FuseGroup> run() {
    for (size_t i = g_.size(); i-- > 0;) {
      const FusableNode& node = g_.nodes[i];
      // Random numbers that are not used by a group are drawn by their own kernel.
      if (group_of_[i] < 0 && node.can_be_member() && node.kind != FusedKind::random &&
          node.kind != FusedKind::collect) {
        start(static_cast<int>(i));
      }
    }
    // What no group beside it has taken in.
    for (size_t i = g_.size(); i-- > 0;) {
      if (group_of_[i] < 0 && g_.nodes[i].kind == FusedKind::collect) start(static_cast<int>(i));
    }
    return std::move(groups_);
  }

 private:
  const FusableNode& at(int n) const { return g_.nodes[static_cast<size_t>(n)]; }

  bool is_outside(int user) const {
    return group_of_[static_cast<size_t>(user)] != id_ && !g_.is_looked_through(user);
  }

  /// Outside the group the value goes to variables only.
  bool is_only_assigned(int n) const {
    if (g_.is_output[static_cast<size_t>(n)]) return false;
    const auto& users = g_.after[static_cast<size_t>(n)];
    return std::all_of(users.begin(), users.end(),
                       [&](int user) { return !is_outside(user) || g_.assigned(user) != nullptr; });
  }

  void start(int root) {
    FuseGroup group;
    group.members = {root};
    const FusableNode& r = at(root);
    group.space = r.shape();
    if (r.is_reduction()) {
      group.space = r.node->inputs[0].shape();
      group.row_dims = r.row_dims;
      group.reduces_rows = r.kind == FusedKind::reduce;
      if (group.reduces_rows ? !is_worth_reducing(group.space, r.row_dims)
                             : !is_worth_collecting(group, r)) {
        return;
      }
    }
    id_ = static_cast<int>(groups_.size());
    group_of_[static_cast<size_t>(root)] = id_;
    group.updates =
        !r.is_reduction() && is_only_assigned(root) && !g_.after[static_cast<size_t>(root)].empty();
    grow(group);
    if (!group.updates) take_columns(group);
    take_product(group);
    std::sort(group.members.begin(), group.members.end());
    group.chained = group.members.size();
    if (!group.updates) take_siblings(group);
    if (group.members.size() < 2 && !group.updates && group.product < 0) {
      group_of_[static_cast<size_t>(root)] = -1;
      return;
    }
    groups_.push_back(std::move(group));
  }

  static bool is_worth_reducing(const Shape& space, int reduced) {
    const int64_t row = row_length(space, reduced);
    if (space.num_elements() == 0) return false;
    return reduced == space.rank() || row <= kLongestFusedRow ||
           space.num_elements() / row >= kFewRows;
  }

  static bool is_worth_collecting(const FuseGroup& group, const FusableNode& node) {
    const Shape& space = node.node->inputs[0].shape();
    if (space != group.space || space.num_elements() == 0) return false;
    const int64_t row = row_length(space, node.row_dims);
    if (row == 1 || row == space.num_elements()) return false;
    return !group.reduces_rows || row <= kLongestCollectedRow;
  }

  /// Takes producers in until none fits: the nearest first.
  void grow(FuseGroup& group) {
    for (bool grown = true; grown && group.members.size() < kMaxMembers;) {
      grown = false;
      std::vector<int> candidates;
      for (const int m : group.members) {
        for (const FusedOperand& o : at(m).operands) {
          if (o.producer >= 0) candidates.push_back(o.producer);
        }
      }
      std::sort(candidates.rbegin(), candidates.rend());
      candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
      for (const int c : candidates) {
        if (group_of_[static_cast<size_t>(c)] >= 0 || !at(c).can_be_member()) continue;
        if (!fits(group, c) || group.members.size() >= kMaxMembers) continue;
        take(group, c);
        grown = true;
      }
    }
  }

  /// Column reductions of what the group computes or reads, that nobody in the group waits for.
  void take_columns(FuseGroup& group) {
    std::vector<int> sources = group.members;
    for (const int m : group.members) {
      for (const FusedOperand& o : at(m).operands) {
        if (o.producer >= 0) sources.push_back(o.producer);
      }
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (const int source : sources) {
      // What it gives is there when all rows are.
      if (at(source).kind == FusedKind::collect && group_of_[static_cast<size_t>(source)] == id_) {
        continue;
      }
      for (const int user : g_.after[static_cast<size_t>(source)]) {
        const FusableNode& node = at(user);
        if (node.kind != FusedKind::collect || group_of_[static_cast<size_t>(user)] >= 0) continue;
        if (node.operands[0].producer != source || group.members.size() >= kMaxMembers) continue;
        if (group.row_dims != 0 && group.row_dims != node.row_dims) continue;
        if (!is_worth_collecting(group, node) || is_awaited(user) || !fits_size(group, user))
          continue;
        take(group, user);
      }
    }
  }

  /// Some member comes after n.
  bool is_awaited(int n) const {
    const auto& users = g_.after[static_cast<size_t>(n)];
    return reaches(n) || std::any_of(users.begin(), users.end(), [&](int user) {
             return group_of_[static_cast<size_t>(user)] == id_;
           });
  }

  /// The last product that members read is made by the group itself, part by part, where nobody
  /// has to wait for it elsewhere before the group can run.
  void take_product(FuseGroup& group) {
    std::vector<int> read;
    for (const int m : group.members) {
      for (const FusedOperand& o : at(m).operands) {
        if (o.producer >= 0 && group_of_[static_cast<size_t>(o.producer)] < 0) {
          read.push_back(o.producer);
        }
      }
    }
    std::sort(read.rbegin(), read.rend());
    for (const int n : read) {
      if (take_product(group, n)) return;
    }
  }

  bool take_product(FuseGroup& group, int n) {
    std::vector<int> views;
    while (g_.is_reshaping(n) && is_only_for(n, views.empty() ? -1 : views.back())) {
      views.push_back(n);
      n = g_.number_of(at(n).node->inputs[0]);
      if (n < 0) return false;
    }
    const FusableNode& node = at(n);
    if (node.kind != FusedKind::product || group_of_[static_cast<size_t>(n)] >= 0) return false;
    const Shape& shape = node.node->outputs[0].shape;
    if (views.empty() ? shape != group.space : shape.num_elements() != group.space.num_elements()) {
      return false;
    }
    if (!views.empty() && !is_only_for(n, views.back())) return false;
    if (views.empty() && reaches(n)) return false;
    // Such a product is nowhere whole.
    if (group.updates && !is_only_for(n, views.empty() ? -1 : views.back())) return false;
    group.product = n;
    group.views = views;
    group_of_[static_cast<size_t>(n)] = id_;
    for (const int view : views) group_of_[static_cast<size_t>(view)] = id_;
    return true;
  }

  /// Nodes that read nothing but what the group reads, and are the last to need one of those
  /// values: what they make can take its place.
  void take_siblings(FuseGroup& group) {
    for (size_t m = 0; m < group.members.size(); ++m) {
      const std::vector<FusedOperand>& operands = at(group.members[m]).operands;
      for (const FusedOperand& o : operands) {
        if (o.producer < 0 || group_of_[static_cast<size_t>(o.producer)] == id_) continue;
        if (o.load.shape() != group.space) continue;
        for (const int n : g_.after[static_cast<size_t>(o.producer)]) {
          if (group.members.size() >= kMaxMembers) return;
          if (is_sibling(group, o.producer, n) && fits_size(group, n) && !reaches(n)) {
            take(group, n);
          }
        }
      }
    }
  }

  bool is_sibling(const FuseGroup& group, int read, int n) const {
    const FusableNode& node = at(n);
    if (node.kind != FusedKind::map && node.kind != FusedKind::cast) return false;
    if (group_of_[static_cast<size_t>(n)] >= 0 || node.shape() != group.space) return false;
    const auto is_loaded = [&](const FusedOperand& wanted) {
      return wanted.load.is_symbolic() &&
             std::any_of(group.members.begin(), group.members.end(), [&](int m) {
               return std::any_of(
                   at(m).operands.begin(), at(m).operands.end(), [&](const FusedOperand& o) {
                     return o.load.is_symbolic() && is_same(o.load, wanted.load) &&
                            group_of_[static_cast<size_t>(g_.number_of(o.load))] != id_;
                   });
             });
    };
    if (!std::all_of(node.operands.begin(), node.operands.end(), is_loaded)) return false;
    if (g_.is_output[static_cast<size_t>(read)]) return false;
    const int first = std::min(n, *std::min_element(group.members.begin(), group.members.end()));
    const auto& users = g_.after[static_cast<size_t>(read)];
    return std::all_of(users.begin(), users.end(),
                       [&](int user) { return user == n || !is_outside(user) || user < first; });
  }

  static bool is_same(const Tensor& a, const Tensor& b) {
    return &graph::node_of(a) == &graph::node_of(b) &&
           graph::symbolic(a).index == graph::symbolic(b).index;
  }

  /// Nobody needs the value but this node (-1: the group).
  bool is_only_for(int n, int user) const {
    if (g_.is_output[static_cast<size_t>(n)]) return false;
    const auto& users = g_.after[static_cast<size_t>(n)];
    return std::all_of(users.begin(), users.end(),
                       [&](int u) { return user < 0 ? !is_outside(u) : u == user; });
  }

  void take(FuseGroup& group, int n) {
    group.members.push_back(n);
    group_of_[static_cast<size_t>(n)] = id_;
    if (at(n).is_reduction()) group.row_dims = at(n).row_dims;
    group.reduces_rows |= at(n).kind == FusedKind::reduce;
  }

  bool fits(const FuseGroup& group, int n) {
    const FusableNode& node = at(n);
    bool has_outside_users = g_.is_output[static_cast<size_t>(n)];
    for (const int alias : node.aliases) {
      has_outside_users |= g_.is_output[static_cast<size_t>(alias)];
    }
    for (const int user : g_.after[static_cast<size_t>(n)]) {
      has_outside_users |= is_outside(user);
    }
    if (group.updates &&
        (node.is_reduction() || node.kind == FusedKind::random || !is_only_assigned(n)))
      return false;
    if (!fits_shape(group, node, has_outside_users)) return false;
    if (has_outside_users && reaches(n)) return false;
    return fits_size(group, n);
  }

  bool fits_shape(const FuseGroup& group, const FusableNode& node, bool is_stored) const {
    if (node.kind == FusedKind::collect) return false;  // there when all rows are
    if (node.kind == FusedKind::reduce) {
      if (node.node->inputs[0].shape() != group.space || node.drops_dims) return false;
      if (group.row_dims != 0 && group.row_dims != node.row_dims) return false;
      // Elements are looked at again after this reduction.
      return row_length(group.space, node.row_dims) <= kLongestFusedRow;
    }
    if (node.shape() == group.space) return true;
    if (node.kind == FusedKind::random) return false;  // element i of the space is number i
    if (group.reduces_rows && node.shape() == row_shape(group.space, group.row_dims)) {
      return true;
    }
    // Smaller: computed again for every element, and never stored.
    return !is_stored && !node.is_heavy && broadcasts_to(node.shape(), group.space);
  }

  bool fits_size(const FuseGroup& group, int n) const {
    std::vector<const void*> loads;
    size_t stores = 0;
    const auto visit = [&](int m) {
      for (const FusedOperand& o : at(m).operands) {
        const bool inside = o.producer >= 0 &&
                            (o.producer == n || group_of_[static_cast<size_t>(o.producer)] == id_);
        if (!inside) loads.push_back(o.load.impl());
      }
      bool stored = g_.is_output[static_cast<size_t>(m)];
      for (const int user : g_.after[static_cast<size_t>(m)]) {
        stored |= user != n && is_outside(user);
      }
      stores += stored;
    };
    for (const int m : group.members) visit(m);
    visit(n);
    std::sort(loads.begin(), loads.end());
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    return loads.size() <= kMaxLoads && stores <= kMaxStores;
  }

  /// Whether some user of n outside the group comes before a member. Groups made so far run as one,
  /// so going through one means through all of its members.
  bool reaches(int n) const {
    std::vector<bool> seen(g_.size(), false);
    std::vector<bool> seen_group(groups_.size(), false);
    std::vector<int> todo;
    const auto visit = [&](int user) {
      if (!seen[static_cast<size_t>(user)]) {
        seen[static_cast<size_t>(user)] = true;
        todo.push_back(user);
      }
    };
    for (const int user : g_.after[static_cast<size_t>(n)]) {
      if (group_of_[static_cast<size_t>(user)] != id_) visit(user);
    }
    while (!todo.empty()) {
      const int user = todo.back();
      todo.pop_back();
      const int other = group_of_[static_cast<size_t>(user)];
      if (other == id_) return true;
      if (other >= 0) {
        if (seen_group[static_cast<size_t>(other)]) continue;
        seen_group[static_cast<size_t>(other)] = true;
        const FuseGroup& passed = groups_[static_cast<size_t>(other)];
        for (const int m : passed.members) {
          for (const int next : g_.after[static_cast<size_t>(m)]) visit(next);
        }
        if (passed.product >= 0) {
          for (const int next : g_.after[static_cast<size_t>(passed.product)]) visit(next);
        }
        continue;
      }
      for (const int next : g_.after[static_cast<size_t>(user)]) visit(next);
    }
    return false;
  }

  const FuseGraph& g_;
  std::vector<int> group_of_;
  std::vector<FuseGroup> groups_;
  int id_ = 0;
};

}  // namespace

std::vector<FuseGroup> find_groups(const FuseGraph& graph) { return Grouper(graph).run(); }

}  // namespace tidemark::compile
