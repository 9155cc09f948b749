# SPDX-License-Identifier: MIT
# The picture of a trace, as a page that a browser draws.
set(page_names index.html view.css text.js source.js colours.js overview.js lanes.js lines.js table.js cases.js story.js kiviat.js compare.js hosts.js stage.js scenes.js main.js)
set(page_texts "")
set(page_rows "")
foreach(name ${page_names})
  set(file ${CMAKE_CURRENT_LIST_DIR}/page/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  if(name MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  elseif(name MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  else()
    set(type "text/html; charset=utf-8")
  endif()
  string(APPEND page_texts "constexpr std::string_view ${identifier} = R\"page_file(${text})page_file\";\n")
  string(APPEND page_rows "    {\"${name}\", \"${type}\", ${identifier}},\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/page_files.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/view/page_files.cpp @ONLY)

add_library(monitor_view STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activity_lanes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/compared.cpp
  ${CMAKE_CURRENT_LIST_DIR}/groups.cpp
  ${CMAKE_CURRENT_LIST_DIR}/hosts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lane.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loading.cpp
  ${CMAKE_CURRENT_LIST_DIR}/picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/picture_cache.cpp
  ${CMAKE_CURRENT_LIST_DIR}/picture_parts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene_json.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scenes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/story.cpp
  ${CMAKE_CURRENT_LIST_DIR}/table_json.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/timeline.cpp
  ${CMAKE_CURRENT_LIST_DIR}/view.cpp
  ${CMAKE_CURRENT_LIST_DIR}/window.cpp
  ${CMAKE_CURRENT_BINARY_DIR}/view/page_files.cpp)
target_link_libraries(monitor_view PUBLIC monitor_http monitor_diff monitor_play monitor_report monitor_selection PRIVATE z) # by name: also into a static program
