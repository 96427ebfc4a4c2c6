// The extension module tidemark._tidemark.
#include <nanobind/nanobind.h>

#include "tidemark/base/attached.h"

#include "arguments.h"
#include "convert.h"
#include "dlpack.h"
#include "errors.h"
#include "frontend.h"
#include "function_type.h"
#include "graph_module.h"
#include "holders.h"
#include "interpreter_lock.h"
#include "line_trace.h"
#include "memory_module.h"
#include "op_call.h"
#include "op_function.h"
#include "pickle.h"
#include "plan_module.h"
#include "profile_module.h"
#include "promotion.h"
#include "sites.h"
#include "tape_type.h"
#include "tensor_type.h"
#include "trace_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace {

void translate_exception(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const nb::builtin_exception&) {
    throw;  // nanobind's own
  } catch (const nb::python_error&) {
    throw;
  } catch (...) {
    tidemark::python::set_error_from_exception();
  }
}

void add_methods(PyObject* module, PyMethodDef* methods) {
  tidemark::python::check(PyModule_AddFunctions(module, methods));
}

}  // namespace

NB_MODULE(_tidemark, m) {
  using namespace tidemark::python;
  nb::set_leak_warnings(false);  // the interpreter may end while user code still holds tensors
  nb::register_exception_translator(translate_exception);
  const auto initialize = [&]() -> PyObject* {
    for (PyMethodDef* methods :
         {frontend_methods, site_methods, line_trace_methods, convert_methods, unpickle_methods,
          dlpack_functions, op_function_methods, tape_functions, composition_methods,
          function_methods}) {
      add_methods(m.ptr(), methods);
    }
    watch_for_the_end();
    initialize_sites();
    initialize_tensor_type(m.ptr());
    initialize_variable_type(m.ptr());
    initialize_tape_types(m.ptr());
    initialize_trace_type(m.ptr());
    initialize_function_type(m.ptr());
    initialize_iterator();
    initialize_op_function(m.ptr());
    initialize_pickle(m.ptr());
    tidemark::attach(tidemark::FrontEnd{.give_lock_away = give_gil_away,
                                        .take_lock_back = take_gil_back,
                                        .interrupt = &python_interrupt,
                                        .look = look_soon,
                                        .check_promotion = check_promotion});
    return m.ptr();
  };
  if (!guarded(initialize)) nb::raise_python_error();
  add_device_functions(m);
  add_memory_functions(m);
  add_runtime_functions(m);
  add_promotion_functions(m);
  add_graph_functions(m);
  add_argument_type(m);
  add_session_functions(m);
  add_data_functions(m);
  add_saving_functions(m);
  add_onnx_functions(m);
  add_tflite_functions(m);
  add_model_file_functions(m);
  add_safetensors_functions(m);
  add_foreign_model_functions(m);
  add_checkpoint_functions(m);
  add_plan_functions(m);
  add_holder_functions(m);
  add_profile_functions(m);
  add_table_type(m);
  add_comm_functions(m);
}
