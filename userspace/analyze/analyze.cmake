# SPDX-License-Identifier: MIT
# The one fold of events into states, and what is asked of it. Offline: no privilege, nothing of the record side.
add_library(
  monitor_analyze STATIC
  analyze/check.cpp
  analyze/clock_bound.cpp
  analyze/clock_check.cpp
  analyze/conservation.cpp
  analyze/counter_fold.cpp
  analyze/counters_info.cpp
  analyze/event_kinds.cpp
  analyze/kernel_comparison.cpp
  analyze/kernel_totals.cpp
  analyze/machine.cpp
  analyze/machine_states.cpp
  analyze/machine_time.cpp
  analyze/measure.cpp
  analyze/probe_cost.cpp
  analyze/recording_info.cpp
  analyze/samples.cpp
  analyze/segments.cpp
  analyze/user_times.cpp
  analyze/witness_check.cpp)
target_link_libraries(monitor_analyze PUBLIC monitor_trace nlohmann_json::nlohmann_json fmt::fmt-header-only)
