# `cmake --install build` gives headers, libraries, find_package(Tidemark) and pkg-config files;
# `cpack` a Debian package of the same. A wheel takes the component `python` alone.

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
# pkg-config --cflags --libs tidemark, or tidemark-serve
function(tidemark_install_pc name description library requires)
  set(TIDEMARK_PC_NAME "${name}")
  set(TIDEMARK_PC_DESCRIPTION "${description}")
  set(TIDEMARK_PC_LIBRARY "${library}")
  set(TIDEMARK_PC_REQUIRES "${requires}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/tidemark.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endfunction()
tidemark_install_pc(tidemark "Tensor programs whose memory never surprises anyone" -ltidemark "")

foreach(plugin IN LISTS TIDEMARK_PLUGINS)
  install(TARGETS ${plugin} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
endforeach()

if(TARGET tidemark-serve)
  install(TARGETS tidemark-serve RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT dev)
  install(TARGETS tidemark_serve EXPORT TidemarkTargets COMPONENT dev
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  tidemark_install_pc(tidemark-serve "Tidemark's model server, as a library" -ltidemark_serve tidemark)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME libtidemark-dev)
  set(CPACK_PACKAGE_VENDOR Tidemark)
  set(CPACK_PACKAGE_CONTACT "The Tidemark maintainers <maintainers@tidemark.invalid>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensor programs whose memory never surprises anyone (C++)")
  set(CPACK_GENERATOR DEB)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL dev)
  set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtidemark-dev)
  set(CPACK_DEBIAN_DEV_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # They stand in this package: not to be looked for in others.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_PACKAGE_DIRECTORY "${PROJECT_SOURCE_DIR}/dist")
  include(CPack)
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
