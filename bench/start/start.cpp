// examples/classifier.cpp, which with an argument ends where it would begin.
//
//   bench_start [stop]
#define main classifier_main
#include "../../examples/classifier.cpp"
#undef main

int main(int argc, char**) { return argc > 1 ? 0 : classifier_main(); }
