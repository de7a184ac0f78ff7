#!/usr/bin/env python3
"""Mantissa as a part of another project, by add_subdirectory and by FetchContent: it gives its targets, and leaves the
project's build type, flags, launcher and tests alone. Only one object is compiled."""

import json
import shutil
from pathlib import Path

from _consumer import HERE, configure, fresh, options, output

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(other LANGUAGES CXX)
{include}
add_library(user OBJECT run-program.cpp)
target_link_libraries(user PRIVATE Mantissa::runtime)
add_executable(train train.cpp)
target_link_libraries(train PRIVATE Mantissa::compiler)
mantissa_add_plugin(own Own.cpp Plugin.cpp OPS Own.td DIALECT own)
enable_testing()
get_property(tests DIRECTORY PROPERTY TESTS)
file(WRITE ${{CMAKE_BINARY_DIR}}/kept.txt "${{CMAKE_BUILD_TYPE}}${{CMAKE_CXX_COMPILER_LAUNCHER}}${{tests}}${{CMAKE_PREFIX_PATH}}\
${{CMAKE_RUNTIME_OUTPUT_DIRECTORY}}${{CMAKE_CXX_STANDARD}}${{CMAKE_MODULE_PATH}}")
"""
INCLUDES = {
    "add_subdirectory": "add_subdirectory({source} mantissa)",
    "FetchContent": "include(FetchContent)\nFetchContent_Declare(Mantissa SOURCE_DIR {source})\nFetchContent_MakeAvailable(Mantissa)",
}
FORBIDDEN = ("-fno-exceptions", "-fno-rtti", "-ffp-contract", "-Wall", "ccache")


def check(name, arguments):
    folder = fresh(arguments.work / name)
    for file in (HERE / "train" / "train.cpp", HERE / "run-program" / "run-program.cpp", *(HERE / "plugin").iterdir()):
        shutil.copy(file, folder)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(include=INCLUDES[name].format(source=arguments.source)))
    configure(folder, folder / "build", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    assert (folder / "build" / "kept.txt").read_text() == ""
    assert "No tests were found" in output("ctest", "--test-dir", folder / "build")
    commands = json.loads((folder / "build" / "compile_commands.json").read_text())
    own = [entry["command"] for entry in commands if Path(entry["file"]).parent == folder]
    assert len(own) == 4, own
    for command in own:
        assert not [flag for flag in FORBIDDEN if flag in command], command
    output("cmake", "--build", folder / "build", "--target", "CMakeFiles/user.dir/run-program.cpp.o")
    install = output("cmake", "--install", folder / "build", "--prefix", folder / "prefix")
    assert not (folder / "prefix").exists(), install
    print(f"{name}: as a guest behaves")


def main():
    arguments = options(__doc__)
    for name in INCLUDES:
        check(name, arguments)


if __name__ == "__main__":
    main()
