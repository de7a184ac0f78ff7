//===- MergedKernel.cpp - the source of one kernel for many ---------------===//
#include "codegen/cuda/launches/MergedKernel.h"
#include "codegen/cuda/SourceText.h"

#include "llvm/ADT/SetVector.h"

using namespace mp;
using namespace mp::cuda;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace {
constexpr int64_t kWarp = 32;

/// Parts with one text, which tables tell apart.
struct Body {
  const StagePart *part;
  SmallVector<size_t> members; ///< numbers of parts
};

class MergedPrinter {
public:
  MergedPrinter(ArrayRef<const StagePart *> parts, MergedKernel &merged)
      : parts(parts), merged(merged) {
    for (auto [i, part] : llvm::enumerate(parts)) {
      auto *known = llvm::find_if(bodies, [&](const Body &body) {
        return body.part->function == part->function;
      });
      if (known == bodies.end())
        known = bodies.insert(bodies.end(), Body{part, {}});
      known->members.push_back(i);
    }
  }

  void print() {
    for (const Body &body : bodies)
      for (size_t member : body.members) {
        merged.order.push_back(member);
        merged.grid += parts[member]->grid;
        merged.block = std::max(merged.block, parts[member]->block);
        merged.resident = parts[member]->resident;
        merged.shared = std::max(merged.shared, parts[member]->shared);
      }
    SourceText text;
    llvm::SetVector<llvm::StringRef> headers;
    for (const Body &body : bodies)
      headers.insert(body.part->header);
    for (llvm::StringRef header : headers)
      text.line("#include \"" + header + "\"");
    text.blank();
    text.line("using namespace mp;");
    text.blank();
    std::string functions;
    for (auto [i, body] : llvm::enumerate(bodies))
      functions +=
          KernelStore::named(body.part->function, "body" + std::to_string(i)) +
          "\n";
    printKernel();
    merged.source = text.str() + functions + tables.str() + "\n" + kernel.str();
  }

private:
  void printKernel() {
    kernel.line(KernelStore::head(merged.block, merged.resident));
    kernel.open("    " + KernelStore::name + "(void *const *args)");
    kernel.line("int block = blockIdx.x;");
    int64_t arguments = 0;
    for (auto [i, body] : llvm::enumerate(bodies)) {
      int64_t blocks = 0;
      SmallVector<int64_t> ends;
      for (size_t member : body.members)
        ends.push_back(blocks += parts[member]->grid);
      if (i + 1 < bodies.size())
        kernel.open("if (block < " + Twine(blocks) + ")");
      printBody(i, body, ends, arguments);
      if (i + 1 < bodies.size()) {
        kernel.line("return;");
        kernel.close();
        kernel.line("block -= " + Twine(blocks) + ";");
      }
      arguments += body.members.size() * body.part->parameters.size();
    }
    kernel.close();
  }

  /// Calls one body with the arguments of the part that `block` belongs to.
  void printBody(size_t number, const Body &body, ArrayRef<int64_t> ends,
                 int64_t arguments) {
    std::string n = std::to_string(number);
    size_t parameters = body.part->parameters.size();
    if (body.part->block < merged.block) {
      kernel.line("if (threadIdx.x >= " + Twine(body.part->block) + ")");
      kernel.line("  return;");
    }
    if (ends.size() > 1) {
      printTable("int", "ends" + n, ends);
      kernel.line("const int member = findRange(ends" + Twine(n) + ", block);");
      kernel.line("void *const *own = args + " + Twine(arguments) +
                  " + member * " + Twine(parameters) + ";");
      kernel.line("if (member > 0)");
      kernel.line("  block -= ends" + Twine(n) + "[member - 1];");
    } else {
      kernel.line("void *const *own = args + " + Twine(arguments) + ";");
    }
    std::string passed = "block";
    for (size_t i = 0; i < body.part->counts.size(); ++i)
      passed +=
          ", " + column(body, "counts" + n + "_" + std::to_string(i),
                        [&](const StagePart &part) { return part.counts[i]; });
    for (size_t i = 0; i < parameters; ++i)
      passed += ",\n      global(static_cast<" + body.part->parameters[i].type +
                " *>(own[" + std::to_string(i) + "]), " +
                column(body, "sizes" + n + "_" + std::to_string(i),
                       [&](const StagePart &part) {
                         return part.parameters[i].count;
                       }) +
                ")";
    kernel.line("body" + Twine(n) + "(" + passed + ");");
  }

  /// Returns a number of each member: itself if all agree, else an entry of a
  /// table.
  std::string column(const Body &body, const std::string &name,
                     llvm::function_ref<int64_t(const StagePart &)> get) {
    SmallVector<int64_t> values;
    for (size_t member : body.members)
      values.push_back(get(*parts[member]));
    if (llvm::all_equal(values))
      return std::to_string(values.front());
    printTable("long long", name, values);
    return name + "[member]";
  }

  void printTable(llvm::StringRef type, const std::string &name,
                  ArrayRef<int64_t> values) {
    std::string list;
    for (int64_t value : values)
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    tables.line("__constant__ " + type + " const " + name + "[] = {" + list +
                "};");
  }

  ArrayRef<const StagePart *> parts;
  MergedKernel &merged;
  SmallVector<Body> bodies;
  SourceText tables, kernel;
};
} // namespace

/// Whether surplus threads of a larger block may leave.
static bool isWarpAlone(const StagePart &part) {
  return part.block <= kWarp &&
         !llvm::StringRef(part.function).contains(" barrier()");
}

bool mp::cuda::fitTogether(const StagePart &a, const StagePart &b) {
  // Much shared memory keeps the other blocks of a multiprocessor away.
  constexpr uint64_t mostShared = 16384;
  bool sameThreads = a.block == b.block || isWarpAlone(a) || isWarpAlone(b);
  return sameThreads && a.resident == b.resident &&
         (a.shared == b.shared || std::max(a.shared, b.shared) <= mostShared);
}

MergedKernel::MergedKernel(ArrayRef<const StagePart *> parts) {
  MergedPrinter(parts, *this).print();
}

uint32_t mp::cuda::addMerged(const std::string &source,
                             ArrayRef<uint32_t> parts, ProgramBuilder &builder,
                             KernelStore &store) {
  std::string symbol = store.add(source);
  std::vector<Kernel> &kernels = builder.program.kernels;
  auto [known, isNew] = builder.kernels.try_emplace(symbol, kernels.size());
  if (!isNew)
    return known->second;
  Kernel merged;
  merged.symbol = symbol;
  merged.code = store.source(symbol).str();
  for (uint32_t number : parts) {
    const Kernel &part = kernels[number];
    for (const Location &source : part.sources)
      if (!llvm::is_contained(merged.sources, source))
        merged.sources.push_back(source);
    if (!llvm::StringRef(merged.summary).contains(part.summary))
      merged.summary += (merged.summary.empty() ? "" : " ") + part.summary;
  }
  kernels.push_back(std::move(merged));
  return known->second;
}
