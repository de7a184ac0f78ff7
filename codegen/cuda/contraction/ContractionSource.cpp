//===- ContractionSource.cpp - the kernels of one product -----------------===//
#include "codegen/cuda/contraction/ContractionSource.h"
#include "codegen/cuda/ScalarPrinter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::divideCeil;
using Kind = KernelArgument::Kind;

/// Threads of a kernel that is not a main loop, and shared memory that
/// reductions need there: 8 elements of 8 bytes for each.
static constexpr int kReducingThreads = 256;
static constexpr uint64_t kReducingShared = 8 * 8 * kReducingThreads;

static std::string sumTypeOf(const GemmShape &shape) {
  switch (shape.type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
    return "float";
  case ElementType::F64:
    return "double";
  case ElementType::I64:
    return "unsigned long long";
  default:
    return "unsigned";
  }
}

ProductForm ProductForm::matrices(const GemmShape &shape) {
  ProductForm form;
  form.shape = shape;
  form.name = "gemm " + shape.str();
  form.path = pathName(pathOf(shape));
  return form;
}

uint64_t ProductForm::sharedBytes(const GemmConfig &config) const {
  if (!hasRing) {
    uint64_t staged =
        config.tileM * (config.tileN + 8) * std::max(4u, byteWidth(shape.type));
    return std::max<uint64_t>(staged, config.threads() * 8 * 8);
  }
  return cuda::sharedBytes(shape, config, hasPlaces);
}

ContractionSource::ContractionSource(Operation *anchor, const ProductForm &form,
                                     const GemmConfig &config,
                                     const Epilogue &epilogue,
                                     KernelStore &store)
    : anchor(anchor), form(form), shape(form.shape), config(config),
      epilogue(epilogue), store(store),
      type(getElementTypeOrSelf(anchor->getResult(0).getType())) {
  if (anchor->getNumOperands() > 2)
    bias = anchor->getOperand(2);
  tileRows = shape.batch * divideCeil(shape.m, config.tileM);
  tileColumns = divideCeil(shape.n, config.tileN);
  // A thread of the kernel that adds the splits has some 16 elements.
  regionN = std::min<int64_t>(128, llvm::PowerOf2Ceil(epilogue.columns()));
  regionM = 4096 / regionN;
  regionRows = divideCeil(epilogue.rows(), regionM);
  regionColumns = divideCeil(epilogue.columns(), regionN);
}

FailureOr<EmittedKernel> ContractionSource::emit() {
  if (config.splits > 1)
    emitted.temporaries.push_back(sums().count * sizeof(float));
  for (const EpilogueReduction &reduction : epilogue.reductions()) {
    partialTemporaries.push_back(emitted.temporaries.size());
    if (!isCombined(reduction))
      continue;
    emitted.temporaries.push_back(
        parts(reduction) * storageBytes(reduction.type()) *
        (reduction.isTotal() ? 1 : epilogue.columns()));
  }
  if (config.splits > 1)
    emitted.launches.push_back(shares());
  auto main = config.splits > 1 ? addition() : product();
  if (failed(main))
    return failure();
  emitted.launches.push_back(*main);
  for (auto [i, reduction] : llvm::enumerate(epilogue.reductions())) {
    if (!isCombined(reduction))
      continue;
    auto last = combination(i);
    if (failed(last))
      return failure();
    emitted.launches.push_back(*last);
  }
  return std::move(emitted);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::string ContractionSource::Parameter::access() const {
  return "global(" + name + ", " + std::to_string(count) + "ll)";
}

ContractionSource::Parameter ContractionSource::operand(Value value) const {
  auto tensor = cast<RankedTensorType>(value.getType());
  unsigned index = cast<BlockArgument>(value).getArgNumber();
  return {storageType(tensor.getElementType()),
          "operand" + std::to_string(index),
          tensor.getNumElements(),
          {Kind::Operand, index}};
}

ContractionSource::Parameter ContractionSource::result(unsigned index) const {
  Operation *yield = anchor->getBlock()->getTerminator();
  auto tensor = cast<RankedTensorType>(yield->getOperand(index).getType());
  return {storageType(tensor.getElementType()),
          "result" + std::to_string(index),
          tensor.getNumElements(),
          {Kind::Result, index}};
}

ContractionSource::Parameter
ContractionSource::partial(unsigned reduction) const {
  const EpilogueReduction &reduced = epilogue.reductions()[reduction];
  int64_t each = reduced.isTotal() ? 1 : epilogue.columns();
  KernelArgument argument = {Kind::Result, reduced.result};
  if (isCombined(reduced))
    argument = {Kind::Temporary, partialTemporaries[reduction]};
  return {storageType(reduced.type()), "partial" + std::to_string(reduction),
          parts(reduced) * each, argument};
}

ContractionSource::Parameter ContractionSource::sums() const {
  return {"float",
          "shares",
          epilogue.rows() * epilogue.columns() * config.splits,
          {Kind::Temporary, 0}};
}

int64_t ContractionSource::parts(const EpilogueReduction &reduction) const {
  bool isSplit = config.splits > 1;
  int64_t rows = isSplit ? regionRows : tileRows;
  if (reduction.isTotal())
    return rows * (isSplit ? regionColumns : tileColumns);
  return isSplit ? rows : rows / form.across;
}

/// Returns the struct Epilogue's parameters for tensors in memory.
std::vector<ContractionSource::Parameter>
ContractionSource::epilogueParameters() const {
  std::vector<Parameter> parameters;
  for (const EpilogueTensor &tensor : epilogue.reads())
    if (tensor.value != bias)
      parameters.push_back(operand(tensor.value));
  if (bias)
    parameters.push_back(operand(bias));
  for (const EpilogueTensor &tensor : epilogue.writes())
    parameters.push_back(result(tensor.index));
  for (unsigned i = 0; i < epilogue.reductions().size(); ++i)
    parameters.push_back(partial(i));
  return parameters;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void ContractionSource::begin(SourceText &out) const {
  out.line("// " + form.name + " = " + config.str());
  out.line("#include \"" + form.header + "\"");
  out.line("#include \"scalars.cuh\"");
  out.blank();
  out.line("using namespace mp;");
  out.blank();
}

std::string ContractionSource::callOf(StringRef function) const {
  bool isDefault = form.operands == "Matrices";
  return (function + "<Product" + (isDefault ? "" : ", " + form.operands) + ">")
      .str();
}

void ContractionSource::printProduct(SourceText &out) const {
  auto line = [&](const Twine &text) {
    out.line("static constexpr " + text + ";");
  };
  auto truth = [](bool value) { return value ? "true" : "false"; };
  out.open("struct Product");
  out.line("using Element = " + operand(anchor->getOperand(0)).type + ";");
  line("Path path = Path::" +
       (config.wgmma ? pathName(GemmPath::Wgmma) : StringRef(form.path)));
  line("long long batch = " + Twine(shape.batch) + ", m = " + Twine(shape.m) +
       ", n = " + Twine(shape.n) + ", k = " + Twine(shape.k));
  line(Twine("bool transposeA = ") + truth(shape.transposeA) +
       ", transposeB = " + truth(shape.transposeB));
  line(Twine("bool broadcastA = ") + truth(shape.broadcastA) +
       ", broadcastB = " + truth(shape.broadcastB));
  line("int tileM = " + Twine(config.tileM) +
       ", tileN = " + Twine(config.tileN) + ", tileK = " + Twine(config.tileK));
  line("int stages = " + Twine(config.stages) + ", warpsM = " +
       Twine(config.warpsM) + ", warpsN = " + Twine(config.warpsN));
  line("int splits = " + Twine(config.splits) +
       ", regionM = " + Twine(regionM) + ", regionN = " + Twine(regionN));
  for (const std::string &text : form.lines)
    out.line(text);
  out.close("};");
  out.blank();
}

LogicalResult ContractionSource::printEpilogue(SourceText &out, int threads,
                                               int across) const {
  if (failed(
          epilogue.print(out, sumTypeOf(shape), type, bias, threads, across)))
    return failure();
  out.blank();
  return success();
}

void ContractionSource::printFilling(SourceText &out) const {
  out.line("Epilogue epilogue;");
  for (const Parameter &parameter : epilogueParameters())
    out.line("epilogue." + parameter.name + " = " + parameter.access() + ";");
}

KernelLaunch ContractionSource::kernel(SourceText &out,
                                       ArrayRef<Parameter> parameters,
                                       int resident, const SourceText &body,
                                       int64_t grid, int64_t block,
                                       uint64_t shared) {
  KernelLaunch launch;
  std::string list;
  for (const Parameter &parameter : parameters) {
    bool known =
        llvm::any_of(launch.arguments, [&](const KernelArgument &argument) {
          return argument.kind == parameter.argument.kind &&
                 argument.index == parameter.argument.index;
        });
    if (known) // a and b may be one tensor
      continue;
    launch.arguments.push_back(parameter.argument);
    list += (list.empty() ? "" : ", ") + parameter.type + " *" + parameter.name;
  }
  out.line("extern \"C\" __global__ void __launch_bounds__(" + Twine(block) +
           ", " + Twine(resident) + ")");
  out.open(KernelStore::name + "(" + list + ")");
  out.line("MP_SHARED_MEMORY(shared);");
  out.append(body);
  out.close();
  launch.symbol = store.add(out.str());
  launch.grid = grid;
  launch.block = block;
  launch.shared = shared;
  return launch;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<KernelLaunch> ContractionSource::product() {
  SourceText out, body;
  begin(out);
  printProduct(out);
  if (failed(printEpilogue(out, config.threads(), config.tileN)))
    return failure();
  std::vector<Parameter> parameters = {operand(anchor->getOperand(0)),
                                       operand(anchor->getOperand(1))};
  printFilling(body);
  body.line(callOf("multiplyTile") + "(" + parameters[0].access() + ", " +
            parameters[1].access() + ", epilogue, shared);");
  llvm::append_range(parameters, epilogueParameters());
  return kernel(out, parameters, config.resident, body, tileRows * tileColumns,
                config.threads(), form.sharedBytes(config));
}

KernelLaunch ContractionSource::shares() {
  SourceText out, body;
  begin(out);
  printProduct(out);
  std::vector<Parameter> parameters = {operand(anchor->getOperand(0)),
                                       operand(anchor->getOperand(1)), sums()};
  body.line(callOf("multiplySplit") + "(" + parameters[0].access() + ", " +
            parameters[1].access() + ", " + parameters[2].access() +
            ", shared);");
  return kernel(out, parameters, config.resident, body,
                tileRows * tileColumns * config.splits, config.threads(),
                form.sharedBytes(config));
}

FailureOr<KernelLaunch> ContractionSource::addition() {
  SourceText out, body;
  begin(out);
  printProduct(out);
  if (failed(printEpilogue(out, kReducingThreads, regionN)))
    return failure();
  printFilling(body);
  body.line(callOf("addSplits") + "(" + sums().access() +
            ", epilogue, shared);");
  std::vector<Parameter> parameters = {sums()};
  llvm::append_range(parameters, epilogueParameters());
  return kernel(out, parameters, 1, body, regionRows * regionColumns,
                kReducingThreads, kReducingShared);
}

FailureOr<KernelLaunch> ContractionSource::combination(unsigned number) {
  const EpilogueReduction &reduction = epilogue.reductions()[number];
  int64_t columns = reduction.isTotal() ? 1 : epilogue.columns();
  int across = columns == 1 ? 1 : 32;
  Parameter from = partial(number), to = result(reduction.result);
  SourceText out;
  out.open(
      "inline void BODY_NAME(int block, long long rows, long long columns, "
      "Global<" +
      from.type + "> partials, Global<" + to.type + "> result)");
  out.line("MP_SHARED_MEMORY(shared);");
  if (failed(Epilogue::printCombiner(out, reduction, "Combine")))
    return failure();
  out.line("combinePartials<Combine, " + Twine(across) +
           ">(partials, result, rows, columns, block, shared);");
  out.close();
  uint64_t bytes = storageBytes(reduction.type());
  StagePart part;
  part.function = out.str();
  part.counts = {parts(reduction), columns};
  part.parameters = {{from.type, from.count}, {to.type, to.count}};
  KernelLaunch launch;
  launch.arguments = {from.argument, to.argument};
  launch.grid = part.grid = divideCeil(columns, across);
  launch.block = part.block = kReducingThreads;
  launch.shared = part.shared = kReducingThreads * bytes;
  launch.symbol = store.add(std::move(part));
  return launch;
}
