//===- Tools.h - the tools as functions -----------------------------------===//
//
// Each function is the whole of one tool, so that it can be a program of its
// own or one of several in the portable program. They take main's arguments and
// return the exit code.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TOOLS_TOOLS_H
#define MP_TOOLS_TOOLS_H

namespace mp::tool {
int optMain(int argc, char **argv);
int translateMain(int argc, char **argv);
int runMain(int argc, char **argv);
int diffMain(int argc, char **argv);
int lspserverMain(int argc, char **argv);
int reduceMain(int argc, char **argv);
int dataMain(int argc, char **argv);
int zooMain(int argc, char **argv);
int fuzzdriverMain(int argc, char **argv); // test/fuzz/Driver.cpp
} // namespace mp::tool

#endif // MP_TOOLS_TOOLS_H
