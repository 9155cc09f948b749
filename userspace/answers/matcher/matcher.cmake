# SPDX-License-Identifier: MIT
# From expressions to the tables that the kernel decides with.
add_library(monitor_matcher STATIC
  ${CMAKE_CURRENT_LIST_DIR}/expression_matcher.cpp
  ${CMAKE_CURRENT_LIST_DIR}/judgement_cost.cpp
  ${CMAKE_CURRENT_LIST_DIR}/named_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matcher_tables.cpp)
target_link_libraries(monitor_matcher PUBLIC monitor_filter PRIVATE compiled_fmt)
