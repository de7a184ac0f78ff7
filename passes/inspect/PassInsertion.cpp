//===- PassInsertion.cpp - passes of one's own in a pipeline --------------===//
#include "passes/inspect/PassInsertion.h"
#include "dialect/Mp.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;

llvm::Expected<PassInsertion> PassInsertion::parse(StringRef text) {
  PassInsertion result;
  StringRef rest = text;
  result.isBefore = rest.consume_front("before=");
  bool isPlaced = result.isBefore || rest.consume_front("after=");
  auto [anchor, pipeline] = rest.split(':');
  result.anchor = anchor.trim().str();
  result.pipeline = pipeline.trim().str();
  if (!isPlaced || result.anchor.empty() || result.pipeline.empty())
    return llvm::createStringError(
        "'" + text +
        "' says no place and pass, expected after=PASS:PIPELINE or "
        "before=PASS:PIPELINE, such as after=mp-autodiff:my-pass{by=2}");
  return result;
}

PassList::PassList(OpPassManager &manager, ArrayRef<std::string> insertions)
    : manager(manager) {
  for (const std::string &text : insertions) {
    auto parsed = PassInsertion::parse(text);
    if (parsed)
      inserted.push_back({std::move(*parsed)});
    else
      note(toString(parsed.takeError()));
  }
}

void PassList::note(const llvm::Twine &text) {
  // Only the first error is kept: its cause is often that of all.
  if (problem.empty())
    problem = ("--insert-pass: " + text).str();
}

void PassList::add(std::unique_ptr<Pass> pass) {
  std::string name = pass->getArgument().str();
  names.push_back(name);
  auto insertAll = [&](bool isBefore) {
    for (Inserted &one : inserted)
      if (one.insertion.anchor == name && one.insertion.isBefore == isBefore)
        insert(one);
  };
  insertAll(/*isBefore=*/true);
  if (pass->getOpName() == func::FuncOp::getOperationName())
    manager.addNestedPass<func::FuncOp>(std::move(pass));
  else
    manager.addPass(std::move(pass));
  insertAll(/*isBefore=*/false);
}

/// Returns "'my-pass' does not refer to a registered pass or pass pipeline"
/// from the lines with carets that upstream makes of it.
static std::string shorten(StringRef message) {
  message = message.split('\n').first;
  return message
      .substr(message.find("error: ") == StringRef::npos
                  ? 0
                  : message.find("error: ") + 7)
      .str();
}

/// Returns upstream's message; for an option's value it does not return one.
static std::string problemOf(StringRef element, StringRef message) {
  if (message.trim().empty())
    return "'" + element.str() + "' has an option with a value that it refuses";
  bool isUnknown = message.contains("does not refer to");
  return message.str() + (isUnknown ? "; passes of a plugin are known once "
                                      "--load-pass-plugin names it"
                                    : "");
}

/// Splits "a{x=1,y=2},func.func(b,c)" at the commas outside of brackets.
static SmallVector<StringRef> split(StringRef pipeline) {
  SmallVector<StringRef> elements;
  int depth = 0;
  size_t begin = 0;
  for (auto [i, c] : llvm::enumerate(pipeline)) {
    depth += StringRef("({[").contains(c) - StringRef(")}]").contains(c);
    if (c == ',' && depth == 0) {
      elements.push_back(pipeline.slice(begin, i).trim());
      begin = i + 1;
    }
  }
  elements.push_back(pipeline.drop_front(begin).trim());
  return elements;
}

/// Adds a pass by its name; one for functions needs no func.func(...).
static LogicalResult addElement(StringRef element, OpPassManager &manager,
                                llvm::raw_ostream &os) {
  OpPassManager any;
  if (failed(parsePassPipeline(element, any, os)))
    return failure();
  bool isOfFunctions = any.size() == 1 && any.begin()->getOpName() ==
                                              func::FuncOp::getOperationName();
  return parsePassPipeline(
      element, isOfFunctions ? manager.nest<func::FuncOp>() : manager, os);
}

llvm::Error mp::addPasses(StringRef pipeline, OpPassManager &manager) {
  if (pipeline.starts_with("builtin.module(") && pipeline.ends_with(")"))
    pipeline = pipeline.drop_front(strlen("builtin.module(")).drop_back();
  for (StringRef element : split(pipeline)) {
    std::string message;
    llvm::raw_string_ostream os(message);
    if (failed(addElement(element, manager, os)))
      return llvm::createStringError(problemOf(element, shorten(message)));
  }
  return llvm::Error::success();
}

void PassList::insert(Inserted &inserted) {
  // Only the first place counts: a second one is an error in the end.
  if (inserted.times++)
    return;
  if (auto error = addPasses(inserted.insertion.pipeline, manager))
    note(toString(std::move(error)));
}

llvm::Error PassList::finish(bool isPartOfRun) {
  std::string all = llvm::join(names, ", ");
  for (const Inserted &one : inserted) {
    std::string anchor = "\"" + one.insertion.anchor + "\"";
    if (one.times == 0 && !isPartOfRun) {
      auto nearest = nearestNames(one.insertion.anchor, names);
      note("the pipeline has no pass " + anchor +
           (nearest.empty()
                ? ", but " + all
                : "; did you mean " + llvm::join(nearest, ", ") + "?"));
    }
    if (one.times > 1)
      note("the pipeline has " + anchor + " " + llvm::Twine(one.times) +
           " times: name a pass that it has once, of " + all);
  }
  return problem.empty() ? llvm::Error::success()
                         : llvm::createStringError(problem);
}
