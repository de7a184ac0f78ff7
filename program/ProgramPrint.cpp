//===- ProgramPrint.cpp - writes the text form of a Program ---------------===//
#include "program/ProgramText.h"
#include "support/Number.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mp;
using namespace mp::text;

namespace {

class Printer {
public:
  Printer(const Program &program, llvm::raw_ostream &os, bool withCode)
      : program(program), os(os), withCode(withCode) {}

  void print();

private:
  void name(llvm::StringRef text);
  void quoted(llvm::StringRef text);
  void number(double value);
  void location(const Location &location);
  void ref(const BufferRef &ref);
  void args(llvm::ArrayRef<BufferRef> refs);
  void cost(uint64_t bytes, uint64_t flops);
  void bytes(llvm::StringRef bytes);
  void payload(llvm::StringRef text);

  void variable(const Variable &variable);
  void role(const VariableRole &role);
  /// Prints a list behind its word, or nothing if it is empty.
  void list(llvm::StringRef word, llvm::ArrayRef<int64_t> numbers);
  void graph(const SourceOp &op);
  void kernel(const Kernel &kernel);
  void input(const Input &input);
  void step(const Launch &launch);
  void step(const Call &call);
  void step(const Copy &copy);
  void step(const Repeat &repeat);
  void attribute(const Call::Attribute &value);
  void record(const Record &record);
  void entry(const Entry &entry);
  void data(const DataSource &source);

  const Program &program;
  llvm::raw_ostream &os;
  bool withCode;
};

/// Writes a bare word if that reads back, else quotes it.
void Printer::name(llvm::StringRef text) {
  if (!text.empty() && llvm::all_of(text, isBare)) {
    os << text;
    return;
  }
  quoted(text);
}

void Printer::quoted(llvm::StringRef text) {
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
}

void Printer::number(double value) { os << shortestDecimal(value); }

void Printer::location(const Location &location) {
  if (location == Location())
    return;
  os << " at ";
  name(location.file);
  os << ':' << location.line << ':' << location.column;
  for (uint32_t step : location.timeSteps)
    os << " in " << step;
}

void Printer::ref(const BufferRef &ref) {
  switch (ref.space) {
  case BufferRef::Space::Variable:
    os << '@';
    name(program.variables[ref.index].name);
    break;
  case BufferRef::Space::Constant:
    os << "const" << ref.index;
    break;
  case BufferRef::Space::Staging:
    os << "input" << ref.index;
    break;
  case BufferRef::Space::Arena:
    os << "arena";
    break;
  }
  os << '+' << ref.offset;
  for (int64_t stride : ref.strides)
    os << ' ' << kStride << ' ' << stride;
}

void Printer::args(llvm::ArrayRef<BufferRef> refs) {
  os << " args";
  for (const BufferRef &arg : refs) {
    os << ' ';
    ref(arg);
  }
}

void Printer::bytes(llvm::StringRef bytes) {
  constexpr size_t bytesPerLine = 72;
  for (; !bytes.empty();
       bytes = bytes.drop_front(std::min(bytes.size(), bytesPerLine)))
    os << "  |" << llvm::encodeBase64(bytes.take_front(bytesPerLine)) << '\n';
}

/// Writes the rest of a line: size and checksum of the bytes in the lines
/// below.
void Printer::payload(llvm::StringRef text) {
  os << ' ' << text.size() << ' ' << checksum(text) << '\n';
  bytes(text);
}

void Printer::role(const VariableRole &role) {
  if (role.kind == VariableRole::Kind::None)
    return;
  os << " as " << roleKindName(role.kind);
  if (!role.parameter.empty()) {
    os << " of ";
    name(role.parameter);
  }
  if (!role.slot.empty()) {
    os << " named ";
    name(role.slot);
  }
}

void Printer::graph(const SourceOp &op) {
  os << "graph ";
  name(op.name);
  os << ' ';
  name(op.type);
  if (!op.operands.empty())
    os << " from";
  for (int64_t operand : op.operands)
    os << ' ' << operand;
  if (!op.attributes.empty())
    os << " set";
  for (const auto &[key, value] : op.attributes) {
    // A key is always quoted: a bare `at` would begin the location.
    os << ' ';
    quoted(key);
    os << '=';
    name(value);
  }
  location(op.location);
  os << '\n';
}

void Printer::list(llvm::StringRef word, llvm::ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return;
  os << ' ' << word << " [";
  llvm::interleave(numbers, os, ",");
  os << ']';
}

void Printer::variable(const Variable &variable) {
  os << "variable ";
  name(variable.name);
  os << ' ' << variableKindName(variable.kind) << ' ' << variable.type.str();
  if (variable.whole)
    os << ' ' << kPartOf << ' ' << variable.whole->str();
  const Initializer &init = variable.init;
  for (const auto &[kind, word] : kInitializerNames)
    if (kind == init.kind)
      os << ' ' << word;
  bool two = init.kind == Initializer::Kind::Uniform ||
             init.kind == Initializer::Kind::Normal || init.b != 0;
  if (two || init.kind == Initializer::Kind::Constant || init.a != 0) {
    os << ' ';
    number(init.a);
  }
  if (two) {
    os << ' ';
    number(init.b);
  }
  role(variable.role);
  list(kDimsInFiles, variable.dimsInFiles);
  location(variable.location);
  os << '\n';
}

void Printer::kernel(const Kernel &kernel) {
  os << "kernel ";
  name(kernel.symbol);
  os << ' ';
  name(kernel.features);
  os << ' ';
  name(kernel.summary);
  os << '\n';
  for (const Location &source : kernel.sources) {
    os << "  source";
    location(source);
    os << '\n';
  }
  if (withCode && !kernel.code.empty()) {
    os << "  code";
    payload(kernel.code);
  }
}

void Printer::input(const Input &input) {
  os << "  input ";
  name(input.name);
  os << ' ' << input.type.str();
  if (input.range)
    os << " range " << input.range->first << ' ' << input.range->second;
  if (input.exempt)
    os << " exempt " << *input.exempt;
  location(input.location);
  os << '\n';
}

void Printer::cost(uint64_t bytes, uint64_t flops) {
  if (bytes)
    os << " bytes " << bytes;
  if (flops)
    os << " flops " << flops;
}

void Printer::step(const Launch &launch) {
  const Kernel &kernel = program.kernels[launch.kernel];
  os << "  launch ";
  name(kernel.symbol);
  os << " grid " << launch.grid << " block " << launch.block << " shared "
     << launch.shared;
  cost(launch.bytes, launch.flops);
  os << (launch.table ? " table" : "")
     << (launch.cooperative ? " cooperative" : "");
  args(launch.args);
  if (!kernel.summary.empty()) {
    os << " ; ";
    llvm::printEscapedString(kernel.summary, os);
  }
  os << '\n';
}

void Printer::attribute(const Call::Attribute &value) {
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    os << *integer;
  } else if (const auto *text = std::get_if<std::string>(&value)) {
    // The text is always quoted: a bare word of digits would read back as an
    // integer.
    quoted(*text);
  } else {
    os << '[';
    llvm::interleave(std::get<std::vector<int64_t>>(value), os, ",");
    os << ']';
  }
}

void Printer::step(const Call &call) {
  os << "  call ";
  name(call.routine);
  os << " grid " << call.grid << " block " << call.block;
  cost(call.bytes, call.flops);
  os << " set";
  for (const auto &[key, value] : call.attributes) {
    os << ' ';
    name(key);
    os << '=';
    attribute(value);
  }
  args(call.args);
  os << '\n';
}

void Printer::step(const Copy &copy) {
  os << "  copy " << copy.bytes << " to ";
  ref(copy.to);
  os << " from ";
  ref(copy.from);
  if (copy.flag) {
    os << " if ";
    ref(*copy.flag);
  }
  os << '\n';
}

void Printer::step(const Repeat &repeat) {
  os << "  repeat " << repeat.rounds << " steps " << repeat.steps << '\n';
}

void Printer::record(const Record &record) {
  os << "  record ";
  name(record.op);
  os << ' ' << record.phase << ' ' << record.type.str();
  if (!record.operands.empty())
    os << " from";
  for (uint32_t operand : record.operands)
    os << ' ' << operand;
  for (auto [word, set] : {std::pair("meant", record.meant),
                           {"watched", record.watched},
                           {"guarded", record.guarded}})
    if (set)
      os << ' ' << word;
  for (size_t i = 0; i < kRecordFacts; ++i)
    if (record.results[i] >= 0)
      os << ' ' << recordFactName(RecordFact(i)) << ' ' << record.results[i];
  location(record.location);
  os << '\n';
}

void Printer::entry(const Entry &entry) {
  os << "entry ";
  name(entry.function);
  os << " batch " << entry.batch << " arena " << entry.arenaBytes;
  if (!entry.recipe.empty()) {
    os << " recipe ";
    name(entry.recipe);
  }
  location(entry.location);
  os << '\n';
  for (const Input &value : entry.inputs)
    input(value);
  for (const Step &value : entry.steps)
    std::visit([&](const auto &concrete) { step(concrete); }, value);
  for (const Result &result : entry.results) {
    os << "  result ";
    name(result.name);
    os << ' ' << result.type.str() << ' ';
    ref(result.ref);
    if (!result.origin.empty()) {
      os << " of ";
      name(result.origin);
      location(result.location);
    }
    os << '\n';
  }
  for (const Record &value : entry.records)
    record(value);
  for (const Buffer &buffer : entry.buffers) {
    os << "  buffer " << buffer.offset << ' ' << buffer.bytes << " steps "
       << buffer.firstStep << ' ' << buffer.lastStep << ' ';
    name(buffer.summary);
    location(buffer.location);
    os << '\n';
  }
}

void Printer::data(const DataSource &source) {
  os << "data ";
  name(source.name);
  location(source.location);
  os << '\n';
  for (const DataColumn &column : source.columns) {
    os << "  column ";
    name(column.argument);
    os << ' ';
    name(column.pattern);
    os << ' ';
    name(column.format);
    os << ' ' << elementTypeName(column.element) << " key ";
    name(column.key);
    list(kShape, column.shape);
    if (column.recordBytes)
      os << ' ' << kRecord << ' ' << column.recordBytes << ' '
         << column.recordOffset;
    const TokenWindow &window = column.window;
    if (window.tokens)
      os << ' ' << kWindow << ' ' << window.tokens << ' ' << window.stride
         << ' ' << window.offset;
    if (window.streams != 1)
      os << ' ' << kStreams << ' ' << window.streams;
    list(kDimsInFiles, column.dimsInFiles);
    location(column.location);
    os << '\n';
  }
}

void Printer::print() {
  os << "module ";
  name(program.module);
  os << "\ntarget ";
  name(program.target);
  os << ' ';
  name(program.arch);
  os << '\n';
  if (!program.precision.empty()) {
    os << "precision ";
    name(program.precision);
    os << '\n';
  }
  if (!program.plan.empty()) {
    os << "plan ";
    name(program.plan);
    os << '\n';
  }
  for (const auto &[key, value] : program.settings) {
    os << "setting ";
    name(key);
    os << ' ';
    name(value);
    os << '\n';
  }
  if (program.accumulate != 1)
    os << "accumulate " << program.accumulate << '\n';
  if (program.ranks != 1)
    os << "ranks " << program.ranks << '\n';
  for (const SourceOp &op : program.graph)
    graph(op);
  for (const Variable &value : program.variables)
    variable(value);
  for (const Constant &constant : program.constants) {
    os << "constant " << constant.type.str() << ' ' << checksum(constant.bytes)
       << '\n';
    bytes(constant.bytes);
  }
  for (const Header &header : program.headers) {
    os << "include ";
    name(header.name);
    payload(header.text);
  }
  for (const Kernel &value : program.kernels)
    kernel(value);
  for (const Entry &value : program.entries)
    entry(value);
  for (const DataSource &value : program.data)
    data(value);
  os << "end\n";
}

} // namespace

void mp::print(const Program &program, llvm::raw_ostream &os, bool withCode) {
  os << "mp.program " << kVersion;
  if (!withCode) {
    os << '\n';
    return Printer(program, os, withCode).print();
  }
  std::string text;
  llvm::raw_string_ostream lines(text);
  Printer(program, lines, withCode).print();
  os << ' ' << checksum(text) << '\n' << text;
}
