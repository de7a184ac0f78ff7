//===- ViewGraph.cpp - draw a graph, alone or before and after passes -----===//
//
// The pass changes nothing: passes to compare run on a copy of the module.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"
#include "passes/inspect/PassInsertion.h"
#include "passes/inspect/view/View.h"
#include "support/OutputFile.h"
#include "support/Spelling.h"
#include "llvm/Support/Path.h"

namespace mp {
#define GEN_PASS_DEF_VIEWGRAPH
#include "passes/inspect/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct ViewGraph : mp::impl::ViewGraphBase<ViewGraph> {
  using Base::Base;

  /// The passes to compare may create ops of dialects that are not loaded yet.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    if (passes.empty())
      return;
    OpPassManager manager(ModuleOp::getOperationName());
    if (auto error = addPasses(passes, manager))
      problem = toString(std::move(error));
    else
      manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto isPage = wantsPage();
    if (failed(isPage))
      return signalPassFailure();
    view::Drawing drawing{titleOfAll(), passes, {}};
    if (failed(draw(drawing)) || failed(write(drawing, *isPage)))
      signalPassFailure();
  }

private:
  /// What is wrong with `passes`. It is found when they are read for their
  /// dialects, and reported when the pass runs.
  mutable std::string problem;

  /// The format: the option's, or else the one of the file's extension.
  FailureOr<bool> wantsPage() {
    StringRef extension = llvm::sys::path::extension(file);
    if (format == "html" || format == "dot")
      return format == "html";
    if (!format.empty())
      return getOperation().emitError()
             << "mp-view-graph: format is \"" << format
             << "\", expected \"dot\" or \"html\"";
    if (extension == ".html" || extension == ".htm")
      return true;
    if (extension.empty() || extension == ".dot" || extension == ".gv")
      return false;
    InFlightDiagnostic error = getOperation().emitError();
    error << "mp-view-graph: file is \"" << file
          << "\", expected the extension .html, .dot or .gv, or format=html or "
             "format=dot";
    if (llvm::is_contained({".svg", ".png", ".pdf"}, extension))
      error << "; 'dot -T" << extension.drop_front()
            << "' of Graphviz makes such a file of a .dot file";
    return error;
  }

  std::string titleOfAll() {
    if (!title.empty())
      return title;
    if (auto name = getOperation().getName())
      return name->str();
    if (auto place = getOperation().getLoc()->findInstanceOf<FileLineColLoc>())
      return llvm::sys::path::filename(place.getFilename().getValue()).str();
    return "module";
  }

  LogicalResult draw(view::Drawing &drawing) {
    if (passes.empty()) {
      auto name = lookupFunction(getOperation());
      if (name.empty() && !function.empty())
        return reportUnknown({getOperation()});
      drawing.pictures.push_back(
          view::draw(getOperation(), "graph", {name, stages}));
      return success();
    }
    OwningOpRef<ModuleOp> after(getOperation().clone());
    if (failed(runPasses(*after)))
      return failure();
    std::string names[] = {lookupFunction(getOperation()),
                           lookupFunction(*after)};
    if (!function.empty() && names[0].empty() && names[1].empty())
      return reportUnknown({getOperation(), *after});
    drawing.pictures.push_back(
        view::draw(getOperation(), "before", {names[0], stages}));
    drawing.pictures.push_back(view::draw(*after, "after", {names[1], stages}));
    view::compare(drawing.pictures[0], drawing.pictures[1]);
    return success();
  }

  LogicalResult runPasses(ModuleOp module) {
    PassManager manager(&getContext(), ModuleOp::getOperationName());
    if (problem.empty())
      if (auto error = addPasses(passes, manager))
        problem = toString(std::move(error));
    if (!problem.empty())
      return getOperation().emitError() << "mp-view-graph: passes: " << problem;
    return manager.run(module);
  }

  /// Returns the function of the option's name, or the one that the recipe of
  /// that name trains; empty if the module has neither.
  std::string lookupFunction(ModuleOp module) {
    if (auto found = module.lookupSymbol<func::FuncOp>(function))
      return found.getName().str();
    for (auto recipe : module.getOps<TrainOp>())
      if (recipe.getEntry() == function)
        return recipe.getFunction().str();
    return "";
  }

  LogicalResult reportUnknown(ArrayRef<ModuleOp> modules) {
    llvm::SetVector<StringRef> names;
    for (ModuleOp module : modules)
      for (auto known : module.getOps<func::FuncOp>())
        names.insert(known.getName());
    std::vector<std::string> known;
    for (StringRef name : names)
      known.push_back(name.str());
    return getOperation().emitError()
           << "mp-view-graph: no function '" << function << "'"
           << suggest(function, known);
  }

  LogicalResult write(const view::Drawing &drawing, bool isPage) {
    auto writeTo = [&](llvm::raw_ostream &os) {
      isPage ? view::writePage(os, drawing) : view::writeDot(os, drawing);
    };
    if (file.empty() || file == "-") {
      writeTo(file.empty() ? llvm::errs() : llvm::outs());
      return success();
    }
    std::string text;
    llvm::raw_string_ostream os(text);
    writeTo(os);
    auto error = writeAtomically(
        file, [&](OutputFile &output) { return output.write(text); });
    if (error)
      return getOperation().emitError()
             << "mp-view-graph: " << toString(std::move(error));
    return success();
  }
};
} // namespace
