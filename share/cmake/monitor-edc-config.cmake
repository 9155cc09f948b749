# SPDX-License-Identifier: MIT
# find_package(monitor-edc), then target_link_libraries(app PRIVATE monitor::edc): the header's directory, no library.
if(NOT TARGET monitor::edc)
  get_filename_component(_monitor_edc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(monitor::edc INTERFACE IMPORTED)
  set_target_properties(monitor::edc PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_monitor_edc_prefix}/include")
  unset(_monitor_edc_prefix)
endif()
