//===- Main.cpp - the main of a tool that is a program of its own ---------===//
#include "tools/Tools.h"

// MP_TOOL_MAIN is set for each tool by CMakeLists.txt.
int main(int argc, char **argv) { return mp::tool::MP_TOOL_MAIN(argc, argv); }
