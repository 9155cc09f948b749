# SPDX-License-Identifier: MIT
# Functions of programs that `record --functions` chooses: by name, with the instructions that leave them.
include(${CMAKE_CURRENT_LIST_DIR}/capstone.cmake)
add_library(monitor_functions STATIC
  ${CMAKE_CURRENT_LIST_DIR}/control_flow.cpp
  ${CMAKE_CURRENT_LIST_DIR}/exit_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/exit_search_arm64.cpp
  ${CMAKE_CURRENT_LIST_DIR}/file_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/jump_table_x86.cpp
  ${CMAKE_CURRENT_LIST_DIR}/landing_pads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/patch_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/patch_trial.cpp
  ${CMAKE_CURRENT_LIST_DIR}/patterns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program_symbols.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sled_search.cpp)
target_link_libraries(monitor_functions PUBLIC monitor_card monitor_base PRIVATE monitor_debug_files monitor_demangle compiled_fmt capstone_if_present ${CMAKE_DL_LIBS})
target_compile_definitions(monitor_functions PRIVATE PRELOADED_BUILT="${PRELOADED_BUILT}"
  PRELOADED_INSTALLED="${PRELOADED_INSTALLED}")
