# Called by winnow_embed(). Turns text files into a C++ source with string literals.
set(text "#include \"base/embedded_file.h\"\n\nnamespace ${NAMESPACE} {\nconst std::vector<winnow::EmbeddedFile>& embedded_files() {\n  static const std::vector<winnow::EmbeddedFile> files{\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} hex HEX)
  # 16 bytes per literal: compilers and editors prefer several short adjacent literals.
  string(REGEX REPLACE "(................................)" "\\1\"\n\"" escaped "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${escaped}")
  set(escaped "\"${escaped}\"\n")
  string(LENGTH "${hex}" length)
  math(EXPR length "${length} / 2")
  string(APPEND text "      {\"${file}\", std::string_view(\n${escaped}\"\", ${length})},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n} // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
