//===- DriverGraph.cpp - graphs -------------------------------------------===//

#include "Driver.h"
#include "Graph.h"
#include "Module.h"

#include <algorithm>
#include <set>

using namespace mp::emulator;

namespace {
struct Graphs {
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> execs;
};
} // namespace
static Graphs &all() {
  static auto *graphs = new Graphs;
  return *graphs;
}

namespace mp::emulator {
size_t graphCount() { return all().graphs.size() + all().execs.size(); }
void clearGraphs() {
  for (CUgraph graph : all().graphs)
    delete graph;
  for (CUgraphExec exec : all().execs)
    delete exec;
  all() = Graphs();
}
} // namespace mp::emulator

template <typename Body>
static CUresult callGraph(const char *name, CUgraph graph, Body body,
                          const std::string &details = {}) {
  return call(name, details, [&] {
    return all().graphs.count(graph) ? body() : CUDA_ERROR_INVALID_HANDLE;
  });
}

MP_EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned) {
  return call("cuGraphCreate", "", [&] {
    *graph = new Graph;
    all().graphs.insert(*graph);
    return CUDA_SUCCESS;
  });
}

MP_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  return callGraph("cuGraphDestroy", graph, [&] {
    all().graphs.erase(graph);
    delete graph;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static CUresult addNode(CUgraphNode *node, CUgraph graph,
                        const CUgraphNode *after, size_t count,
                        Operation work) {
  std::vector<GraphNode *> before(after, after + count);
  for (GraphNode *own : before)
    if (!graph->contains(own))
      return CUDA_ERROR_INVALID_VALUE;
  if (std::set<GraphNode *>(before.begin(), before.end()).size() != count)
    return CUDA_ERROR_INVALID_VALUE;
  *node = graph->add(std::move(work), before);
  return CUDA_SUCCESS;
}

static CUresult launchOf(const CUDA_KERNEL_NODE_PARAMS_v2 &node,
                         std::shared_ptr<Launch> *launch) {
  *launch = std::make_shared<Launch>();
  if (!node.func || node.extra)
    return CUDA_ERROR_INVALID_VALUE;
  return makeLaunch(node.func, {node.gridDimX, node.gridDimY, node.gridDimZ},
                    {node.blockDimX, node.blockDimY, node.blockDimZ},
                    node.sharedMemBytes, node.kernelParams, launch->get());
}

static Operation runOf(std::shared_ptr<Launch> launch) {
  return [launch = std::move(launch)] { return runGrid(*launch); };
}

MP_EXPORT CUresult cuGraphAddKernelNode_v2(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
    const CUDA_KERNEL_NODE_PARAMS_v2 *parameters) {
  return callGraph(
      "cuGraphAddKernelNode", graph,
      [&] {
        std::shared_ptr<Launch> launch;
        CUresult error = launchOf(*parameters, &launch);
        if (error == CUDA_SUCCESS)
          error = addNode(node, graph, after, count, runOf(launch));
        if (error == CUDA_SUCCESS)
          (*node)->launch = launch;
        return error;
      },
      parameters->func ? format("name=%s", parameters->func->entry->name) : "");
}

/// Of all attributes there is one: whether the blocks run at once.
MP_EXPORT CUresult cuGraphKernelNodeSetAttribute(
    CUgraphNode node, int attribute, const CUlaunchAttributeValue *value) {
  return call("cuGraphKernelNodeSetAttribute", "", [&] {
    if (!node->launch || attribute != CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      return CUDA_ERROR_INVALID_VALUE;
    Launch &launch = *node->launch;
    launch.cooperative = value->cooperative != 0;
    auto threads = launch.block.x * launch.block.y * launch.block.z;
    auto blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    bool fits = blocks <= mostBlocksAtOnce(threads, launch.sharedBytes);
    return !launch.cooperative || fits
               ? CUDA_SUCCESS
               : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  });
}

MP_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                                        const CUgraphNode *after, size_t count,
                                        const CUDA_MEMCPY3D *copy, CUcontext) {
  return callGraph(
      "cuGraphAddMemcpyNode", graph,
      [&] {
        // Only one row is supported: a runtime without images needs no more.
        if (copy->Height != 1 || copy->Depth != 1 || copy->srcY || copy->srcZ ||
            copy->dstY || copy->dstZ)
          return CUDA_ERROR_INVALID_VALUE;
        bool toDevice = copy->dstMemoryType != MemoryHost;
        bool fromDevice = copy->srcMemoryType != MemoryHost;
        void *to = toDevice ? reinterpret_cast<void *>(copy->dstDevice)
                            : copy->dstHost;
        const void *from = fromDevice
                               ? reinterpret_cast<void *>(copy->srcDevice)
                               : copy->srcHost;
        return addNode(
            node, graph, after, count,
            copyOperation(static_cast<char *>(to) + copy->dstXInBytes,
                          static_cast<const char *>(from) + copy->srcXInBytes,
                          copy->WidthInBytes, toDevice, fromDevice));
      },
      format("bytes=%zu", copy->WidthInBytes));
}

MP_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                                        const CUgraphNode *after, size_t count,
                                        const CUDA_MEMSET_NODE_PARAMS *fill,
                                        CUcontext) {
  return callGraph("cuGraphAddMemsetNode", graph, [&] {
    if (fill->elementSize != 1 && fill->elementSize != 2 &&
        fill->elementSize != 4)
      return CUDA_ERROR_INVALID_VALUE;
    return addNode(node, graph, after, count,
                   fillOperation(reinterpret_cast<void *>(fill->dst),
                                 fill->value, fill->elementSize, fill->width,
                                 fill->height, fill->pitch));
  });
}

MP_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph,
                                       const CUgraphNode *after, size_t count) {
  return callGraph("cuGraphAddEmptyNode", graph,
                   [&] { return addNode(node, graph, after, count, nullptr); });
}

MP_EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                             const CUgraphNode *after,
                                             size_t count, CUevent event) {
  return callGraph("cuGraphAddEventRecordNode", graph, [&] {
    if (!isEvent(event))
      return CUDA_ERROR_INVALID_HANDLE;
    // If no stream has recorded the event, its time is that of the graph.
    event->time = std::make_shared<std::chrono::steady_clock::time_point>();
    return addNode(node, graph, after, count, [time = event->time] {
      *time = std::chrono::steady_clock::now();
      return CUDA_SUCCESS;
    });
  });
}

MP_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
                                            const CUgraphNode *after,
                                            size_t count, CUgraph child) {
  return callGraph("cuGraphAddChildGraphNode", graph, [&] {
    if (!all().graphs.count(child))
      return CUDA_ERROR_INVALID_HANDLE;
    auto copy = std::make_shared<GraphExec>(*child);
    return addNode(node, graph, after, count, [copy] { return copy->run(); });
  });
}

MP_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes,
                                   size_t *count) {
  return callGraph("cuGraphGetNodes", graph, [&] {
    size_t room = nodes ? *count : 0;
    *count = graph->nodes.size();
    for (size_t at = 0; at < std::min(room, *count); ++at)
      nodes[at] = graph->nodes[at].get();
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

template <typename Body>
static CUresult callExec(const char *name, CUgraphExec exec, Body body) {
  return call(name, "", [&] {
    return all().execs.count(exec) ? body() : CUDA_ERROR_INVALID_HANDLE;
  });
}

MP_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                               unsigned long long) {
  return callGraph("cuGraphInstantiate", graph, [&] {
    *exec = new GraphExec(*graph);
    all().execs.insert(*exec);
    log(format("graph=%d nodes=%zu", (*exec)->id, (*exec)->nodes.size()));
    return CUDA_SUCCESS;
  });
}
MP_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
                                         CUgraphNode *, char *, size_t) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}

MP_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return callExec("cuGraphExecDestroy", exec, [&] {
    CUresult error = waitForAll();
    all().execs.erase(exec);
    delete exec;
    return error;
  });
}

MP_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec exec, CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS_v2 *parameters) {
  return callExec("cuGraphExecKernelNodeSetParams", exec, [&] {
    auto place = exec->places.find(node);
    if (place == exec->places.end())
      return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Launch> launch;
    CUresult error = launchOf(*parameters, &launch);
    // Queued launches still run with their old parameters.
    if (error == CUDA_SUCCESS)
      error = waitForAll();
    if (error == CUDA_SUCCESS)
      exec->nodes[place->second].work = runOf(std::move(launch));
    return error;
  });
}

MP_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream) {
  return callExec("cuGraphUpload", exec, [] { return CUDA_SUCCESS; });
}

MP_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  return callOn(handle, "cuGraphLaunch", "",
                [&](const std::shared_ptr<Stream> &stream) {
                  if (!all().execs.count(exec))
                    return CUDA_ERROR_INVALID_HANDLE;
                  ++graphsLaunched();
                  return submit(stream, [exec] { return exec->run(); });
                });
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

MP_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, int) {
  return callOn(handle, "cuStreamBeginCapture", "",
                [&](const std::shared_ptr<Stream> &stream) {
                  if (stream->capture || !handle)
                    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                  stream->capture = new Graph;
                  stream->captureOrigin = true;
                  all().graphs.insert(stream->capture);
                  return CUDA_SUCCESS;
                });
}

MP_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return callOn(handle, "cuStreamEndCapture", "",
                [&](const std::shared_ptr<Stream> &stream) {
                  if (!stream->capture || !stream->captureOrigin)
                    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
                  *graph = stream->capture;
                  return endCapture(*graph, stream->captureTail)
                             ? CUDA_SUCCESS
                             : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
                });
}

MP_EXPORT CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  return callOn(handle, "cuStreamIsCapturing", "",
                [&](const std::shared_ptr<Stream> &stream) {
                  *status = stream->capture ? 1 : 0;
                  return CUDA_SUCCESS;
                });
}
