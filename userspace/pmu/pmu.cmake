# SPDX-License-Identifier: MIT
# Names -> perf events (libpfm4), groups, formulas.
find_library(PFM_LIBRARY pfm REQUIRED)

add_library(
  monitor_pmu STATIC
  pmu/events.cpp
  pmu/formula.cpp
  pmu/generic.cpp
  pmu/groups.cpp
  pmu/list.cpp
  pmu/machine.cpp
  pmu/measure.cpp
  pmu/perf_group.cpp
  pmu/pfm.cpp
  pmu/selection.cpp
  pmu/sets.cpp
  pmu/sysfs.cpp)
target_link_libraries(monitor_pmu PUBLIC monitor_base fmt::fmt-header-only PRIVATE pfm)
