//===- random-graph-test.cpp - fused ops equal separate ones --------------===//
//
// Random graphs, compiled as one function, against the same ops compiled one by
// one. `--gtest_random_seed=N` selects other graphs.
//
//===----------------------------------------------------------------------===//
#include "RandomGraph.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mp;
using namespace llvm;

namespace {

/// A graph compiled as one function, ready to run.
struct GraphRun {
  std::unique_ptr<Session> session;
  std::vector<std::string> bytes; ///< of arguments, which may be results
  Executable *executable = nullptr;
  Executable::Results results = {}; ///< of the last run

  static Expected<GraphRun> create(const RandomGraph &graph) {
    CompileOptions options;
    options.filename = "graph.mlir";
    options.goal = Goal::Run;
    options.mode = Mode::Train; // so that variables are written
    Expected<Program> program = compile(graph.module(), options);
    if (!program)
      return program.takeError();
    Expected<std::unique_ptr<Session>> session =
        Session::create({/*threads=*/1});
    if (!session)
      return session.takeError();
    GraphRun run{std::move(*session), {}};
    if (Error error = run.session->load(std::move(*program)))
      return std::move(error);
    run.executable = run.session->find("f", 0);
    if (!run.executable)
      return createStringError("the session does not find @f");
    return run;
  }

  void operator()(const RandomGraph &graph) {
    for (const RandomGraph::Variable &variable : graph.variables) {
      const GraphValue &value = graph.values[variable.read];
      std::string packed = pack(value.numbers, value.type.element);
      cantFail(session->write(nameOf(value), {packed.data(), packed.size()}));
    }
    for (unsigned argument : graph.arguments)
      bytes.push_back(pack(graph.values[argument].numbers,
                           graph.values[argument].type.element));
    std::vector<TensorView> views;
    for (auto [argument, packed] : zip_equal(graph.arguments, bytes))
      views.emplace_back(graph.values[argument].type.element, packed);
    results = cantFail(executable->run(views, Executable::Ranges::Known));
  }

  static StringRef nameOf(const GraphValue &variable) {
    return StringRef(variable.name).drop_front();
  }
  std::vector<char> read(const GraphValue &variable) const {
    std::vector<char> stored(variable.type.bytes());
    cantFail(session->read(nameOf(variable), stored));
    return stored;
  }
};

void expectNear(const void *bytes, const GraphValue &wanted, StringRef what) {
  Numbers got = unpack(bytes, wanted.type);
  for (auto [i, number] : enumerate(wanted.numbers)) {
    bool equal = got[i] == number || (std::isnan(got[i]) && std::isnan(number));
    if (equal || std::abs(got[i] - number) <= wanted.slack)
      continue;
    ADD_FAILURE() << what.str() << " (" << wanted.name << ", element " << i
                  << ") is " << got[i] << ", its ops one by one give " << number
                  << " within " << wanted.slack;
    return;
  }
}

class RandomGraphTest : public testing::TestWithParam<unsigned> {};

TEST_P(RandomGraphTest, FusedAsAlone) {
  constexpr unsigned graphs = 40;
  for (unsigned i = 0; i < graphs; ++i) {
    unsigned seed =
        1000 * GTEST_FLAG_GET(random_seed) + GetParam() * graphs + i;
    Expected<RandomGraph> graph = RandomGraph::create(seed);
    ASSERT_TRUE(static_cast<bool>(graph)) << toString(graph.takeError());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph->module());
    Expected<GraphRun> run = GraphRun::create(*graph);
    if (!run) {
      ADD_FAILURE() << toString(run.takeError());
      continue;
    }
    (*run)(*graph);
    for (auto [j, result] : enumerate(graph->results))
      expectNear(run->results[j].data(), graph->values[result],
                 "result " + std::to_string(j));
    for (const RandomGraph::Variable &variable : graph->variables) {
      bool written = variable.written &&
                     (!variable.predicate ||
                      graph->values[*variable.predicate].numbers[0] != 0);
      GraphValue wanted =
          graph->values[written ? *variable.written : variable.read];
      wanted.name = graph->values[variable.read].name;
      expectNear(run->read(wanted).data(), wanted, "variable");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphTest, testing::Range(0u, 8u));

} // namespace
