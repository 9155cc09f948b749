# SPDX-License-Identifier: MIT
# Names -> perf events (libpfm4), groups, formulas.
find_library(PFM_LIBRARY pfm REQUIRED)

add_library(monitor_pmu STATIC
  ${CMAKE_CURRENT_LIST_DIR}/events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/formula.cpp
  ${CMAKE_CURRENT_LIST_DIR}/generic.cpp
  ${CMAKE_CURRENT_LIST_DIR}/groups.cpp
  ${CMAKE_CURRENT_LIST_DIR}/list.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/perf_group.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pfm.cpp
  ${CMAKE_CURRENT_LIST_DIR}/selection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sysfs.cpp)
target_link_libraries(monitor_pmu PUBLIC monitor_base compiled_fmt PRIVATE pfm)
