# `cmake --install build` gives headers, libraries and find_package(Tidemark).
# A wheel takes the component `python` alone.

if(NOT TARGET tidemark)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Tidemark")

install(TARGETS tidemark EXPORT TidemarkTargets COMPONENT dev
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT TidemarkTargets NAMESPACE Tidemark:: DESTINATION "${package_folder}" COMPONENT dev)
set(header_folders "${PROJECT_SOURCE_DIR}/include/tidemark" "${PROJECT_BINARY_DIR}/include/tidemark")
foreach(folder IN LISTS header_folders)
  install(DIRECTORY "${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
    FILES_MATCHING PATTERN "*.h")
endforeach()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/TidemarkConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/TidemarkConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TidemarkConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TidemarkConfig.cmake"
  "${PROJECT_BINARY_DIR}/TidemarkConfigVersion.cmake"
  DESTINATION "${package_folder}" COMPONENT dev)
foreach(plugin IN LISTS TIDEMARK_PLUGINS)
  install(TARGETS ${plugin} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
endforeach()

if(TARGET tidemark-serve)
  install(TARGETS tidemark-serve RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT dev)
endif()

if(TARGET _tidemark)
  if(TARGET tidemark-serve)
    install(TARGETS tidemark-serve RUNTIME DESTINATION tidemark COMPONENT python EXCLUDE_FROM_ALL)
  endif()
  foreach(library tidemark ${TIDEMARK_PLUGINS} _tidemark)
    if(TARGET ${library})
      install(TARGETS ${library} LIBRARY DESTINATION tidemark COMPONENT python EXCLUDE_FROM_ALL)
    endif()
  endforeach()
  foreach(folder IN LISTS header_folders)
    install(DIRECTORY "${folder}" DESTINATION tidemark/include COMPONENT python EXCLUDE_FROM_ALL
      FILES_MATCHING PATTERN "*.h")
  endforeach()
elseif(SKBUILD)
  message(FATAL_ERROR "A wheel needs the Python extension: nanobind and Python's headers")
endif()
