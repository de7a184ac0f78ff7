//===- graph-record-test.cpp - graphs of checkpoints, compared ------------===//
#include "runtime/train/GraphRecord.h"
#include "gtest/gtest.h"
#include <random>

using namespace mp;

namespace {

SourceOp op(std::string name, std::vector<int64_t> operands = {}) {
  return {std::move(name), "(f) -> f", std::move(operands)};
}

std::vector<SourceOp> chain(std::vector<std::string> names) {
  std::vector<SourceOp> graph;
  for (std::string &name : names)
    graph.push_back(op(std::move(name), {int64_t(graph.size())}));
  return graph;
}

std::vector<std::string> differences(const std::vector<SourceOp> &before,
                                     const std::vector<SourceOp> &now) {
  std::vector<std::string> texts;
  for (const GraphDifference &difference : compareGraphs(before, now))
    texts.push_back(difference.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(GraphRecord, EqualGraphsDoNotDiffer) {
  auto graph = chain({"a", "b", "c"});
  EXPECT_EQ(differences(graph, graph), Texts());
  auto moved = graph;
  moved[1].location = {"f.mlir", 3, 4};
  EXPECT_EQ(differences(graph, moved), Texts());
}

TEST(GraphRecord, AnOpThatWasPutInIsOneDifference) {
  EXPECT_EQ(differences(chain({"a", "b", "c"}), chain({"a", "x", "b", "c"})),
            Texts({"x is not in the checkpoint's graph"}));
  EXPECT_EQ(differences(chain({"a", "b", "c"}), chain({"a", "c"})),
            Texts({"the checkpoint's b is missing"}));
}

TEST(GraphRecord, ChangesInSeveralPlacesAreToldOneByOne) {
  EXPECT_EQ(
      differences(chain({"a", "b", "c", "d", "e", "f"}),
                  chain({"a", "x", "c", "d", "f", "g"})),
      Texts({"x instead of the checkpoint's b", "the checkpoint's e is missing",
             "g is not in the checkpoint's graph"}));
}

TEST(GraphRecord, TypesAndAttributesAreNamed) {
  SourceOp before = op("a"), now = op("a");
  before.attributes = {{"k", "1"}, {"gone", "2"}, {"same", "3"}};
  now.attributes = {{"k", "2"}, {"new", "4"}, {"same", "3"}};
  now.type = "(g) -> g";
  now.location = {"f.mlir", 3, 4};
  EXPECT_EQ(differences({before}, {now}),
            Texts({"a (f.mlir:3:4) is (g) -> g, (f) -> f in the checkpoint",
                   "a (f.mlir:3:4): gone is absent, 2 in the checkpoint",
                   "a (f.mlir:3:4): k is 2, 1 in the checkpoint",
                   "a (f.mlir:3:4): new is 4, absent in the checkpoint"}));
}

TEST(GraphRecord, OperandsAreComparedWhereAllElseIsEqual) {
  auto before = chain({"a", "b", "c"}), now = before;
  now[2].operands = {0};
  EXPECT_EQ(differences(before, now),
            Texts({"c takes other values than in the checkpoint"}));
}

TEST(GraphRecord, HyperparametersAreThoseOfTheSameOptimizer) {
  auto differs = [](std::string attribute, std::string a, std::string b) {
    SourceOp before = op("mp.minimize"), now = before;
    before.attributes = {{attribute, a}};
    now.attributes = {{attribute, b}};
    return compareGraphs({before}, {now}).at(0).isHyperparameter;
  };
  EXPECT_TRUE(differs("optimizer", "#mp.sgd<lr = 1>", "#mp.sgd"));
  EXPECT_TRUE(differs("schedule", "#mp.linear", "#mp.cosine"));
  EXPECT_FALSE(differs("optimizer", "#mp.sgd", "#mp.lion"));
  EXPECT_FALSE(differs("ema", "0.9", "0.99"));
}

TEST(GraphRecord, GraphsTooDifferentForATableAreStillCompared) {
  std::vector<SourceOp> before, now;
  for (int i = 0; i < 6000; ++i) {
    before.push_back(op("a" + std::to_string(i)));
    now.push_back(op("b" + std::to_string(i)));
  }
  EXPECT_EQ(compareGraphs(before, now).size(), 6000u);
}

/// No two graphs that differ are taken for equal, and none differs from itself.
TEST(GraphRecord, RandomGraphs) {
  std::mt19937 random(1);
  auto graph = [&] {
    std::vector<SourceOp> ops;
    for (size_t i = 0, size = random() % 6; i < size; ++i) {
      SourceOp &made = ops.emplace_back(op(std::string(1, 'a' + random() % 2)));
      made.operands = {int64_t(random() % 2)};
      if (random() % 2)
        made.attributes = {{"k", std::to_string(random() % 2)}};
    }
    return ops;
  };
  int equal = 0;
  for (int i = 0; i < 20000; ++i) {
    auto a = graph(), b = graph();
    EXPECT_EQ(differences(a, b).empty(), a == b);
    EXPECT_EQ(parseGraph(graphToText(a)), a);
    equal += a == b;
  }
  EXPECT_GT(equal, 500);
}

TEST(GraphRecord, ReadsNoMalformedText) {
  for (llvm::StringRef text :
       {"", "{}", "[1]", "[[]]", R"([["a","t",[],{},0]])", R"([[1,"t",[],{}]])",
        R"([["a",2,[],{}]])", R"([["a","t",{},{}]])", R"([["a","t",["0"],{}]])",
        R"([["a","t",[],[]]])", R"([["a","t",[],{"k":1}]])"})
    EXPECT_FALSE(parseGraph(text)) << text.str();
  EXPECT_TRUE(parseGraph(R"([["a","t",[0],{"k":"v"}]])"));
}

} // namespace
