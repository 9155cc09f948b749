# SPDX-License-Identifier: MIT
# Names of addresses: which file was mapped there, which function that is. Offline.
add_library(monitor_symbols STATIC
  ${CMAKE_CURRENT_LIST_DIR}/code_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/debug_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/inlined_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/jit_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/packed_frames.cpp
  ${CMAKE_CURRENT_LIST_DIR}/symbol_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/symbolizer.cpp)
target_link_libraries(monitor_symbols PUBLIC monitor_base PRIVATE monitor_debug_files monitor_demangle compiled_fmt)

# Without these two some names are missing, which `monitor doctor` says. Linked by name, as the card's libraries are.
find_library(DW_LIBRARY dw)
find_path(DW_HEADERS elfutils/libdw.h)
find_library(LZMA_LIBRARY lzma)
find_path(LZMA_HEADERS lzma.h)
if(DW_LIBRARY AND DW_HEADERS)
  target_compile_definitions(monitor_symbols PRIVATE MONITOR_HAS_LIBDW)
  target_link_libraries(monitor_symbols PRIVATE dw elf)
endif()
if(LZMA_LIBRARY AND LZMA_HEADERS)
  target_compile_definitions(monitor_symbols PRIVATE MONITOR_HAS_LZMA)
  target_link_libraries(monitor_symbols PRIVATE lzma)
endif()
