//===- mp-diff.cpp - one graph under two policies -------------------------===//
#include "tools/Tools.h"
#include "tools/common/NamedModels.h"
#include "tools/common/Tool.h"
#include "tools/diff/Diff.h"

int mp::tool::diffMain(int argc, char **argv) {
  nameModels();
  return runTool("mp-diff", argc, argv, diff);
}
