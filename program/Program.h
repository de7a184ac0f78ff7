//===- Program.h - the compiled module, from codegen to the runtime -------===//
//
// A Program is plain data: no pointer, no MLIR, no target type. It lists the
// state, the kernels, and for each entry point the steps with the place of
// every argument. Its text form round-trips, so a Program can be saved, read by
// people, and run without the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_PROGRAM_H
#define MP_PROGRAM_PROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mp {

/// Element types, by their form in memory. I1 takes a byte, 0 or 1. Programs in
/// C name them by these numbers, so new ones stand at the end.
enum class ElementType {
  I1,
  I8,
  U8,
  I32,
  I64,
  F8E4M3FN,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
  I16,
  U16,
  U32
};
/// Whether elements are floats.
inline bool isFloat(ElementType type) {
  return type >= ElementType::F8E4M3FN && type <= ElementType::F64;
}

/// Returns the bytes of one element.
unsigned byteWidth(ElementType type);
/// Returns MLIR's name of the type: "i1", "i8", "ui8", ..., "bf16", "f32".
llvm::StringRef elementTypeName(ElementType type);
std::optional<ElementType> parseElementType(llvm::StringRef name);

/// A dense row-major tensor. Rank 0 has one element.
struct TensorType {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;

  int64_t elements() const;
  uint64_t bytes() const { return elements() * byteWidth(element); }
  /// Returns MLIR's form without the word `tensor`: "128x784xf32", "f32".
  std::string str() const;
  /// Returns the type whose dimension i is dimension `dims[i]` of this one; the
  /// same type without `dims`.
  TensorType permuted(llvm::ArrayRef<int64_t> dims) const;
  bool operator==(const TensorType &) const = default;
};

/// A place in the user's file. `line` 0: unknown.
struct Location {
  std::string file;
  unsigned line = 0, column = 0;
  /// Of the unrolled loops around it, the outermost first; counted from 0.
  std::vector<uint32_t> timeSteps = {};
  /// Returns "file:line:column", or "file:line:column in time step 3", or "" if
  /// unknown.
  std::string str() const;
  bool operator==(const Location &) const = default;
};

/// Returns "time step 3" or, of loops in loops, "time step 3 of time step 2".
std::string textOfTimeSteps(llvm::ArrayRef<uint32_t> outermostFirst);

/// Returns str() in parentheses after a space, or "" if the location is not
/// known.
std::string at(const Location &location);

/// The role of a variable in a step (see docs/architecture.md, State).
enum class VariableKind {
  Parameter,
  Buffer,
  Slot,
  Scaler,
  Attempt,
  Derived,
  Window
};
llvm::StringRef variableKindName(VariableKind kind);
std::optional<VariableKind> parseVariableKind(llvm::StringRef name);

/// First value of a variable, formulas already resolved to numbers.
/// constant: every element is `a`. uniform: in [a, b). normal: mean a, standard
/// deviation b. derived: computed by the entry point `derive`. seed: the run's.
struct Initializer {
  enum class Kind { Constant, Uniform, Normal, Derived, Seed };
  Kind kind = Kind::Constant;
  double a = 0, b = 0;
  bool operator==(const Initializer &) const = default;
};

/// The purpose of a variable within its kind.
struct VariableRole {
  enum class Kind {
    None,
    Slot,    ///< an optimizer's state for one parameter
    Average, ///< the moving average of a parameter
    Count,   ///< the number of steps that were applied or attempted
    Scale,   ///< the loss scale
    Tracker, ///< a count by which a loss scaler decides
    History, ///< the largest magnitudes of a tensor in earlier steps
    Position ///< the entry of histories that the step writes
  };
  Kind kind = Kind::None;
  std::string parameter = {}; ///< whose slot or average it is
  std::string slot = {};      ///< which slot: "exp_avg"
  bool operator==(const VariableRole &) const = default;
};
/// "slot", "average", ...; "" for None.
llvm::StringRef roleKindName(VariableRole::Kind kind);
std::optional<VariableRole::Kind> parseRoleKind(llvm::StringRef name);

struct Variable {
  std::string name;
  VariableKind kind = VariableKind::Parameter;
  TensorType type;
  Initializer init;
  Location location;
  VariableRole role = {};
  /// Dimension i in files is this dimension of the variable. Empty: files hold
  /// the same order.
  std::vector<int64_t> dimsInFiles = {};
  /// The tensor of which each rank has a part: of its elements in order, padded
  /// with zeros to as many for each rank, rank r has the r-th. Files hold it as
  /// a whole.
  std::optional<TensorType> whole = {};

  const TensorType &wholeType() const { return whole ? *whole : type; }
};

/// The place of an argument. Variable: `index` into Program::variables.
/// Constant: `index` into Program::constants. Staging: `index` into
/// Entry::inputs. Arena: `index` is 0. `offset` in bytes; each round of a
/// Repeat adds bytes to it, the stride of that Repeat.
struct BufferRef {
  enum class Space { Variable, Constant, Staging, Arena };
  Space space = Space::Arena;
  uint32_t index = 0;
  uint64_t offset = 0;
  /// For the Repeats around a step, the outermost first. The last is not 0:
  /// there is none for a Repeat whose rounds use the same place.
  std::vector<int64_t> strides = {};

  int64_t stride(size_t repeat) const {
    return repeat < strides.size() ? strides[repeat] : 0;
  }
  bool operator==(const BufferRef &) const = default;
};

/// A kernel. `symbol` is "k_" and the hash of the compiled text: two kernels of
/// one symbol are one kernel.
///
/// On the CPU `code` is a relocatable ELF object that exports `symbol` and
/// leaves no symbol undefined but those of libm:
///   void symbol(void *const *args, int64_t begin, int64_t end, void *shared)
/// It must not be linked on a host that lacks one of `features`
/// (comma-separated LLVM names, "avx2,f16c,...").
///
/// On CUDA `code` is C++ that includes nothing but Program::headers:
///   extern "C" __global__ void symbol(T0 *arg0, T1 *arg1, ...)
/// or, where its launch has a table, `symbol(void *const *args)`.
struct Kernel {
  std::string symbol;
  std::string features;
  std::string code;
  std::vector<Location> sources; ///< ops it came from, for messages and traces
  std::string summary; ///< the ops' names in order: "mp.linear mp.relu"
};

/// Runs a kernel. On the CPU: over work items [0, grid), `block` of them a
/// task; tasks are independent and may run in any order on any thread, and
/// `shared` bytes of scratch (64-byte aligned) belong to a task while it runs.
/// On CUDA: `grid` blocks of `block` threads with `shared` bytes of dynamic
/// shared memory; with `table` the kernel's one parameter is the address of a
/// table of `args` in device memory. The work of a task or block depends on the
/// shape alone, so results do not depend on how many run at once. The blocks of
/// a `cooperative` launch, which has a table, wait for one another: as many as
/// run at once are launched, at most `grid`, and they share the work. Behind
/// the table are 8 bytes for that, 0 at first.
struct Launch {
  uint32_t kernel = 0; ///< index into Program::kernels
  int64_t grid = 1, block = 1;
  uint64_t shared = 0;
  bool table = false;
  std::vector<BufferRef> args;
  /// Planned traffic: every argument is read once or written once, whole; one
  /// that is updated in place counts twice, and the kernel's predicate counts
  /// as true. 0: unknown.
  uint64_t bytes = 0;
  /// Floating-point operations of the graph, an fma as two; those that are
  /// computed again count once. 0: none, or unknown.
  uint64_t flops = 0;
  bool cooperative = false;
};

/// A named library routine, which defines the meaning of its attributes.
///
/// "dnnl.matmul": args a, b, [bias], c; c[m,n] = relu?(a[m,k] b[k,n] +
/// bias[n]);
///   m, n, k; a_strides, b_strides = [row, column] in elements; c is row-major;
///   a_type (= b_type), c_type, bias_type: element type names; bias, relu: 0
///   or 1. grid = m, block = rows of c in a task.
/// "cublaslt.matmul": the same, and a last argument of `workspace` bytes;
///   compute: "f32" or "tf32". "cudnn.conv2d": runtime/cuda/Conv2dCall.h.
/// "mpi.all_reduce", "mpi.all_gather", "mpi.reduce_scatter",
/// "mpi.broadcast_from": args tensors that a rank gives, then as many that it
///   gets, in the same place or in another; as mp::Collective,
///   type: element type name; elements: of each tensor that it gives;
///   reduction: "sum", "max" or "or"; root: a rank. The call only starts the
///   exchange. Steps up to its wait leave its tensors alone.
/// "mpi.wait": args the tensors of an exchange; `exchange`: which one of the
///   entry's, counted from 0. Exchanges end in their order.
/// "mpi.rank": args an i64, which becomes the number of the rank.
/// "nccl.*": the same on CUDA; kernel: symbol of the one that reduces.
struct Call {
  using Attribute = std::variant<int64_t, std::string, std::vector<int64_t>>;
  std::string routine;
  std::vector<std::pair<std::string, Attribute>> attributes;
  int64_t grid = 1, block = 1;
  std::vector<BufferRef> args;
  uint64_t bytes = 0; ///< as Launch::bytes, without a workspace
  uint64_t flops = 0; ///< as Launch::flops

  const Attribute *find(llvm::StringRef name) const;
};

/// Copies bytes; with `flag` (not on CUDA) only if the i1 there is true.
struct Copy {
  BufferRef to, from;
  uint64_t bytes = 0;
  std::optional<BufferRef> flag;
};

/// Runs the `steps` steps after this one `rounds` times, as a whole. A Repeat
/// among them counts with its own steps, and at most kMostLoops are around one
/// another.
struct Repeat {
  int64_t rounds = 1;
  uint32_t steps = 0;
};

using Step = std::variant<Launch, Call, Copy, Repeat>;

/// One argument of an entry point, bound to data by `name`. If `range` is set,
/// every element must lie in [range->first, range->second) or equal `exempt`.
struct Input {
  std::string name;
  TensorType type;
  std::optional<std::pair<int64_t, int64_t>> range;
  std::optional<int64_t> exempt;
  Location location;
};

struct Result {
  std::string name; ///< "" if the function gave none
  TensorType type;
  BufferRef ref;
  /// For an exposed gradient: the op whose result it is the gradient of.
  std::string origin = {};
  Location location = {};
};

/// A fact about a recorded value that a result holds; all are scalars.
enum class RecordFact {
  Magnitude, ///< the largest `mp.magnitude`, i32: not finite from 0x7F800000 on
  NonFinite, ///< number of elements that are not finite, i32
  Least,     ///< of the finite elements; infinite if none is
  Largest,   ///< of the finite elements; negative infinite if none is
  Row        ///< the first row with an element that is not finite, i32; else
             ///< INT32_MAX. Rows are samples of the batch.
};
inline constexpr size_t kRecordFacts = 5;
/// "magnitude", "nonfinite", ...
llvm::StringRef recordFactName(RecordFact fact);
std::optional<RecordFact> parseRecordFact(llvm::StringRef name);

/// A value that an entry point computes and whose size its results hold, if
/// requested. Records are in the order in which an entry point computes them.
struct Record {
  std::string op; ///< "mp.exp", "input 'x'", "variable 'w'"
  Location location;
  std::string phase; ///< "input", "variable", "forward", "backward", "update"
  TensorType type;
  std::vector<uint32_t>
      operands; ///< records of the values that it is computed from
  /// Whether it may be non-finite without a fault: a mask is made with an
  /// infinity, or another micro-batch made it.
  bool meant = false;
  /// Whether a step is skipped if it is not finite, or it is written to state.
  bool watched = false;
  /// Whether the value exists only if the step is not skipped.
  bool guarded = false;
  /// Index into Entry::results by RecordFact; -1: there is none.
  std::array<int32_t, kRecordFacts> results = {-1, -1, -1, -1, -1};
  int32_t result(RecordFact fact) const {
    return results[static_cast<size_t>(fact)];
  }
};

/// One value in the arena, for the memory table: live from the step that
/// writes it to the last that reads it.
struct Buffer {
  uint64_t offset = 0, bytes = 0;
  uint32_t firstStep = 0, lastStep = 0;
  Location location;
  std::string summary; ///< op that made the value
};

/// A function at one batch size (0: it has no batch dimension).
struct Entry {
  std::string function;
  int64_t batch = 0;
  std::string recipe = {}; ///< its recipe; "" for a function of no recipe
  Location location = {};  ///< of the function as the user wrote it
  std::vector<Input> inputs;
  std::vector<Result> results;
  std::vector<Record> records;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  uint64_t arenaBytes = 0;

  /// Whether the entry is called by this name: the function's, or with its
  /// recipe in front, as "slow.apply"; a step by its recipe's name alone, as
  /// "slow".
  bool isCalled(llvm::StringRef name) const;
  /// Returns the numbers of the Repeats around each step, the outermost first.
  std::vector<std::vector<uint32_t>> repeatsOfSteps() const;
  /// Returns how often each step runs, by its number. A Repeat counts as often
  /// as it begins.
  std::vector<int64_t> roundsOfSteps() const;
};

/// The windows of a file of tokens: window i is the `tokens` tokens from token
/// i * stride on, and its sample begins at token `offset` of it.
struct TokenWindow {
  int64_t tokens = 0; ///< 0: there are no windows
  int64_t stride = 0, offset = 0;
  /// Texts of equal length, of which each is a row of every batch.
  int64_t streams = 1;
  bool operator==(const TokenWindow &) const = default;
};

/// `mp.data`: the files that feed each argument. `pattern` is a shell glob
/// inside the data folder; `key` names a tensor inside a safetensors file.
struct DataColumn {
  std::string argument, pattern, format, key;
  ElementType element = ElementType::U8;
  Location location;
  std::vector<int64_t> dimsInFiles = {}; ///< as of a Variable; the first is 0
  /// Of a sample in "records"; height, width and channels of "images"; length
  /// of "tokens".
  std::vector<int64_t> shape = {};
  int64_t recordBytes = 0;  ///< of a record in "records"
  int64_t recordOffset = 0; ///< where the sample begins in its record
  TokenWindow window = {};  ///< of "tokens"
};

/// Returns what is wrong with the format, shape, record and window of a column,
/// or "".
std::string columnMistake(const DataColumn &column);
struct DataSource {
  std::string name;
  std::vector<DataColumn> columns;
  Location location;
};

/// A dense constant too large to stand in a kernel.
struct Constant {
  TensorType type;
  std::string bytes;
};

/// An op of the graph as its user wrote it. A checkpoint keeps the graph that
/// made it, so that a run that resumes it with another one can say how the two
/// differ. Names of functions, scalers and entry points are left out.
struct SourceOp {
  std::string name; ///< "mp.linear"
  std::string type; ///< "(tensor<2x8xf32>) -> tensor<2x4xf32>"
  /// The values that it takes: their numbers, in the order of their definition.
  std::vector<int64_t> operands = {};
  /// By name; a value of many elements is a hash of them.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  Location location = {};

  /// Compares all but the locations.
  bool operator==(const SourceOp &other) const {
    return name == other.name && type == other.type &&
           operands == other.operands && attributes == other.attributes;
  }
};

/// A file that CUDA kernels include by name.
struct Header {
  std::string name, text;
};

struct Program {
  std::string module; ///< name of the user's module
  std::string target; ///< "cpu" or "cuda"
  /// The architecture that the kernels were made for: LLVM's name of a CPU, or
  /// "sm_90".
  std::string arch;
  /// The precision of a recipe's function: "fp32", "tf32", "fp16" or "bf16"; ""
  /// without a recipe.
  std::string precision;
  /// Hash of the tuning plan that chose the kernels; "" without one.
  std::string plan;
  /// The settings that a saved step was compiled with, by the names of
  /// forEachSetting; those with their defaults are absent.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Micro-batches of a step: 1 runs `step`; more run `accumulate` up to that
  /// often and then `apply`.
  int64_t accumulate = 1;
  /// The number of ranks that its entry points exchange tensors with; 1: they
  /// exchange none. `accumulate` is that of each of them.
  int64_t ranks = 1;
  /// The preset of the loss scaler that a recipe trains with; set if a module
  /// is inspected, and "" otherwise.
  std::string scaler;
  /// Its fields, as `toText` of ScalerFields writes them; set as `scaler` is.
  std::string scalerFields;
  /// The loss scale that it begins with; set as `scaler` is.
  double scale = 1;
  /// A recipe, its policy and its function, with calls inlined, as they were
  /// written; set if a recipe is trained.
  std::vector<SourceOp> graph;
  std::vector<Variable> variables;
  std::vector<Constant> constants;
  std::vector<Header> headers;
  std::vector<Kernel> kernels;
  std::vector<Entry> entries;
  std::vector<DataSource> data;

  /// Returns the entry point of that name, or null.
  const Entry *find(llvm::StringRef function, int64_t batch) const;
};

/// Writes the text form; with `withCode` false it omits the objects, for
/// reading.
void print(const Program &program, llvm::raw_ostream &os, bool withCode = true);
/// Reads the text form; an error names the line.
llvm::Expected<Program> parseProgram(llvm::StringRef text);

} // namespace mp

#endif // MP_PROGRAM_PROGRAM_H
