# SPDX-License-Identifier: MIT
# Keys, certificates and configurations of a fleet: made, and read.
add_library(monitor_fleet_keys STATIC
  ${CMAKE_CURRENT_LIST_DIR}/authority.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fleet_directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fleet_keys.cpp
  ${CMAKE_CURRENT_LIST_DIR}/key_folders.cpp
  ${CMAKE_CURRENT_LIST_DIR}/server_configuration.cpp)
target_link_libraries(monitor_fleet_keys PUBLIC monitor_fleet_control PRIVATE compiled_fmt OpenSSL::Crypto)
