#include "fuzzer.h"

int main(int count, char** words) { return tidemark::fuzz::run_fuzzer(count, words); }
