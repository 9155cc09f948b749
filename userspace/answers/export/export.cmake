# SPDX-License-Identifier: MIT
# Traces and stacks in the formats of other tools. Without protozero, those in protocol buffers are left out.
set(export_files kernel_feed output lttng lttng_events speedscope wait_fold)
if(MONITOR_PROTOBUF)
  list(APPEND export_files perfetto perfetto_ftrace perfetto_packets perfetto_tracks pprof)
else()
  list(APPEND export_files protobuf_left_out)
endif()
list(TRANSFORM export_files PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM export_files APPEND .cpp)
add_library(monitor_export STATIC ${export_files})
if(MONITOR_PROTOBUF)
  target_include_directories(monitor_export SYSTEM PRIVATE ${PROTOZERO_INCLUDE})
endif()
target_link_libraries(monitor_export PUBLIC monitor_report monitor_collection PRIVATE z) # by name: also into a static program
