# SPDX-License-Identifier: MIT
# Names of addresses: which file was mapped there, which function that is. Offline.
add_library(monitor_symbols STATIC
  ${CMAKE_CURRENT_LIST_DIR}/code_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/symbolizer.cpp)
target_link_libraries(monitor_symbols PUBLIC monitor_base PRIVATE compiled_fmt)
