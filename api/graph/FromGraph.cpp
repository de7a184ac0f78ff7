//===- FromGraph.cpp - modules of the graph DSL ---------------------------===//
#include "dsl/Graph.h"
#include "mantissa.h"

using namespace llvm;

namespace mantissa {

Expected<Module> Module::fromGraph(const Graph &graph) {
  auto text = graph.text();
  if (!text)
    return text.takeError();
  return parse(*text, "<graph>");
}

} // namespace mantissa
