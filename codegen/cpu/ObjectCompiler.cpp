//===- ObjectCompiler.cpp - from memref functions to an object ------------===//
#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/LoweringHash.inc"
#include "codegen/cpu/ScaleInstruction.h"
#include "program/CodeStore.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <chrono>
#include <mutex>

using namespace mlir;
using namespace mp::cpu;

namespace {

template <size_t bytes> std::string hashOf(llvm::StringRef text) {
  auto hash = llvm::BLAKE3::hash<bytes>(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(llvm::ArrayRef<uint8_t>(hash), /*LowerCase=*/true);
}

/// A hash of the function's text.
std::string sourceOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().useLocalScope());
  return hashOf<32>(text);
}

/// "k_" and a hash of the function and the target.
std::string symbolOf(llvm::StringRef source, const Target &target) {
  return "k_" +
         hashOf<16>(
             (source + "\n" + target.cpu + "\n" + target.features).str());
}

/// Returns the key under which the code of a function is stored: the function
/// and the target decide it, with all that takes part in making an object.
mp::CodeKey keyOf(llvm::StringRef source, const Target &target,
                  mlir::Location location) {
  // This is the version of the library that is loaded, and not of its headers.
  static const std::string version = [] {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    return llvm::formatv("{0}.{1}.{2}", major, minor, patch).str();
  }();
  mp::CodeKey key{"o",
                  source.str(),
                  {{"lowering", MP_LOWERING_HASH},
                   {"LLVM", version},
                   {"cpu", target.cpu},
                   {"features", target.features}}};
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    key.label = llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(),
                              file.getLine(), file.getColumn());
  return key;
}

/// Adds `void symbol(void *const *args, i64 begin, i64 end, void *shared)`,
/// which loads the pointers and calls `body`. The last parameter of `body`
/// shows whether it takes `shared`.
void wrap(llvm::Function &body, llvm::StringRef symbol) {
  llvm::LLVMContext &context = body.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  llvm::Type *i64 = llvm::Type::getInt64Ty(context);
  llvm::FunctionType *type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(context), {pointer, i64, i64, pointer}, false);
  llvm::Function *wrapper = llvm::Function::Create(
      type, llvm::Function::ExternalLinkage, symbol, body.getParent());
  wrapper->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", wrapper));

  bool takesShared = body.getArg(body.arg_size() - 1)->getType()->isPointerTy();
  size_t tensors = body.arg_size() - (takesShared ? 3 : 2);
  llvm::SmallVector<llvm::Value *> arguments;
  for (size_t i = 0; i < tensors; ++i)
    arguments.push_back(b.CreateLoad(
        pointer, b.CreateConstGEP1_64(pointer, wrapper->getArg(0), i)));
  arguments.append({wrapper->getArg(1), wrapper->getArg(2)});
  if (takesShared)
    arguments.push_back(wrapper->getArg(3));
  b.CreateCall(&body, arguments);
  b.CreateRetVoid();
  body.setLinkage(llvm::Function::InternalLinkage);
  body.addFnAttr(llvm::Attribute::AlwaysInline);
  // Loops that clear or copy must not become calls of memset or memcpy.
  for (llvm::Function *function : {&body, wrapper})
    function->addFnAttr("no-builtins");
}

/// Keeps maxima of extended f16 in f32, where they take three instructions:
/// LLVM would compute them in f16, which few targets have, and emulate that.
void keepMaximaWide(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call ||
        !llvm::is_contained({llvm::Intrinsic::maximum, llvm::Intrinsic::minimum,
                             llvm::Intrinsic::maxnum, llvm::Intrinsic::minnum},
                            call->getIntrinsicID()))
      continue;
    llvm::IRBuilder<> b(call);
    for (llvm::Use &operand : call->args())
      if (llvm::isa<llvm::FPExtInst>(operand))
        operand.set(b.CreateArithmeticFence(operand, operand->getType()));
  }
}

/// The passes that kernels gain from. They come vectorised and with their
/// loops as they shall run, so that a default pipeline, which vectorises,
/// unrolls and inlines, would take twice as long for the same speed.
/// Reassociation moves sums of addresses out of loops; simplified induction
/// variables and constant propagation find that counters do not wrap and are
/// not negative, without which depthwise convolutions take twice as long.
llvm::FunctionPassManager kernelPasses() {
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ReassociatePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SCCPPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

/// Inlines the body into its wrapper and improves that.
void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(kernelPasses()));
  passes.run(module, modules);
}

FailureOr<std::string> generate(llvm::Module &module,
                                llvm::TargetMachine &machine) {
  llvm::SmallVector<char> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return failure();
  passes.run(module);
  return std::string(object.begin(), object.end());
}

/// Turns `module` into an object that exports `symbol`: everything after the
/// cache.
FailureOr<std::string> makeObject(ModuleOp module, llvm::StringRef symbol,
                                  const Target &target) {
  if (target.has("avx512f"))
    useScaleInstruction(module);
  if (failed(lowerToLLVMDialect(module, target)))
    return failure();
  // Each object has its own LLVM context and machine, so that threads share
  // nothing.
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = target.createMachine();
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  keepMaximaWide(*code->getFunction("body"));
  wrap(*code->getFunction("body"), symbol);
  optimize(*code, *machine);
  return generate(*code, *machine);
}

/// Returns the object of a function, from the store or made anew.
FailureOr<std::string> findOrMake(ModuleOp module, llvm::StringRef source,
                                  llvm::StringRef symbol, const Target &target,
                                  mp::CodeStore *store) {
  if (!store)
    return makeObject(module, symbol, target);
  mp::CodeKey key = keyOf(source, target, module.getLoc());
  if (std::optional<std::string> kept = store->find(key))
    return std::move(*kept);
  auto start = std::chrono::steady_clock::now();
  FailureOr<std::string> made = makeObject(module, symbol, target);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  if (succeeded(made))
    store->keep(key, *made, spent.count());
  return made;
}

} // namespace

struct ObjectCompiler::Impl {
  /// One symbol. The first thread to come compiles it, the others wait.
  struct Entry {
    std::once_flag once;
    bool good = false;
    std::string object;
  };

  Entry &entry(llvm::StringRef symbol) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<Entry> &entry = entries[symbol];
    if (!entry)
      entry = std::make_unique<Entry>();
    return *entry;
  }

  Target target;
  std::mutex mutex;
  llvm::StringMap<std::unique_ptr<Entry>> entries;
};

ObjectCompiler::ObjectCompiler(Target target) : impl(std::make_shared<Impl>()) {
  impl->target = std::move(target);
}
ObjectCompiler::ObjectCompiler(const ObjectCompiler &other,
                               std::shared_ptr<mp::CodeStore> store)
    : impl(other.impl), store(std::move(store)) {}
ObjectCompiler::~ObjectCompiler() = default;

const Target &ObjectCompiler::target() const { return impl->target; }

void ObjectCompiler::prepare(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

FailureOr<std::string> ObjectCompiler::compile(OwningOpRef<ModuleOp> module) {
  auto functions = module->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return module->emitError("expected one function, got ")
           << llvm::range_size(functions);
  (*functions.begin()).setName("body");
  (*functions.begin()).setPublic();

  std::string source = sourceOf(*module);
  std::string symbol = symbolOf(source, impl->target);
  Impl::Entry &entry = impl->entry(symbol);
  std::call_once(entry.once, [&] {
    FailureOr<std::string> object =
        findOrMake(*module, source, symbol, impl->target, store.get());
    entry.good = succeeded(object);
    if (entry.good)
      entry.object = std::move(*object);
  });
  if (!entry.good)
    return failure();
  return symbol;
}

llvm::StringRef ObjectCompiler::object(llvm::StringRef symbol) const {
  std::lock_guard<std::mutex> lock(impl->mutex);
  auto it = impl->entries.find(symbol);
  return it == impl->entries.end() ? llvm::StringRef()
                                   : llvm::StringRef(it->second->object);
}
