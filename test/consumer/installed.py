#!/usr/bin/env python3
"""The installed tree: projects that know nothing but where it is are configured, built and run, and train, from C++ and
from C, run a saved Program without MLIR, and bring a pass and an op."""

import os
import re
import sys

import numpy

from _consumer import HERE, configure, fresh, needed, options, output

VERSION = "0.1"
LLVM = "22.1"
COMPONENTS = ["c", "c-runtime", "runtime", "compiler", "dialect"]


# --- the tree ------------------------------------------------------------------

def install(arguments):
    """Installs the build, and moves the tree: it must not know where it was put."""
    first = fresh(arguments.work / "installed-first")
    output("cmake", "--install", arguments.build, "--prefix", first)
    prefix = fresh(arguments.work / "installed") / "prefix"
    return first.rename(prefix)


def symbols(library):
    """The strong symbols that a library defines."""
    lines = [line.split() for line in output("nm", "--dynamic", "--defined-only", library).splitlines()]
    return {words[2] for words in lines if len(words) == 3 and words[1] in "TDBR" and not words[2].startswith("_ZTI")}


def tree_faults(prefix, arguments):
    # Other builds than releases have paths in assertions and debug information.
    release = "CMAKE_BUILD_TYPE:STRING=Release" in (arguments.build / "CMakeCache.txt").read_text()
    places = [str(place).encode() for place in (arguments.build, arguments.source) if release]
    for file in prefix.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            yield from (f"{file} contains {place.decode()}" for place in places if place in content)
    runtime, compiler = (prefix / "lib" / f"lib{name}.so" for name in ("MantissaRuntime", "Mantissa"))
    for library in (runtime, compiler):
        if not library.resolve().name.endswith(f".so.{VERSION}.0"):
            yield f"{library} is {library.resolve()}"
        if f"soname: [{library.name}.{VERSION}]" not in output("readelf", "--dynamic", library):
            yield f"{library} has no soname of {VERSION}"
    if any("MLIR" in name for name in needed(runtime)) or "MLIR" in output("ldd", runtime):
        yield f"{runtime} needs MLIR: {sorted(needed(runtime))}"
    if twice := symbols(runtime) & symbols(compiler):
        yield f"both libraries define {sorted(twice)[:9]}"
    for program in [*(prefix / "bin").iterdir(), prefix / "lib" / "mantissa" / "MantissaPlugin.so"]:
        listed = output("ldd", program)
        if "not found" in listed or f"{prefix}/" not in listed:
            yield f"{program} does not find the tree's libraries:\n{listed}"
    for header in ("dialect/Mp.h", "dialect/MpBase.td", "dialect/ops/Linear.h", "dialect/ops/Linear.h.inc", "codegen/Compile.h",
                   "runtime/Session.h", "passes/kernels/Passes.h.inc"):
        if not (prefix / "include" / "mantissa" / header).is_file():
            yield f"{header} is missing"


# --- projects that link it ---------------------------------------------------------

class Consumers:
    def __init__(self, prefix, arguments):
        self.prefix, self.arguments = prefix, arguments

    def build(self, name, compiler, *definitions):
        """Builds the project in a copy, outside of the repository's tree; returns the build folder."""
        folder = fresh(self.arguments.work / "consumers" / f"{name}-{compiler}")
        output("cp", "-r", HERE / name, folder / "source")
        configure(folder / "source", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
                  *definitions)
        output("cmake", "--build", folder / "build")
        return folder / "build"

    def tool(self, name, *words, **keywords):
        return output(self.prefix / "bin" / name, *words, **keywords)

    def train(self):
        """Both compilers, with exceptions and without MLIR's headers: the same numbers."""
        printed = []
        for compiler in ("g++", "clang++-22"):
            build = self.build("train", compiler, "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
            module = self.prefix / "share" / "mantissa" / "examples" / "fashion-mnist" / "mlp.mlir"
            printed.append(output(build / "train", module, self.arguments.data, "5"))
            assert "train: cannot open data folder none" in output(build / "train", module, "none", "5", status=1)
        losses = [float(loss) for loss in re.findall(r"loss (\S+)", printed[0])]
        assert len(losses) == 5 and losses[-1] < losses[0] and printed[0] == printed[1], printed
        print(f"train: {losses}")

    def run_program(self):
        build = self.build("run-program", "g++", "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
        program = build / "model.program"
        self.tool("mp-translate", "--mp-to-program", "--mp-code", "--mp-goal=run", HERE / "run-program" / "model.mlir", "-o", program)
        assert output(build / "run-program", program) == "-1 1 4 -3\n"
        listed = output("ldd", build / "run-program")
        assert "libMantissaRuntime.so" in listed and "MLIR" not in listed and "libMantissa.so" not in listed, listed
        print("run-program: without MLIR")

    def from_c(self):
        """Projects of C alone, which find no header of LLVM: the same numbers by both compilers, and through pkg-config."""
        module = self.prefix / "share" / "mantissa" / "examples" / "fashion-mnist" / "mlp.mlir"
        printed = []
        for compiler in ("gcc", "clang-22"):
            build = self.build("c", compiler, f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
            printed.append(output(build / "train", module, "step.program", cwd=build))
        check_training_of_c(printed)
        loaded = output("ldd", build / "resume")
        assert "MLIR" not in loaded and "libMantissa.so" not in loaded, loaded
        assert not any("LLVM" in name for name in needed(build / "train")), needed(build / "train")
        resumed = output(build / "resume", "step.program", "state.safetensors", cwd=build)
        assert re.fullmatch(r" loss 0\.0\d+\n", resumed), resumed
        self.from_pkg_config(build, resumed)
        print(f"c: {printed[0].splitlines()[:4]}")

    def from_pkg_config(self, build, resumed):
        where = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")}
        assert output("pkg-config", "--modversion", "mantissa", env=where) == f"{VERSION}.0\n"
        for name, program in (("mantissa", "train"), ("mantissa-runtime", "resume")):
            flags = output("pkg-config", "--cflags", "--libs", name, env=where).split()
            # A C++ compiler takes the same program.
            for language in (("cc", "-std=c99"), ("c++", "-std=c++11", "-x", "c++")):
                output(*language, "-Wall", "-Wextra", "-pedantic", "-Werror", HERE / "c" / f"{program}.c", *flags,
                       f"-Wl,-rpath,{self.prefix}/lib", "-o", build / f"{program}-{language[0]}")
        for language in ("cc", "c++"):
            assert output(build / f"resume-{language}", "step.program", "state.safetensors", cwd=build) == resumed

    def plugin(self):
        plugin = self.build("plugin", "g++") / "own.so"
        check_plugin(self, plugin)
        check_gradient(self, plugin)
        self.tool("mp-run", "train", self.prefix / "share/mantissa/examples/fashion-mnist/mlp.mlir", "--data", self.arguments.data,
                  "--max-steps", "5", "--device", "cpu", "--out", plugin.parent / "run", "--load-pass-plugin", plugin,
                  "--insert-pass", "before=mp-autocast:softsign-for-relu")
        assert "softsign" in (plugin.parent / "run" / "casts.json").read_text()
        check_analyses(self, plugin)
        losses = [float(loss) for loss in output(plugin.parent / "step", HERE / "plugin" / "net.mlir", plugin).split()]
        assert len(losses) == 2 and 0 < losses[1] < losses[0], losses
        print("plugin: C++, mp-opt, mlir-opt, mp-translate, mp-run and mp-diff")


MISTAKES_OF_C = """\
error 2: 'image' is 128x28x28xf32, expected 128x28x28xui8
error 2: 'image' is 64x28x28xui8, expected 128x28x28xui8
error 2: there is no input 'picture' (known: 'image', 'label')
error 2: 'image': the view of 128x28x28xui8 has no memory: its address is null
error 1: step is null
error 1: options->precision is 77, expected a value from 0 to 13
error 2: the learning rate is -1, expected a finite number from 0 on
error 2: nothing.safetensors: No such file or directory
"""


def check_training_of_c(printed):
    """It learns, steers, continues with the same bits, and says what was wrong."""
    text = printed[0]
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", text)]
    rates = re.search(r"learning rate (\S+), then (\S+)", text).groups()
    accuracy = float(re.search(r"accuracy (\S+)", text)[1])
    assert len(losses) == 2 and losses[1] < 0.1 < losses[0] and accuracy > 0.95 and printed[0] == printed[1], printed
    # The schedule falls by a sixtieth, and the factor by half.
    assert 0.45 < float(rates[1]) / float(rates[0]) < 0.5, rates
    assert "continued: the same bits\n" in text and MISTAKES_OF_C in text and "\n42 steps, 0 skipped, on cpu\n" in text, text


def check_header_of_c(prefix, source):
    """Every function that the header declares is there and in the documentation's table, and every compiler and standard
    takes it without a warning."""
    header = prefix / "include" / "mantissa-c.h"
    declared = set(re.findall(r"\b(mantissa_\w+)\(", re.sub(r"//.*", "", header.read_text())))
    defined = {name: symbols(prefix / "lib" / f"lib{name}.so") for name in ("MantissaRuntime", "Mantissa")}
    assert len(declared) > 40 and declared <= defined["MantissaRuntime"] | defined["Mantissa"], declared
    of_compiler = declared - defined["MantissaRuntime"]
    assert of_compiler == {name for name in declared if name.startswith("mantissa_module_")}, of_compiler
    extra = {name for names in defined.values() for name in names if name.startswith("mantissa_")} - declared
    assert not extra, extra
    table = (source / "docs" / "c-api.md").read_text().split("## All functions")[1]
    assert set(re.findall(r"`(mantissa_\w+)`", table)) == declared, declared ^ set(re.findall(r"`(mantissa_\w+)`", table))
    for compiler in ("gcc", "clang-22"):
        for language, standard in (("c", "c99"), ("c", "c11"), ("c", "c2x"), ("c++", "c++98"), ("c++", "c++20")):
            output(compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", header,
                   *(["-Wno-pragma-once-outside-header"] if compiler == "clang-22" else []))


def check_plugin(consumers, plugin):
    """The dialect and the pass in mp-opt, a stock mlir-opt and mp-translate."""
    net = HERE / "plugin" / "net.mlir"
    ours = consumers.prefix / "lib" / "mantissa" / "MantissaPlugin.so"
    passes = "--pass-pipeline=builtin.module(mp-specialize{batch=4},mp-autocast,mp-autodiff)"
    text = consumers.tool("mp-opt", f"--load-dialect-plugin={plugin}", net, passes)
    # It is in no list of PyTorch's policy: it runs in the type that its operand has.
    assert re.search(r"own.softsign %\w+ : tensor<4x16xbf16>", text) and "own.softsign_backward" in text, text
    stock = output("mlir-opt-22", *(f"--load-{what}-plugin={file}" for what in ("dialect", "pass") for file in (ours, plugin)), net, passes)
    assert stock == text, stock
    relu = plugin.parent / "relu.mlir"
    relu.write_text(net.read_text().replace("own.softsign", "mp.relu"))
    replaced = consumers.tool("mp-opt", f"--load-pass-plugin={plugin}", relu, "--softsign-for-relu")
    assert replaced == consumers.tool("mp-opt", f"--load-pass-plugin={plugin}", net), replaced
    cuda = consumers.tool("mp-translate", "--mp-to-cuda", "--mp-headers=false", "--mp-batch=4", f"--load-dialect-plugin={plugin}", net)
    assert re.search(r"^// .*softsign", cuda, re.MULTILINE), cuda
    assert "'own.softsign'" in consumers.tool("mp-opt", net, status=1)
    # A policy names an op of the plugin by the dialect's name: PyTorch's lists have overloads that look like it.
    policy = plugin.parent / "policy.json"
    policy.write_text('{"extends": "torch", "deny": ["own.softsign"]}')
    wide = consumers.tool("mp-opt", f"--load-dialect-plugin={plugin}", net, f"--mp-autocast=policy={policy}")
    assert re.search(r"own.softsign %\w+ : tensor<\?x16xf32>", wide), wide
    assert "| `own.softsign` | deny |" in consumers.tool("mp-run", "policies", policy, "--load-dialect-plugin", plugin)


def check_analyses(consumers, plugin):
    """The tools that compile a graph many times."""
    net, load = HERE / "plugin" / "net.mlir", ("--load-dialect-plugin", plugin)
    assert "no warnings" in consumers.tool("mp-run", "lint", net, *load)
    assert "softsign" in consumers.tool("mp-diff", net, "--policy", "torch", "--steps", "0", "--all", *load)
    example = consumers.prefix / "share/mantissa/examples/fashion-mnist/mlp.mlir"
    module = plugin.parent / "mlp.mlir"
    module.write_text(example.read_text().replace("mp.relu", "own.softsign"))
    found = consumers.tool("mp-run", "search", module, "--data", consumers.arguments.data, "--tolerance", "0.1", "--batches", "1",
                           "--steps", "0", "--max-evaluations", "4", *load)
    assert "softsign" in found, found
    judged = consumers.tool("mp-run", "gradcheck", *load)
    assert re.search(r"^own.softsign +1 sample, .*e-1\d\n1 gradient rule is within", judged), judged


def check_gradient(consumers, plugin):
    """The rule that autodiff applies, compiled for both targets, against central differences."""
    folder, module = plugin.parent, HERE / "plugin" / "sum.mlir"
    both = folder / "gradient.mlir"
    consumers.tool("mp-opt", f"--load-dialect-plugin={plugin}", module, "--mp-autodiff=function=sum", "-o", both)

    def run(function, x, *words, **keywords):
        numpy.save(folder / "x.npy", x)
        consumers.tool("mp-run", "run", both, "--function", function, "--load-dialect-plugin", plugin, f"--input=@{folder}/x.npy",
                       f"--output=@{folder}/y.npy", *words, **keywords)
        return numpy.load(folder / "y.npy")

    x, step = numpy.array([1, -1, 2, -2, 3, 0.5, 7.0]), 1e-5
    gradient = run("sum.gradient", x, "--device", "cpu")
    for i in (0, 3, 6):
        offset = step * numpy.eye(len(x))[i]
        difference = (run("sum", x + offset, "--device", "cpu") - run("sum", x - offset, "--device", "cpu")) / (2 * step)
        assert abs(gradient[i] - difference) < 1e-8, (i, gradient, difference)
    emulated = {"MP_CUDA_PATH": str(consumers.arguments.build / "test" / "emulator" / "lib"), "MP_CACHE_DIR": "off", "PATH": "/usr/bin:/bin"}
    assert (run("sum.gradient", x, "--device", "cuda", env=emulated) == gradient).all()
    print(f"gradient: {gradient}")


# --- what is refused ---------------------------------------------------------------

PLUGIN = """
struct info { unsigned api; const char *name, *version; void *callback; };
struct info mlirGetPassPluginInfo(void) { return (struct info){%s, "other", "0", 0}; }
"""
# If the plugin were loaded, this initialiser would end the process.
STUB = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\nint stub(void) { return 0; }\n"


def shared_library(folder, name, text, *words):
    source = folder / f"{name}.c"
    source.write_text(text)
    file = folder / f"{name}.so"
    output("cc", "-shared", "-fPIC", source, "-o", file, *words)
    return file


def other_plugins(folder):
    """(plugin, what the error says)."""
    for number, soname in enumerate(("libLLVM.so.21.1", "libLLVM-15.so.1", "libMLIR.so.23.0", "libMantissa.so.0.2")):
        stub = shared_library(folder, f"stub{number}", STUB, f"-Wl,-soname,{soname}")
        (folder / soname).symlink_to(stub)
        yield shared_library(folder, f"plugin{number}", PLUGIN % 1 + "int stub(void);\nint (*const keep)(void) = stub;\n", stub,
                             f"-Wl,-rpath,{folder}"), f"was built with {soname}, and this is Mantissa {VERSION}"
    yield shared_library(folder, "api", PLUGIN % 99), "Wrong API version"
    yield shared_library(folder, "copy", PLUGIN % 1 + "void _ZN4mlir11MLIRContextD1Ev(void) {}\n"), "contains a copy of MLIR"
    yield shared_library(folder, "empty", "int nothing;\n"), "neither mlirGetPassPluginInfo nor mlirGetDialectPluginInfo"
    text = folder / "text.so"
    text.write_text("text")
    yield text, "is not a shared library"


def check_refusals(consumers):
    folder = fresh(consumers.arguments.work / "refused")
    net = HERE / "run-program" / "model.mlir"
    for plugin, message in other_plugins(folder):
        for words in (("mp-opt", f"--load-pass-plugin={plugin}", net), ("mp-opt", "-load-dialect-plugin", plugin, net),
                      ("mp-reduce", f"--load-dialect-plugin={plugin}", net), ("mp-lsp-server", f"--load-pass-plugin={plugin}"),
                      ("mp-translate", "--mp-to-program", "--mp-goal=run", f"--load-pass-plugin={plugin}", net),
                      ("mp-run", "run", net, "--load-pass-plugin", plugin)):
            text = consumers.tool(*words, status=1)
            assert message in text and plugin.name in text and len(text.splitlines()) == 1, (words, text)
    project = folder / "CMakeLists.txt"

    def answer(find_package, *definitions, **keywords):
        project.write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package({find_package})\n"
                           "foreach(name c c-runtime runtime compiler dialect)\n  message(STATUS ${name}=${Mantissa_${name}_FOUND})\nendforeach()\n")
        text = configure(folder, fresh(folder / "build"), f"-DCMAKE_PREFIX_PATH={consumers.prefix}", *definitions, **keywords)
        return " ".join(text.split())

    def refused(find_package, message, *definitions):
        text = answer(find_package, *definitions, status=1)
        assert message in text, text

    def given(find_package, components, *definitions):
        text = answer(find_package, *definitions)
        assert [name for name in COMPONENTS if f" {name}=TRUE" in text] == components, text

    refused("Mantissa 0.1 REQUIRED COMPONENTS dialect", f"component dialect needs MLIR {LLVM} (Debian: libmlir-22-dev",
            "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
    refused("Mantissa 0.1 REQUIRED", f"component runtime needs LLVM {LLVM} (Debian: llvm-22-dev", "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
    refused("Mantissa 0.2 REQUIRED", 'requested version "0.2"')
    refused("Mantissa 0.1 REQUIRED COMPONENTS graphics", "component graphics needs a component that exists")
    given("Mantissa 0.1 REQUIRED", COMPONENTS)
    given("Mantissa 0.1 REQUIRED", COMPONENTS[:-1], "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
    given("Mantissa 0.1 REQUIRED COMPONENTS runtime OPTIONAL_COMPONENTS dialect", COMPONENTS)
    given("Mantissa 0.1 REQUIRED COMPONENTS c", ["c", "c-runtime"])
    given("Mantissa 0.1 REQUIRED COMPONENTS c-runtime c", ["c", "c-runtime"], "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
    given("Mantissa 0.1 REQUIRED COMPONENTS c compiler", COMPONENTS[:-1])
    given("Mantissa 0.1", [], "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON")
    print("refused: plugins of other versions, missing packages")


def main():
    arguments = options(__doc__)
    prefix = install(arguments)
    found = list(tree_faults(prefix, arguments))
    if found:
        sys.exit("\n".join(found))
    consumers = Consumers(prefix, arguments)
    consumers.train()
    consumers.run_program()
    check_header_of_c(prefix, arguments.source)
    consumers.from_c()
    consumers.plugin()
    check_refusals(consumers)


if __name__ == "__main__":
    main()
