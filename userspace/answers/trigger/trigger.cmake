# SPDX-License-Identifier: MIT
# Triggers: their text, and what they would have done in a trace.
add_library(monitor_trigger STATIC
  ${CMAKE_CURRENT_LIST_DIR}/trigger_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rehearsal.cpp)
target_link_libraries(monitor_trigger PUBLIC monitor_filter PRIVATE compiled_fmt)
