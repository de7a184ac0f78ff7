//===- policy-table-test.cpp - each preset against its system -------------===//
//
// The categories of an op in PyTorch, TensorFlow, Apex and TVM, row by row,
// written down from their documentation and not from the presets' lists. An op
// that a system lacks has the category of ops that the system does not know.
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"
#include "passes/autocast/Policy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace llvm;
using namespace mp;

namespace {

constexpr StringRef columns[] = {"torch",   "torch-cpu", "tf-fp16", "tf-bf16",
                                 "apex-o1", "relay",     "relax"};
struct Row {
  StringRef ops;
  StringRef categories[std::size(columns)];
};
const Row rows[] = {
    {"linear matmul",
     {"allow", "allow", "allow", "allow", "allow", "allow", "allow"}},
    {"conv2d conv_transpose2d",
     {"allow", "allow", "allow", "allow", "allow", "allow", "allow"}},
    // PyTorch casts the forward op, and its gradients have the types that it
    // chose.
    {"conv2d_backward_input",
     {"native", "native", "allow", "allow", "native", "allow", "allow"}},
    {"conv2d_backward_weight",
     {"native", "native", "allow", "allow", "native", "follow", "deny"}},
    {"add mul div",
     {"native", "native", "infer", "infer", "promote", "follow", "follow"}},
    {"relu",
     {"native", "native", "clear", "clear", "native", "follow", "follow"}},
    {"gelu",
     {"native", "native", "infer", "infer", "deny", "follow", "follow"}},
    {"sigmoid tanh sqrt",
     {"native", "native", "infer", "infer", "native", "follow", "follow"}},
    {"exp", {"deny", "native", "deny", "deny", "deny", "deny", "follow"}},
    {"pow", {"deny", "native", "deny", "deny", "deny", "deny", "follow"}},
    {"log", {"deny", "native", "infer", "infer", "deny", "follow", "follow"}},
    {"rsqrt",
     {"deny", "native", "barrier", "infer", "deny", "follow", "follow"}},
    {"softmax", {"result", "native", "infer", "infer", "deny", "deny", "deny"}},
    {"log_softmax",
     {"result", "native", "infer", "infer", "deny", "follow", "deny"}},
    {"layer_norm",
     {"deny", "native", "deny", "infer", "deny", "deny", "follow"}},
    {"batch_norm batch_norm_inference",
     {"native", "native", "infer", "infer", "native", "follow", "deny"}},
    {"batch_norm_backward",
     {"native", "native", "infer", "infer", "native", "follow", "deny"}},
    {"relu_backward",
     {"native", "native", "clear", "clear", "native", "follow", "deny"}},
    {"sigmoid_backward tanh_backward softplus_backward elu_backward "
     "leaky_relu_backward",
     {"native", "native", "infer", "infer", "native", "follow", "deny"}},
    {"gelu_backward silu_backward softmax_backward log_softmax_backward "
     "layer_norm_backward group_norm_backward prod_backward "
     "cross_entropy_backward",
     {"native", "native", "barrier", "barrier", "native", "follow", "deny"}},
    {"sum", {"result", "native", "deny", "infer", "deny", "deny", "deny"}},
    {"mean", {"native", "native", "deny", "infer", "native", "deny", "deny"}},
    {"max min",
     {"native", "native", "clear", "clear", "native", "follow", "deny"}},
    {"cumsum",
     {"result", "native", "barrier", "barrier", "deny", "follow", "deny"}},
    {"prod", {"result", "deny", "infer", "infer", "deny", "follow", "deny"}},
    {"cross_entropy", {"deny", "deny", "deny", "deny", "deny", "deny", "deny"}},
    {"mse_loss", {"deny", "deny", "deny", "infer", "deny", "follow", "deny"}},
    {"binary_cross_entropy",
     {"banned", "deny", "deny", "infer", "banned", "follow", "deny"}},
    {"gather",
     {"native", "native", "clear", "clear", "native", "follow", "deny"}},
    {"reshape transpose",
     {"native", "native", "clear", "clear", "native", "follow", "follow"}},
    {"concat",
     {"native", "promote", "clear", "clear", "promote", "follow", "follow"}},
    {"max_pool2d",
     {"native", "native", "clear", "clear", "native", "follow", "follow"}},
    {"avg_pool2d",
     {"native", "native", "infer", "infer", "native", "follow", "follow"}},
    {"adaptive_avg_pool2d",
     {"native", "native", "barrier", "barrier", "native", "deny", "follow"}},
    {"local_response_norm",
     {"native", "native", "barrier", "barrier", "deny", "follow", "deny"}},
    {"upsample_nearest",
     {"deny", "native", "clear", "clear", "deny", "follow", "follow"}},
    {"upsample_bilinear",
     {"deny", "native", "barrier", "clear", "deny", "follow", "follow"}},
    {"dropout",
     {"native", "native", "barrier", "barrier", "native", "follow", "follow"}},
    {"scatter_add",
     {"promote", "native", "barrier", "clear", "native", "follow", "deny"}},
};

class PolicyTable : public testing::Test {
protected:
  PolicyTable() { context.loadDialect<MpDialect>(); }

  StringRef decide(const Policy &policy, StringRef op) {
    auto name =
        *mlir::RegisteredOperationName::lookup("mp." + op.str(), &context);
    auto *facts = name.getInterface<AutocastOpInterface>();
    return nameOf(policy
                      .decide(name.getStringRef(),
                              namesIn(policy.system(), *facts),
                              facts->getNumericClass())
                      .category);
  }

  mlir::MLIRContext context;
};

TEST_F(PolicyTable, HasTheSystemsRows) {
  for (auto [i, column] : enumerate(columns)) {
    Policy policy = cantFail(Policy::load(column));
    for (const Row &row : rows) {
      SmallVector<StringRef> ops;
      row.ops.split(ops, ' ');
      for (StringRef op : ops)
        EXPECT_EQ(decide(policy, op), row.categories[i])
            << op.str() << " under " << column.str();
    }
  }
}

/// Returns the category that a system's own lists give an op: the entry of its
/// name there, or of the strictest of its parts, or the rule for unlisted ops.
std::string expected(const json::Object &system, StringRef names) {
  StringRef strictness[] = {"banned",  "deny",  "result", "allow",
                            "promote", "infer", "follow", "clear"};
  SmallVector<StringRef> parts;
  names.split(parts, '+', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef category : strictness)
    if (const json::Array *list = system.getArray(category))
      for (const json::Value &entry : *list)
        if (is_contained(parts, *entry.getAsString()))
          return category.str();
  return system.getString("unlisted")->str();
}

// Judges every op of the dialect by the lists in the systems' sources. A new op
// is judged here once it is registered.
TEST_F(PolicyTable, HasTheSystemsListsForEveryOp) {
  auto buffer = MemoryBuffer::getFile(MP_GOLDENS_DIR "/autocast-lists.json");
  ASSERT_TRUE(bool(buffer));
  auto lists = json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(lists));
  size_t rows = 0;
  for (const auto &[preset, value] : *lists->getAsObject()) {
    const json::Object &system = *value.getAsObject();
    Policy policy = cantFail(Policy::load(preset));
    for (mlir::RegisteredOperationName op : decidedOps(&context)) {
      StringRef names = op.getInterface<AutocastOpInterface>()->getAutocastName(
          *system.getString("system"));
      EXPECT_EQ(decide(policy, op.stripDialect()), expected(system, names))
          << op.getStringRef().str() << " (" << names.str() << ") under "
          << StringRef(preset).str();
      ++rows;
    }
  }
  EXPECT_GE(rows, 8 * 90u);
}

/// Every name in a system's lists.
std::set<std::string> namesIn(const json::Object &system) {
  std::set<std::string> names;
  for (const auto &[key, value] : system)
    if (const json::Array *list = value.getAsArray())
      for (const json::Value &name : *list)
        names.insert(name.getAsString()->str());
  return names;
}

/// Returns TensorFlow's name for the gradient of an op that it has: ReluGrad,
/// FusedBatchNormGradV3.
std::string gradientOf(StringRef name) {
  StringRef stem = name.rtrim("0123456789");
  if (stem.size() == name.size() || !stem.consume_back("V"))
    return (name + "Grad").str();
  return (stem + "Grad" + name.drop_front(stem.size())).str();
}

// A backward op has the name of the system's gradient of the forward op if the
// lists have one, and otherwise none. HasTheSystemsListsForEveryOp uses the
// names that ops have, and cannot detect that one has another's.
TEST_F(PolicyTable, GivesBackwardOpsTheirNames) {
  auto buffer = MemoryBuffer::getFile(MP_GOLDENS_DIR "/autocast-lists.json");
  ASSERT_TRUE(bool(buffer));
  json::Value lists = cantFail(json::parse((*buffer)->getBuffer()));
  std::set<std::string> known =
      namesIn(*lists.getAsObject()->getObject("tf-fp16"));
  known.merge(namesIn(*lists.getAsObject()->getObject("tf-bf16")));
  ASSERT_TRUE(known.count("FusedBatchNormGradV3"));
  size_t pairs = 0, named = 0;
  for (mlir::RegisteredOperationName backward : decidedOps(&context)) {
    StringRef name = backward.getStringRef();
    if (!name.consume_back("_backward"))
      continue;
    auto forward = mlir::RegisteredOperationName::lookup(name, &context);
    ASSERT_TRUE(forward) << name.str();
    auto nameIn = [](mlir::RegisteredOperationName op, StringRef system) {
      return op.getInterface<AutocastOpInterface>()
          ->getAutocastName(system)
          .str();
    };
    std::string wanted = gradientOf(nameIn(*forward, "tensorflow"));
    if (!known.count(wanted))
      wanted = "";
    EXPECT_EQ(nameIn(backward, "tensorflow"), wanted) << name.str();
    // These systems list only ops that a user calls.
    for (StringRef system : {"torch", "relay", "relax"})
      EXPECT_EQ(nameIn(backward, system), "") << name.str();
    ++pairs;
    named += !wanted.empty();
  }
  EXPECT_GE(pairs, 18u);
  EXPECT_GE(named, 7u);
}

// A name of a system belongs to only one op, unless the system has one op for
// both, or makes both of the same ones.
TEST_F(PolicyTable, GivesANameOnce) {
  const std::set<std::set<StringRef>> shared = {
      // Relax has no linear: it multiplies by a transposed weight and adds.
      {"mp.linear", "mp.matmul"},
      // An argument says whether a norm trains.
      {"mp.batch_norm", "mp.batch_norm_inference"},
      // Made of the same ops in TensorFlow.
      {"mp.layer_norm", "mp.group_norm"},
      {"mp.smooth_l1_loss", "mp.huber_loss"},
      // A transposed convolution is the gradient of another's input.
      {"mp.conv_transpose2d", "mp.conv2d_backward_input"},
      // PyTorch has one op for all gradients of a convolution.
      {"mp.conv2d_backward_input", "mp.conv2d_backward_weight"},
      // TensorFlow's gradient of a maximum finds the maximum itself.
      {"mp.max_pool2d_backward", "mp.max_pool2d_index"},
      // An argument says how a resized image is made.
      {"mp.upsample_bilinear", "mp.upsample_nearest"},
      // TensorFlow sorts by taking all elements as the largest.
      {"mp.argsort", "mp.sort", "mp.top_k"},
  };
  for (StringRef system : {"torch", "tensorflow", "relay", "relax"}) {
    StringMap<std::set<StringRef>> ops;
    for (mlir::RegisteredOperationName op : decidedOps(&context))
      ops[op.getInterface<AutocastOpInterface>()->getAutocastName(system)]
          .insert(op.getStringRef());
    for (const auto &entry : ops)
      if (!entry.getKey().empty() && entry.second.size() > 1)
        EXPECT_TRUE(shared.count(entry.second))
            << system.str() << " " << entry.getKey().str() << ": "
            << join(entry.second, ", ");
  }
}

// PyTorch 2.12 changed this, and nothing else.
TEST_F(PolicyTable, Torch212HasRmsNormInF32) {
  Policy before = cantFail(Policy::load("torch")),
         since = cantFail(Policy::load("torch-2.12"));
  ASSERT_GT(decidedOps(&context).size(), 60u);
  for (mlir::RegisteredOperationName op : decidedOps(&context)) {
    StringRef name = op.stripDialect();
    if (name == "rms_norm") {
      EXPECT_EQ(decide(before, name), "native");
      EXPECT_EQ(decide(since, name), "deny");
    } else {
      EXPECT_EQ(decide(before, name), decide(since, name)) << name.str();
    }
  }
}

// These systems decide by layers or by the whole model.
TEST_F(PolicyTable, GoesByKind) {
  struct {
    StringRef policy, matmul, exp, batchNorm, layerNorm, loss;
  } cases[] = {
      {"apex-o0", "deny", "deny", "deny", "deny", "deny"},
      {"apex-o2", "allow", "allow", "deny", "allow", "deny"},
      {"apex-o3", "allow", "allow", "allow", "allow", "deny"},
      {"keras", "allow", "allow", "boundary", "boundary", "deny"},
      {"jmp", "allow", "allow", "allow", "allow", "allow"},
      {"ort", "allow", "allow", "allow", "allow", "deny"},
  };
  for (auto &[name, matmul, exp, batchNorm, layerNorm, loss] : cases) {
    Policy policy = cantFail(Policy::load(name));
    EXPECT_EQ(decide(policy, "matmul"), matmul) << name.str();
    EXPECT_EQ(decide(policy, "conv2d"), matmul) << name.str();
    EXPECT_EQ(decide(policy, "conv_transpose2d"), matmul) << name.str();
    EXPECT_EQ(decide(policy, "exp"), exp) << name.str();
    EXPECT_EQ(decide(policy, "batch_norm"), batchNorm) << name.str();
    EXPECT_EQ(decide(policy, "layer_norm"), layerNorm) << name.str();
    EXPECT_EQ(decide(policy, "mse_loss"), loss) << name.str();
  }
}

// No preset gives two names of one op different categories.
TEST_F(PolicyTable, PresetsLoad) {
  for (const std::string &name : Policy::names()) {
    Expected<Policy> policy = Policy::load(name);
    ASSERT_TRUE(bool(policy)) << toString(policy.takeError());
    EXPECT_EQ(policy->name(), name);
    EXPECT_FALSE(policy->about().empty());
  }
}

} // namespace
