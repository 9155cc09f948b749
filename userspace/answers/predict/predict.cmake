# SPDX-License-Identifier: MIT
# What a changed program would take.
add_library(monitor_predict STATIC
  ${CMAKE_CURRENT_LIST_DIR}/change_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/prediction.cpp
  ${CMAKE_CURRENT_LIST_DIR}/prediction_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/refusals.cpp)
target_link_libraries(monitor_predict PUBLIC monitor_simulation monitor_plot PRIVATE compiled_fmt)
