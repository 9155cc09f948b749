# SPDX-License-Identifier: MIT
# What the probes must know to walk the stacks of programs: mappings, files, unwind tables.
add_library(monitor_stacks STATIC
  ${CMAKE_CURRENT_LIST_DIR}/address_spaces.cpp
  ${CMAKE_CURRENT_LIST_DIR}/code_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/code_histories.cpp
  ${CMAKE_CURRENT_LIST_DIR}/go_rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/image_rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kept_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opener.cpp
  ${CMAKE_CURRENT_LIST_DIR}/side_band.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_recorder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/unwind_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/frame_pointers.cpp)
target_link_libraries(monitor_stacks PUBLIC monitor_recorder monitor_base nlohmann_json::nlohmann_json compiled_fmt Threads::Threads)

# Without it, tables for debuggers that are packed are not read.
find_library(Z_LIBRARY z)
find_path(Z_HEADERS zlib.h)
if(Z_LIBRARY AND Z_HEADERS)
  target_compile_definitions(monitor_stacks PRIVATE MONITOR_HAS_ZLIB)
  target_link_libraries(monitor_stacks PRIVATE z)
endif()
