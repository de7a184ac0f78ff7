# mantissa_add_plugin(<name> <source>... [OPS <file>.td DIALECT <dialect>] [PASSES <file>.td])
#
# Builds <name>.so, which mp-opt, mp-run, mp-translate and a stock mlir-opt load: passes, or a dialect with ops of its
# own. <file>.td defines the dialect and its ops, and may include Mantissa's files ("dialect/MpBase.td") and MLIR's.
# The sources include what is made of it: <file>Dialect.h.inc, <file>Dialect.cpp.inc, <file>.h.inc and <file>.cpp.inc.
# The records of passes are in another file, of which <file>.h.inc is made; it may include "passes/PassBase.td".
function(mantissa_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPS;DIALECT;PASSES" "")
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE Mantissa::dialect)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # MLIR's headers are most of what is compiled: three sources take 10 s of one core instead of 19, and a changed one
    # 1.4 s instead of 6. g++ 12 takes longer with it, from nothing.
    target_precompile_headers(${name} PRIVATE <dialect/Mp.h> <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Pass/Pass.h>)
  endif()
  if(arg_OPS)
    foreach(output Dialect.h.inc|-gen-dialect-decls|-dialect=${arg_DIALECT}
        Dialect.cpp.inc|-gen-dialect-defs|-dialect=${arg_DIALECT}
        .h.inc|-gen-op-decls|-op-include-regex=^${arg_DIALECT}[.] .cpp.inc|-gen-op-defs|-op-include-regex=^${arg_DIALECT}[.])
      _mantissa_plugin_tablegen(${name} ${arg_OPS} ${output})
    endforeach()
  endif()
  if(arg_PASSES)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    _mantissa_plugin_tablegen(${name} ${arg_PASSES} .h.inc|-gen-pass-decls|-name=${identifier})
  endif()
endfunction()

# Makes <file><suffix> for the plugin; output is <suffix>|<word of mlir-tblgen>...
function(_mantissa_plugin_tablegen name definitions output)
  get_filename_component(stem ${definitions} NAME_WE)
  get_filename_component(definitions ${definitions} ABSOLUTE)
  string(REPLACE "|" ";" output ${output})
  list(POP_FRONT output suffix)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${stem}${suffix})
  add_custom_command(OUTPUT ${file} DEPENDS ${definitions} mlir-tblgen DEPFILE ${file}.d VERBATIM
    COMMAND mlir-tblgen ${output} ${definitions} -o ${file} -d ${file}.d
      -I "$<JOIN:$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>,;-I;>"
    COMMAND_EXPAND_LISTS)
  target_sources(${name} PRIVATE ${file})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
