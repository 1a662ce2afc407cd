# Called by winnow_embed(): turns text files into a C++ source of string literals.
separate_arguments(FILES UNIX_COMMAND "${FILES}")
set(text "#include \"base/embedded_file.h\"\n\nnamespace ${NAMESPACE} {\nconst std::vector<winnow::EmbeddedFile>& embedded_files() {\n  static const std::vector<winnow::EmbeddedFile> files{\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  # Adjacent literals keep each one short, which compilers and editors prefer.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)" "\"\\1\"\n" escaped "${escaped}")
  string(LENGTH "${hex}" length)
  math(EXPR length "${length} / 2")
  string(APPEND text "      {\"${file}\", std::string_view(\n${escaped}\"\", ${length})},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n} // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
