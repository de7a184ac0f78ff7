# Packs the portable program with the files that belong to it.
# usage: cmake -D SOURCE=... -D PROGRAM=... -D VERSION=... -D OUT=... -P PackagePortable.cmake
# Paths in the package are those of the repository, but for bin/.
set(name mantissa-${VERSION}-linux-x86_64)
set(stage ${OUT}/${name})
file(REMOVE_RECURSE ${stage})
file(COPY ${PROGRAM} DESTINATION ${stage}/bin)
get_filename_component(program ${PROGRAM} NAME)
foreach(tool opt translate run diff lsp-server reduce zoo data)
  file(CREATE_LINK ${program} ${stage}/bin/mp-${tool} SYMBOLIC)
endforeach()
file(CREATE_LINK ${program} ${stage}/bin/fuzz-driver SYMBOLIC)
foreach(folder examples/fashion-mnist test/models bench/gpu bench/rivals)
  file(GLOB files ${SOURCE}/${folder}/*)
  list(FILTER files EXCLUDE REGEX "__pycache__")
  file(COPY ${files} DESTINATION ${stage}/${folder})
endforeach()
file(GLOB files ${SOURCE}/test/fuzz/*.py)
file(COPY ${files} DESTINATION ${stage}/test/fuzz)
file(COPY ${SOURCE}/bench/gpu.sh ${SOURCE}/bench/_networks.py ${SOURCE}/bench/gemm-shapes.json DESTINATION ${stage}/bench)
configure_file(${SOURCE}/docs/portable.md ${stage}/README.md COPYONLY)
configure_file(${SOURCE}/LICENSE ${stage}/LICENSE COPYONLY)

# The notices of the linked libraries.
foreach(package llvm-22-dev libmlir-22-dev zlib1g-dev libpng-dev libturbojpeg0-dev libutf8proc-dev libpcre2-dev libstdc++-12-dev)
  set(notice /usr/share/doc/${package}/copyright)
  if(NOT EXISTS ${notice})
    message(FATAL_ERROR "${notice} is missing: the package has to carry it")
  endif()
  configure_file(${notice} ${stage}/notices/${package} COPYONLY)
endforeach()

# The commit, which measurements name.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=40 --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
file(WRITE ${stage}/VERSION "${VERSION} ${commit}\n")

execute_process(COMMAND ${CMAKE_COMMAND} -E tar cJf ${name}.tar.xz ${name} WORKING_DIRECTORY ${OUT}
  COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${OUT}/${name}.tar.xz bytes)
math(EXPR mib "${bytes} / 1048576")
message(STATUS "${OUT}/${name}.tar.xz: ${mib} MiB")
