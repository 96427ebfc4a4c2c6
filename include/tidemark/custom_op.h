// Ops of your own, in a library of your own.
//
//   // my_op.cpp, built into libmyop.so against these headers
//   #include <tidemark/custom_op.h>
//   using namespace tidemark;
//   TIDEMARK_OP(my_square)
//       .doc("x * x, elementwise.")
//       .input("x", kFloats)
//       .output("y", like("x"))
//       .elementwise()
//       .gradient([](Grad& g) { g.dx(0) = g.dy() * g.x(0) * 2.f; }, keep_x(0));
//   TIDEMARK_KERNEL(my_square, dtype_set(DType::float32), my_square_kernel);  // see kernel.h
//
//   // a program
//   td::load_op_library("./libmyop.so");
//   td::Tensor y = td::call("my_square", {x});
//   // from Python: tf.load_op_library("./libmyop.so").my_square(x)
//
// Outputs and workspace come from the runtime, so a custom op cannot leak and is counted, bounded
// and explained like any other.
#pragma once

#include <tidemark/call.h>
#include <tidemark/elementwise.h>
#include <tidemark/kernel.h>
#include <tidemark/op.h>
#include <tidemark/rows.h>

#include <string>
#include <vector>

namespace tidemark {

/// Opens a shared library whose definitions register themselves; returns the names of the ops it
/// added. Opening the same file again adds nothing and returns the same names. Throws NotFoundError
/// when the file cannot be opened and whatever its definitions throw. The library stays open.
TIDEMARK_API std::vector<std::string> load_op_library(const std::string& path);

}  // namespace tidemark
