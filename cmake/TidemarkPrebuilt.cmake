# Packages a finished build folder as the wheel's component `python`; compiles nothing.

set(TIDEMARK_PREBUILT_EXTENSION "" CACHE FILEPATH "The extension, where it is for another Python")
set(prebuilt_extension "${TIDEMARK_PREBUILT_EXTENSION}")
if(NOT prebuilt_extension)
  file(GLOB prebuilt_extension "${TIDEMARK_PREBUILT}/python/tidemark/_tidemark*.so")
endif()
if(NOT prebuilt_extension)
  message(FATAL_ERROR "${TIDEMARK_PREBUILT} holds no Python extension; build it first: ./dev build")
endif()
file(GLOB prebuilt_libraries "${TIDEMARK_PREBUILT}/libtidemark*.so"
  "${TIDEMARK_PREBUILT}/tidemark-serve")
# For C++ programs alone; Python starts tidemark-serve.
list(FILTER prebuilt_libraries EXCLUDE REGEX "/libtidemark_serve\\.so$")
install(PROGRAMS ${prebuilt_extension} ${prebuilt_libraries} DESTINATION tidemark COMPONENT python)
foreach(folder "${PROJECT_SOURCE_DIR}/include/tidemark" "${TIDEMARK_PREBUILT}/include/tidemark")
  install(DIRECTORY "${folder}" DESTINATION tidemark/include COMPONENT python OPTIONAL
    FILES_MATCHING PATTERN "*.h")
endforeach()
