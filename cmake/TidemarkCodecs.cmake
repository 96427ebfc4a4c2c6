# libtidemark_codecs.so: images by libpng and libjpeg-turbo, compressed bytes by zlib. Opened with
# dlopen on the first image; like libtidemark_dnnl.so it does not link libtidemark.so.

file(GLOB codec_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/tidemark/base/codecs/plugin/*.cpp")
find_package(PNG QUIET)
find_package(JPEG QUIET)
find_package(ZLIB QUIET)

if(PNG_FOUND AND JPEG_FOUND AND ZLIB_FOUND AND codec_sources)
  add_library(tidemark_codecs SHARED ${codec_sources})
  target_link_libraries(tidemark_codecs PRIVATE tidemark_flags PNG::PNG JPEG::JPEG ZLIB::ZLIB)
  target_link_options(tidemark_codecs PRIVATE -Wl,-Bsymbolic)
  list(APPEND TIDEMARK_PLUGINS tidemark_codecs)
  if(TARGET tidemark)
    add_dependencies(tidemark tidemark_codecs)
  endif()
else()
  message(STATUS "Tidemark: without image files (install libpng-dev and libjpeg-dev)")
endif()
