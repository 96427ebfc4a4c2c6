// Making tensors over buffers: for the layers that give tensors their bytes.
#pragma once

#include <tidemark/tensor.h>

#include "tidemark/memory/buffer.h"

namespace tidemark {

/// Bytes of `count` elements plus `extra`; throws ResourceExhaustedError when that overflows.
TIDEMARK_API size_t bytes_for(DType dtype, int64_t count, int64_t extra = 0);

/// A tensor with a buffer of its own, elements undefined. `extra` bytes follow the elements.
TIDEMARK_API Tensor new_tensor(DType dtype, const Shape& shape,
                               memory::Holder holder = memory::Holder::value, int64_t extra = 0,
                               Device device = {});

/// A tensor over the elements of another's buffer. `data` lies inside it.
TIDEMARK_API Tensor view_of(const Tensor& base, void* data, DType dtype, Shape shape);

/// A tensor over memory of another owner; see memory::borrow.
TIDEMARK_API Tensor borrowed_tensor(DType dtype, const Shape& shape, void* data, bool read_only,
                                    void (*give_back)(void*), void* owner, Device device = {});

/// Copies the elements of `from` over those of `to`, which has as many, wherever both lie.
TIDEMARK_API void copy_elements(const Tensor& from, const Tensor& to);

/// A number no tensor or variable has had before.
TIDEMARK_API uint64_t new_tensor_id() noexcept;
/// The tensor's own number, given to it on the first call.
TIDEMARK_API uint64_t id_of(const Tensor& t) noexcept;
/// Ids with this bit belong to values of trainable variables: tapes watch them by themselves.
inline constexpr uint64_t kTrainableIds = uint64_t{1} << 63;

/// A tensor with the dtype and shape of `t` and no elements, for those that need no more.
TIDEMARK_API Tensor shape_only(const Tensor& t);

/// The bytes that follow the elements of a string tensor this process has just made.
inline char* string_area(const Tensor& t) {
  return static_cast<char*>(t.impl()->buffer->data) + t.nbytes();
}

}  // namespace tidemark
