//===- Reproducer.cpp - reproduces a pass's failure -----------------------===//
#include "codegen/Reproducer.h"
#include "mlir/Support/FileUtilities.h"
#include "support/ShellWord.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mp;

namespace {
/// A file that begins with the command that runs it.
class CommandedFile : public ReproducerStream {
public:
  CommandedFile(std::unique_ptr<llvm::ToolOutputFile> file,
                ArrayRef<std::string> plugins, std::error_code &failed)
      : file(std::move(file)), failed(failed) {
    std::string path = this->file->getFilename().str();
    std::string command = "mp-opt --run-reproducer " + shellWord(path);
    for (const std::string &plugin : plugins)
      command += " --load-pass-plugin=" + shellWord(plugin);
    os() << "// " << command << "\n";
    // Upstream writes it between backquotes.
    text = path + "`, rerun with `" + command;
  }
  ~CommandedFile() override {
    file->keep();
    file->os().flush();
    failed = file->os().error();
    file->os().clear_error(); // otherwise fatal
  }
  StringRef description() override { return text; }
  raw_ostream &os() override { return file->os(); }

private:
  std::unique_ptr<llvm::ToolOutputFile> file;
  std::error_code &failed;
  std::string text;
};
} // namespace

LogicalResult mp::runReproducibly(PassManager &passes, Operation *module,
                                  StringRef path,
                                  ArrayRef<std::string> plugins) {
  if (path.empty())
    return passes.run(module);
  std::error_code failed;
  auto open = [path = path.str(), plugins, &failed](
                  std::string &error) -> std::unique_ptr<ReproducerStream> {
    auto file = openOutputFile(path, &error);
    return file ? std::make_unique<CommandedFile>(std::move(file), plugins,
                                                  failed)
                : nullptr;
  };
  // Upstream knows the pass that failed only if passes run one by one.
  MLIRContext *context = passes.getContext();
  context->disableMultithreading();
  passes.enableCrashReproducerGeneration(open, /*genLocalReproducer=*/true);
  LogicalResult result = passes.run(module);
  context->enableMultithreading();
  if (failed)
    emitWarning(module->getLoc())
        << "cannot write the reproducer " << path << ": " << failed.message();
  return result;
}
