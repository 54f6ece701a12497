# Run by `cmake --install`, before its results are copied from SLIPRING_TO: pages without links to what is not installed,
# and the unit with the full path of the program.
file(REMOVE_RECURSE ${SLIPRING_TO})
file(GLOB_RECURSE pages RELATIVE ${SLIPRING_FROM} ${SLIPRING_FROM}/docs/*.md ${SLIPRING_FROM}/examples/*.md)
foreach(page IN LISTS pages ITEMS README.md SECURITY.md CHANGELOG.md CONTRIBUTING.md)
    file(READ ${SLIPRING_FROM}/${page} text)
    string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)*(src|tests|scripts|bench|include|tools|cmake|\\.ci)(/[^)]*)?\\)" "\\1" text "${text}")
    file(WRITE ${SLIPRING_TO}/doc/${page} "${text}")
endforeach()
file(READ ${SLIPRING_FROM}/examples/cluster/slipring-serve@.service unit)
string(REPLACE "ExecStart=slipring " "ExecStart=${CMAKE_INSTALL_PREFIX}/${SLIPRING_BINDIR}/slipring " unit "${unit}")
file(WRITE ${SLIPRING_TO}/slipring-serve@.service "${unit}")
