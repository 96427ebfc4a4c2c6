// How the library computes one convolution: cut into pieces by shape alone, each piece a primitive
// of its own that one thread runs. Plans are kept in a cache bounded in bytes.
#pragma once

#include <memory>
#include <vector>

#include "tidemark/kernels/cpu/convolution/filter_layout.h"
#include "tidemark/kernels/cpu/dnnl_library.h"
#include "tidemark/kernels/cpu/epilogue.h"

namespace tidemark::cpu {

class ConvolutionPlan {
 public:
  /// Images [first_image, …) and rows of the first spatial dimension that has several.
  struct Piece {
    int64_t first_image = 0, images = 0;
    int64_t in_row = 0, out_row = 0;
    int primitive = 0;
  };

  ConvolutionPlan(const TidemarkDnnlTable& table, const TidemarkDnnlConvolution& whole);
  ~ConvolutionPlan();
  ConvolutionPlan(const ConvolutionPlan&) = delete;

  /// False: the library has no fast code for it.
  bool complete() const { return complete_; }
  size_t workspace_bytes() const;
  /// Forward: a, b in, c out. Gradient of the input: b, c in, a out. Gradient of the filter: a, c
  /// in, b (floats) out. Each is the first element of the whole tensor. An epilogue gets the pixels
  /// of images as rows; not for the gradient of the filter.
  void run(const void* a, const void* b, const void* c, void* workspace,
           const Epilogue* epilogue = nullptr) const;
  int64_t primitives() const { return static_cast<int64_t>(primitives_.size()); }
  const TidemarkDnnlConvolution& whole() const { return whole_; }

 private:
  void try_to_cut();
  void forget_pieces();
  void cut();
  void add_piece(int64_t image, int64_t images, int64_t begin, int64_t end);
  bool shape_of_rows(int64_t begin, int64_t end, TidemarkDnnlConvolution& part, Piece& piece) const;
  void run_piece(const Piece& piece, int64_t index, const void* a, const void* b, const void* c,
                 char* filters, void* scratch) const;
  void finish_piece(const Piece& piece, const Epilogue& epilogue) const;
  void add_up_filters(char* filters) const;
  size_t filter_room() const { return (filter_bytes_ + 63) / 64 * 64; }
  size_t turning_room() const;
  const void* turn(const void* filter, char* room) const;
  void read_layout();
  void convert_filter(const void* given, char* filter, char* room) const;
  void write_filter(char* filters, void* out) const;

  const TidemarkDnnlTable& table_;
  TidemarkDnnlConvolution whole_;
  int row_axis_ = 0;     // the spatial dimension whose rows are cut
  bool turned_ = false;  // a gradient of the input as a forward convolution, which runs faster
  bool complete_ = true;
  std::vector<Piece> pieces_;
  std::vector<TidemarkDnnlConvolution> shapes_;
  std::vector<TidemarkDnnlPrimitive*> primitives_;
  size_t scratch_ = 0, filter_bytes_ = 0;
  FilterLayout layout_;
};

/// Null when the library is not there or has no fast code for it.
std::shared_ptr<const ConvolutionPlan> convolution_plan(const TidemarkDnnlConvolution& wanted);

}  // namespace tidemark::cpu
