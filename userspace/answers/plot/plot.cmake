# SPDX-License-Identifier: MIT
# Tables drawn: as text and as SVG.
add_library(monitor_plot STATIC
  ${CMAKE_CURRENT_LIST_DIR}/from_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scale.cpp
  ${CMAKE_CURRENT_LIST_DIR}/svg.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text.cpp)
target_link_libraries(monitor_plot PUBLIC monitor_report)
