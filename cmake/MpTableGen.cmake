# An op family is dialect/ops/F.{td,cpp} and codegen/ops/F.cpp. These functions find
# the families, so that adding one edits no CMake file and no registration.

# mp_op_families(<variable> <folder> <extension>): names of the families in a folder.
function(mp_op_families variable folder extension)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.${extension})
  set(names "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  set(${variable} "${names}" PARENT_SCOPE)
endfunction()

# mp_write_if_changed(<file> <content>): keeps the time stamp of an equal file.
function(mp_write_if_changed file content)
  if(EXISTS ${file})
    file(READ ${file} old)
    if(old STREQUAL content)
      return()
    endif()
  endif()
  file(WRITE ${file} "${content}")
endfunction()
