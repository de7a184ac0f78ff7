//===- mp-zoo.cpp - known networks as modules -----------------------------===//
#include "tools/Tools.h"
#include "tools/common/Tool.h"
#include "tools/zoo/Zoo.h"

int mp::tool::zooMain(int argc, char **argv) {
  return runTool("mp-zoo", argc, argv, zoo);
}
