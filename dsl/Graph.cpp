//===- Graph.cpp - a network under construction ---------------------------===//
#include "dsl/Graph.h"
#include "dialect/ops/State.h"
#include "dsl/GraphState.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "program/ModuleText.h"
#include "program/MpVersion.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mantissa {

Graph::Graph(const std::string &name, Place place)
    : state(std::make_unique<GraphState>(*this, name, place)) {}
Graph::~Graph() = default;

Graph &Graph::of(const Tensor &tensor) { return tensor.graph->graph; }

Tensor Graph::mistake(const std::string &message, Place place) {
  return state->mistake(message, place);
}

const std::vector<std::string> &Graph::mistakes() const {
  return state->mistakes;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

Tensor Graph::input(const std::string &name, ElementType element,
                    const Dims &shape, Place place) {
  if (name.empty())
    return state->mistake("an input needs a name", place);
  if (llvm::is_contained(state->inputNames, name))
    return state->mistake(
        "there is an input '" + name + "' already, of " +
            typeText(state->inputs[name].first, state->inputs[name].second),
        place);
  if (!state->open.empty())
    return state->mistake("input '" + name + "' in the body of function '" +
                              state->open.back() +
                              "': it is not one of its arguments",
                          place);
  if (!state->acceptType("input '" + name + "'", element, shape, place))
    return state->none();
  state->inputNames.push_back(name);
  state->inputs[name] = {element, shape};
  Block &block = state->function.getBody().front();
  mlir::Value value = block.addArgument(state->tensorType(element, shape),
                                        state->locate(place));
  GraphState::setName(value, name);
  return state->wrap(value);
}

void Graph::output(const std::string &name, const Operand &value) {
  if (value.isNumber) {
    state->mistake("output '" + name + "' is a number, expected a tensor",
                   value.place);
    return;
  }
  if (!state->accept(value.tensor, value.place))
    return;
  if (!state->open.empty()) {
    state->mistake("output '" + name + "' in the body of function '" +
                       state->open.back() +
                       "': return the tensor there, and make the output of "
                       "what call returns",
                   value.place);
    return;
  }
  for (const auto &known : state->outputs)
    if (known.name == name) {
      state->mistake("there is an output '" + name + "' already", value.place);
      return;
    }
  Value result = GraphState::valueOf(value.tensor);
  if (!isa<NameLoc>(result.getLoc()))
    GraphState::setName(result, name);
  state->outputs.push_back({name, result, state->locate(value.place)});
}

Tensor Graph::parameter(const std::string &name, ElementType element,
                        const Dims &shape, const Initializer &init,
                        Place place) {
  return state->variable("", name, element, shape, init, {}, place);
}
Tensor Graph::parameter(const std::string &name, ElementType element,
                        const Dims &shape, const Initializer &init,
                        const VariableOptions &options, Place place) {
  return state->variable("", name, element, shape, init, options, place);
}

Tensor Graph::buffer(const std::string &name, ElementType element,
                     const Dims &shape, const Initializer &init, Place place) {
  return state->variable("buffer", name, element, shape, init, {}, place);
}
Tensor Graph::buffer(const std::string &name, ElementType element,
                     const Dims &shape, const Initializer &init,
                     const VariableOptions &options, Place place) {
  return state->variable("buffer", name, element, shape, init, options, place);
}

void Graph::write(const std::string &buffer, const Operand &value) {
  std::string name = scoped(buffer);
  auto known = state->variables.find(name);
  if (known == state->variables.end()) {
    state->mistake("there is no buffer '" + name + "' to write", value.place);
    return;
  }
  if (value.isNumber) {
    state->mistake("buffer '" + name +
                       "' is written with a number, expected a tensor",
                   value.place);
    return;
  }
  if (!state->accept(value.tensor, value.place))
    return;
  if (known->second.type() != value.tensor.type()) {
    state->mistake("buffer '" + name + "' is " + known->second.type() +
                       ", and " + value.tensor.type() + " is written to it",
                   value.place);
    return;
  }
  mp::WriteOp::create(state->builder, state->locate(value.place), name,
                      GraphState::valueOf(value.tensor), Value());
}

Graph::Scope::Scope(Graph &graph, const std::string &name)
    : state(graph.internals()), before(state.scope.size()) {
  if (!name.empty())
    state.scope += name + ".";
}
Graph::Scope::~Scope() {
  // An outer scope that ended first has taken this name along.
  state.scope.resize(std::min(before, state.scope.size()));
}

std::string Graph::scoped(const std::string &name) const {
  return state->scope + name;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Builds a private function before that of the graph; null after a mistake.
static func::FuncOp buildFunction(GraphState &state, const std::string &name,
                                  TypeRange types, Place place,
                                  const Graph::Body &body) {
  OpBuilder::InsertionGuard guard(state.builder);
  state.builder.setInsertionPoint(state.function);
  auto function =
      func::FuncOp::create(state.builder, state.locate(place), name,
                           state.builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *block = function.addEntryBlock();
  state.builder.setInsertionPointToStart(block);
  std::vector<Tensor> arguments;
  for (Value argument : block->getArguments())
    arguments.push_back(state.wrap(argument));
  state.open.push_back(name);
  std::vector<Tensor> results = body(arguments);
  state.open.pop_back();
  for (const Tensor &result : results)
    if (!state.accept(result, place)) {
      function->remove();
      state.refused.emplace_back(function);
      return {};
    }
  SmallVector<Value> values = GraphState::valuesOf(results);
  func::ReturnOp::create(state.builder, state.locate(place), values);
  function.setFunctionType(
      state.builder.getFunctionType(types, ValueRange(values)));
  return function;
}

std::vector<Tensor> Graph::call(const std::string &name,
                                const Operands &arguments, const Body &body) {
  for (const Tensor &tensor : arguments.tensors)
    if (!state->accept(tensor, arguments.place))
      return {};
  SmallVector<Value> values = GraphState::valuesOf(arguments.tensors);
  if (llvm::is_contained(state->open, name)) {
    state->mistake("function '" + name + "' calls itself", arguments.place);
    return {};
  }
  auto function =
      dyn_cast_or_null<func::FuncOp>(state->module->lookupSymbol(name));
  if (!function || function == state->function) {
    if (!state->declare("a function", name, arguments.place))
      return {};
    if (!body) {
      state->mistake("function '" + name + "' is called without a body",
                     arguments.place);
      return {};
    }
    function = buildFunction(*state, name, ValueRange(values).getTypes(),
                             arguments.place, body);
  }
  if (!function)
    return {};
  if (function.getArgumentTypes() != ValueRange(values).getTypes()) {
    auto list = [](TypeRange types) {
      std::vector<std::string> texts;
      for (Type type : types)
        texts.push_back(typeText(type));
      return llvm::join(texts, ", ");
    };
    state->mistake("function '" + name + "' is called with " +
                       list(ValueRange(values).getTypes()) + ", and was with " +
                       list(function.getArgumentTypes()),
                   arguments.place);
    return {};
  }
  auto call = func::CallOp::create(
      state->builder, state->locate(arguments.place), function, values);
  std::vector<Tensor> results;
  for (Value result : call.getResults())
    results.push_back(state->wrap(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void GraphState::addText(const std::string &text, Place place) {
  // What a user gave as text or as a number is named by the line it is on.
  unsigned wrong = 0;
  bool isRight = attempt(place, "", [&]() -> LogicalResult {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (auto at = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        wrong = at.getLine();
      return failure(); // the handler of `attempt` keeps it
    });
    if (llvm::Error error = mp::checkModuleText(text, "text"))
      return emitError(UnknownLoc::get(&context)) << toString(std::move(error));
    Block block;
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    if (failed(parseSourceString(text, &block, config)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      op.walk([&](Operation *inner) { inner->setLoc(locate(place)); });
      op.remove();
      builder.insert(&op);
    }
    return success();
  });
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  if (!isRight && wrong > 0 && wrong <= lines.size())
    mistakes.back() += "\n  in: " + lines[wrong - 1].trim().str();
}

/// Completes the function and verifies the module, as a copy.
static OwningOpRef<ModuleOp> finish(GraphState &state) {
  IRMapping map;
  OwningOpRef<ModuleOp> module =
      mlir::cast<ModuleOp>(state.module.get()->clone(map));
  auto function =
      mlir::cast<func::FuncOp>(map.lookup(state.function.getOperation()));
  OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
  SmallVector<Value> results;
  for (const auto &output : state.outputs)
    results.push_back(map.lookup(output.value));
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(state.inputNames))
    function.setArgAttr(i, mp::kNameAttr, builder.getStringAttr(name));
  for (auto [i, output] : llvm::enumerate(state.outputs))
    function.setResultAttr(i, mp::kNameAttr,
                           builder.getStringAttr(output.name));
  return module;
}

llvm::Expected<std::string> Graph::text(bool locations) const {
  std::vector<std::string> all = state->mistakes;
  if (!state->open.empty())
    all.push_back("the body of function '" + state->open.back() +
                  "' is not complete: the module has no text yet");
  std::string text;
  if (all.empty()) {
    OwningOpRef<ModuleOp> module = finish(*state);
    ScopedDiagnosticHandler handler(
        &state->context, [&](Diagnostic &diagnostic) {
          std::string line;
          if (auto place =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            line =
                (place.getFilename().getValue() + ":" + Twine(place.getLine()) +
                 ":" + Twine(place.getColumn()) + ": ")
                    .str();
          all.push_back(line + "error: " + diagnostic.str());
          return success();
        });
    if (succeeded(mlir::verify(*module))) {
      OpPrintingFlags flags;
      flags.enableDebugInfo(locations).printNameLocAsPrefix();
      // The text may be kept and meet another version of Mantissa.
      OpBuilder builder(&state->context);
      (*module)->setAttr(mp::kVersionAttr,
                         builder.getStringAttr(mp::MpVersion::ours().str()));
      llvm::raw_string_ostream os(text);
      module->print(os, flags);
      os << "\n";
      return text;
    }
  }
  return llvm::createStringError(llvm::join(all, "\n"));
}

bool Graph::print(llvm::raw_ostream &os) const {
  auto written = text();
  if (!written) {
    llvm::errs() << toString(written.takeError()) << "\n";
    return false;
  }
  os << *written;
  return true;
}

} // namespace mantissa
