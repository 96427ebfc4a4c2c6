# cmake -D FROM=text -D TO=source.cpp -D NAMESPACE=a::b -D NAME=kText -P EmbedText.cmake
# Writes a source file with the text of another as a constant.

file(READ "${FROM}" text)
file(WRITE "${TO}" "namespace ${NAMESPACE} {
extern const char* const ${NAME};
const char* const ${NAME} = R\"--text--(${text})--text--\";
}
")
