"""Each check of the sources passes on a good sample and fails on a bad one."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "checks"))

import backends  # noqa: E402
import cpp_functions  # noqa: E402
import decisions  # noqa: E402
import formatting  # noqa: E402
import isa_symbols  # noqa: E402
import late_imports  # noqa: E402
import layers  # noqa: E402
import lengths  # noqa: E402
import op_names  # noqa: E402
import process_hooks  # noqa: E402
import python_calls  # noqa: E402
import step_questions  # noqa: E402
import streams  # noqa: E402
import tables  # noqa: E402


@pytest.fixture
def project(tmp_path):
    """An empty project under git, and a function that writes files into it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".clang-format").write_text((ROOT / ".clang-format").read_text())

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write.root = tmp_path
    return write


# --- layers --------------------------------------------------------------------------------------


def test_layers_accept_own_and_earlier_layers(project):
    project("src/tidemark/memory/a.cpp", '#include "tidemark/memory/a.h"\n#include <vector>\n')
    project(
        "src/tidemark/memory/a.h", '#include "tidemark/base/b.h"\n#include <tidemark/dtype.h>\n'
    )
    project("include/tidemark/tensor.h", "#include <tidemark/shape.h>\n")
    project("python/src/module.cpp", '#include "anything.h"\n#include "tidemark/serve/s.h"\n')
    assert layers.check(project.root) == []


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("src/tidemark/base/a.cpp", '#include "tidemark/memory/b.h"', "base comes before memory"),
        ("src/tidemark/base/a.cpp", "# include <tidemark/tensor.h>", "base comes before tensor"),
        ("src/tidemark/plan/x/a.h", '#include "tidemark/exec/b.h"', "plan comes before exec"),
        ("src/tidemark/ops/a.cpp", '#include "../exec/b.h"', "write the whole name"),
        ("src/tidemark/ops/a.cpp", '#include "tidemark/odd/b.h"', "odd has no layer"),
        ("src/tidemark/odd/a.cpp", "", "odd has no layer"),
        ("src/tidemark/ops/a.cpp", "#include <tidemark/odd.h>", "odd.h has no layer"),
        ("include/tidemark/odd.h", "", "odd.h has no layer"),
        ("include/tidemark/tensor.h", '#include "tidemark/base/b.h"', "public headers only"),
        ("include/tidemark/dtype.h", "#include <tidemark/tensor.h>", "base comes before tensor"),
    ],
)
def test_layers_refuse(project, file, text, message):
    project(file, f"// first line\n{text}\n")
    (problem,) = layers.check(project.root)
    assert message in problem
    assert problem.startswith(f"{file}:2:" if text else file)


# --- backends -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/tidemark/kernels/cpu/a.cpp", '#include "tidemark/kernels/cpu/isa/b.h"'),
        ("src/tidemark/kernels/emulated/a.cpp", '#include "tidemark/kernels/cpu/backend.h"'),
        ("src/tidemark/upcalls.cpp", '#include "tidemark/kernels/emulated/backend.h"'),
        ("src/tidemark/compile/a_test.cpp", '#include "tidemark/kernels/cpu/b.h"'),
        ("src/tidemark/compile/a.cpp", '#include "tidemark/kernels/fusion/compiler.h"'),
        ("src/tidemark/kernels/a.h", "table->find(KernelKind::cpu, key);"),
        ("src/tidemark/kernels/cuda/a.cpp", "TIDEMARK_KERNEL_OF(cuda, add, kFloats, run);"),
        ("src/tidemark/kernels/cpu/a.cpp", 'TypedKernelsOf<KernelKind::cpu, K, int> k("add");'),
        ("src/tidemark/exec/a_test.cpp", "TIDEMARK_KERNEL(add, kFloats, run);"),
        ("src/tidemark/exec/a.cpp", "// not by KernelKind::cpu"),
    ],
)
def test_backends_accept_their_own_and_the_contract(project, file, text):
    project(file, f"{text}\n")
    assert backends.check(project.root) == []


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("src/tidemark/exec/a.cpp", '#include "tidemark/kernels/cpu/b.h"', "only kernels/cpu/"),
        ("src/tidemark/compile/a.h", "# include <tidemark/kernels/cuda/b.h>", "only kernels/cuda/"),
        ("src/tidemark/kernels/fusion/a.cpp", '#include "tidemark/kernels/cpu/b.h"', "only"),
        ("src/tidemark/kernels/cpu/a.cpp", '#include "tidemark/kernels/emulated/b.h"', "only"),
        ("src/tidemark/plan/a.cpp", "table->find(KernelKind::cpu, key);", "its backend's to say"),
        (
            "src/tidemark/kernels/cpu/a.cpp",
            "TIDEMARK_KERNEL(add, kFloats, run);",
            "name their kind",
        ),
        ("src/tidemark/kernels/cpu/a.cpp", 'TypedKernels<K, int> k("add");', "name their kind"),
    ],
)
def test_backends_refuse(project, file, text, message):
    project(file, f"// first line\n{text}\n")
    (problem,) = backends.check(project.root)
    assert message in problem
    assert problem.startswith(f"{file}:2:")


# --- lengths -------------------------------------------------------------------------------------


def cpp_body(lines):
    return "".join(f"  x += {i}; // }} {{\n" for i in range(lines))


@pytest.mark.parametrize(
    "head",
    [
        "int f(int x) {",
        "template <class T, class U = std::vector<T>>\nauto f(T x) -> U {",
        "namespace a { class B final : public C {\n public:\n  B() : y_{1}, z_(2) {",
        "struct B {\n  int w{3};\n  bool operator==(const B& o) const noexcept {",
        "int table[] = {1, 2, 3};\nstatic int f(int x) {",
        'extern "C" {\nvoid f() {',
        "const auto f = [](int x) {",
        'TIDEMARK_OP(square).doc(R"(a { b)").gradient([](Grad& g) {',
        "#define OPEN {\nint g = 1'000;\nchar c = '{';\nint f(int x) {",
    ],
)
def test_long_cpp_function_is_found(head):
    too_long = cpp_body(lengths.MAX_FUNCTION_LINES)
    closing = "}\n" * 3
    (problem,) = lengths.check_file(Path("a.cpp"), f"{head}\n{too_long}{closing}")
    assert "a function has at most 100" in problem
    fitting = cpp_body(lengths.MAX_FUNCTION_LINES - 10)
    assert lengths.check_file(Path("a.cpp"), f"{head}\n{fitting}{closing}") == []


def test_cpp_functions_have_their_names_and_lines():
    text = (
        "namespace n {\n"
        "class A {\n"
        " public:\n"
        "  A() : x_{1} {}\n"
        "  int get() const { if (x_) { return x_; } return 0; }\n"
        " private:\n"
        "  int x_{0};\n"
        "};\n"
        "constexpr int kTable[2][2] = {{f(1), 2}, {3, 4}};\n"
        "template <class T>\n"
        "void\n"
        "g(T t) {\n"
        "  auto l = [&] { return t; };\n"
        "}\n"
        "}  // namespace n\n"
    )
    found = [(f.name, f.first_line, f.last_line) for f in cpp_functions.functions(text)]
    assert found == [("A", 3, 4), ("get", 5, 5), ("g", 10, 14)]


def test_long_type_or_table_is_no_function():
    members = "".join(f"  int m{i} = f({i});\n" for i in range(200))
    rows = "".join(f"  {{{i}, f({i})}},\n" for i in range(200))
    text = f"struct S {{\n{members}}};\nconst Row kRows[] = {{\n{rows}}};\n"
    assert lengths.check_file(Path("a.h"), text) == []


def test_long_python_function_is_found():
    body = "    x = 1\n" * lengths.MAX_FUNCTION_LINES
    (problem,) = lengths.check_file(Path("a.py"), f"def f():\n{body}")
    assert "f has 101 lines" in problem
    assert lengths.check_file(Path("a.py"), f"def f():\n{body[10:]}") == []


def test_long_file_is_found(project):
    project("src/tidemark/base/long.cpp", "int x;\n" * (lengths.MAX_FILE_LINES + 1))
    project("tools/fits.py", "x = 1\n" * lengths.MAX_FILE_LINES)
    (problem,) = lengths.check(project.root)
    assert problem.startswith("src/tidemark/base/long.cpp: 801 lines")


# --- questions to steps --------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["compile", "plan", "plan/inner"])
@pytest.mark.parametrize("line", ["if (dynamic_cast<const A*>(&x)) {", "typeid(*x) == typeid(A)"])
def test_passes_and_planner_may_not_ask_for_classes(project, folder, line):
    project(f"src/tidemark/{folder}/a.cpp", f"// one\n{line}\n")
    (problem,) = step_questions.check(project.root)
    assert problem.startswith(f"src/tidemark/{folder}/a.cpp:2: ")
    assert "graph/effects.h" in problem


def test_others_may_ask_for_classes(project):
    project("src/tidemark/exec/a.cpp", "dynamic_cast<const A*>(&x);\n")
    project("src/tidemark/plan/a.cpp", "effects_of(node);  // no dynamic_cast\n")
    assert step_questions.check(project.root) == []


def test_python_is_called_in_one_way(project):
    project("python/src/a.cpp", "// one\nreturn PyObject_CallNoArgs(function);\n")
    project("python/src/calls.h", "return PyObject_Call(function, arguments, named);\n")
    (problem,) = python_calls.check(project.root)
    assert problem.startswith("python/src/a.cpp:2: PyObject_CallNoArgs: ")


# --- hooks of the whole process ------------------------------------------------------------------

HOOKS = {
    "void set_answer(void (*call)()) noexcept { answer = call; }": "sets",
    "TIDEMARK_API void set_answer(Answer answer) noexcept;": "sets",
    "void install_observer(OpObserver* observer);": "sets",
    "void set_answer(PyObject* function) {": "sets",
    "constinit std::atomic<void (*)()> answer{nullptr};": "holds",
    "extern constinit WaitHooks hooks;": "holds",
    "constinit Answer answer = nullptr;": "holds",
    "static std::function<void()> callback;": "holds",
    "void (*answer)(int) = nullptr;": "holds",
    "const bool registered = (use(f), true);": "registers",
    "const bool registered = [] {": "registers",
}


@pytest.mark.parametrize(("line", "does"), HOOKS.items())
@pytest.mark.parametrize("folder", ["src/tidemark/exec", "include/tidemark", "python/src"])
def test_hooks_of_the_process_have_one_place(project, folder, line, does):
    project("src/tidemark/base/answer.h", "using Answer = int (*)(int);\n")
    project(f"{folder}/a.cpp", f"// one\n{line}\n")
    (problem,) = process_hooks.check(project.root)
    assert problem.startswith(f"{folder}/a.cpp:2: {does} ")
    assert "base/upcalls.h" in problem


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/tidemark/base/attached.cpp", "constinit WaitHooks hooks;"),
        ("src/tidemark/ops/a.cpp", "const bool registered = [] {"),
        ("src/tidemark/exec/a_test.cpp", "constinit WaitHooks hooks;"),
        ("src/tidemark/exec/a.h", "  void set_watch(Watch* watch);"),  # of an object
        ("src/tidemark/exec/a.cpp", "void set_limit(int64_t bytes);"),
        ("src/tidemark/exec/a.cpp", "const bool is_long = length > 3;"),
        ("src/tidemark/exec/a.cpp", "std::function<void()> callback_for(int number);"),
        ("src/tidemark/exec/a.cpp", "thread_local constinit Handler* topmost = nullptr;"),
        ("tests/cpp/a.cpp", "constinit WaitHooks hooks;"),
    ],
)
def test_what_is_no_hook_of_the_process_may_stand_anywhere(project, file, line):
    project(file, f"{line}\n")
    assert process_hooks.check(project.root) == []


# --- op names ------------------------------------------------------------------------------------

OPS = """
TIDEMARK_OP(add).elementwise();
TIDEMARK_FAMILY(sub, kFloats).elementwise();
TIDEMARK_FAMILY(multiply, kFloats)
    .elementwise();
static const OpRegistrar tidemark_op_shape = shaped(OpDef("shape"));
"""


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("src/tidemark/compile/a.cpp", 'const char* a[] = {"add", "sub", "multiply"};\n', 1),
        ("src/tidemark/exec/a.h", '// ops\nA a = {{"add", 1}, {"sub", 2}, {"shape", 3}};\n', 2),
        (
            "src/tidemark/trace/a.cpp",
            'return n == "add" || n == "sub" ||\n       n == "multiply";\n',
            1,
        ),
        ("python/tidemark/a.py", 'A = frozenset(("add", "sub", "multiply", "other"))\n', 1),
        ("python/tidemark/x/a.py", 'A = {"add": 1, "sub": 2, "multiply": 3}\n', 1),
        ("python/tidemark/a.py", 'A = """\n  add sub\n  multiply\n""".split()\n', 1),
    ],
)
def test_lists_of_op_names_are_found(project, file, text, line):
    project("src/tidemark/ops/a.cpp", OPS)
    project(file, text)
    (problem,) = op_names.check(project.root)
    assert problem.startswith(f"{file}:{line}: ") and "op_facts.h" in problem


def test_tables_about_ops_and_other_words_are_no_lists_of_op_names(project):
    project("src/tidemark/ops/a.cpp", OPS)
    project(
        "src/tidemark/compile/a.cpp",
        "// op names: what each is written as.\n"
        'const char* a[] = {"add", "sub", "multiply"};\n'
        'void f() {\n  g("add");\n  g("sub");\n  g("multiply");\n}\n'
        'bool h() { return n == "add" || n == "sub"; }\n',
    )
    project("src/tidemark/compile/a_test.cpp", 'const char* a[] = {"add", "sub", "multiply"};\n')
    project("src/tidemark/kernels/a.cpp", 'const char* a[] = {"add", "sub", "multiply"};\n')
    project(
        "python/tidemark/a.py",
        "# op names: what moved.\n"
        'A = ("add", "sub", "multiply")\n'
        'B = ("add", "sub", "multiply", "x", "y", "z")\n'
        'C = ("add", "sub")\n',
    )
    assert op_names.check(project.root) == []


# --- formatting ----------------------------------------------------------------------------------


def test_formatting_is_checked_and_written(project):
    project("a.cpp", "int  f( ){return 1;}\n")
    project("b.py", "x  =  1\n")
    problems = "\n".join(formatting.check(project.root))
    assert "a.cpp" in problems and "b.py" in problems and "./dev format" in problems
    assert formatting.format_files(project.root, write=True) == []
    assert formatting.check(project.root) == []
    assert (project.root / "a.cpp").read_text() == "int f() { return 1; }\n"


# --- symbols of kernels compiled for one instruction set -----------------------------------------


def test_weak_function_outside_its_level_is_found():
    nm_output = (
        "0000000000000000 T tidemark::kernels::v4::add(float*)\n"
        "0000000000000000 W void tidemark::kernels::v4::loop<float>(float*)\n"
        "0000000000000000 W std::vector<tidemark::v4::Row>::push_back(tidemark::v4::Row)\n"
        "0000000000000000 V DW.ref.__gxx_personality_v0\n"
        "                 w __gmon_start__\n"
        "0000000000000010 W tidemark::half_to_float(unsigned short)\n"
        "0000000000000020 W void tidemark::kernels::v3::loop<float>(float*)\n"
    )
    assert isa_symbols.leaking_symbols(nm_output, "v4") == [
        "tidemark::half_to_float(unsigned short)",
        "void tidemark::kernels::v3::loop<float>(float*)",
    ]


# --- decisions -----------------------------------------------------------------------------------


def test_decisions_have_at_most_300_words(project):
    project("docs/decisions/0001-short.md", "word " * 300)
    project("docs/planning.md", "word " * 1000)
    assert decisions.check(project.root) == []
    project("docs/decisions/0002-long.md", "word " * 301)
    (problem,) = decisions.check(project.root)
    assert problem.startswith("docs/decisions/0002-long.md: 301 words")


# --- late imports --------------------------------------------------------------------------------


def test_late_imports_say_why():
    good = (
        "import os\n\n\ndef f():\n    import json  # loaded on first use\n\n\n"
        "def g():\n    # Few programs need these.\n    import csv\n    import html\n"
    )
    assert late_imports.check_text("a.py", good) == []
    bad = "class A:\n    def f(self):\n        import json\n\n        return json\n"
    (problem,) = late_imports.check_text("a.py", bad)
    assert problem.startswith("a.py:3: an import inside a function")


# --- streams -------------------------------------------------------------------------------------


def test_libraries_include_no_iostream(project):
    project("src/tidemark/a.cpp", "#include <ostream>\n#include <cstdio>\n")
    project("src/tidemark/a_test.cpp", "#include <iostream>\n")
    project("examples/a.cpp", "#include <iostream>\n")
    assert streams.check(project.root) == []
    project("src/tidemark/b.cpp", "#include <vector>\n# include <iostream>\n")
    (problem,) = streams.check(project.root)
    assert problem.startswith("src/tidemark/b.cpp:2: <iostream>")


# --- tables --------------------------------------------------------------------------------------


def test_tables_of_equal_rows_pass(project):
    text = "| a | `b|c` |\n| --- | ---: |\n| 1 |  |\n| x \\| y | z |\n\n```\n| any |\n```\n"
    project("docs/a.md", text)
    assert tables.check(project.root) == []


def test_a_row_of_another_table_fails(project):
    project("docs/a.md", "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 2 | 3 |\n")
    (problem,) = tables.check(project.root)
    assert "docs/a.md:4: a row of 3 cells in a table of 2" in problem
