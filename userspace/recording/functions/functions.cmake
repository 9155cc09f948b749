# SPDX-License-Identifier: MIT
# Functions of programs that `record --functions` chooses: by name, with the instructions that leave them.
add_library(monitor_functions STATIC
  ${CMAKE_CURRENT_LIST_DIR}/exit_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program_symbols.cpp)
target_link_libraries(monitor_functions PUBLIC monitor_card monitor_base PRIVATE compiled_fmt)

# Without it functions cannot be recorded, which `record --functions` says. Linked by name, as the card's libraries are.
find_library(CAPSTONE_LIBRARY capstone)
find_path(CAPSTONE_HEADERS capstone/capstone.h)
if(CAPSTONE_LIBRARY AND CAPSTONE_HEADERS)
  target_compile_definitions(monitor_functions PRIVATE MONITOR_HAS_CAPSTONE)
  target_link_libraries(monitor_functions PRIVATE capstone)
endif()
