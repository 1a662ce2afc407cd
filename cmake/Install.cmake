# What `cmake --install` and `cpack -G DEB` install. The program finds its data in ../share/winnow.
include(GNUInstallDirs)

set(data ${CMAKE_INSTALL_DATADIR}/winnow)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/winnow)
install(TARGETS winnow RUNTIME)
if(WINNOW_NATS) # the program looks for the library there
  install(TARGETS winnow_nats LIBRARY DESTINATION lib/winnow)
endif()
install(DIRECTORY tasks/catalogue DESTINATION ${data}/tasks)
install(DIRECTORY configs skills DESTINATION ${data})
install(FILES python/winnow_client.py DESTINATION ${data}/python)
install(DIRECTORY python/examples python/winnow_forms DESTINATION ${data}/python PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${doc})
install(DIRECTORY docs DESTINATION ${doc})
install(FILES LICENSE DESTINATION ${doc} RENAME copyright)
install(FILES ${PROJECT_BINARY_DIR}/winnow.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/winnow.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME winnow)
install(FILES ${PROJECT_BINARY_DIR}/winnow.zsh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _winnow)

# `cpack -G DEB` needs the packages dpkg-dev and file.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Winnow <winnow@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "gets language models to write GPU kernels, and proves which are good")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The CPU device compiles at run time; libcurl is loaded at run time.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "bubblewrap, clang | g++, binutils, ca-certificates, libcurl4t64 | libcurl4")
include(CPack)
