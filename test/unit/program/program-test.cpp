//===- program-test.cpp - the text form of a Program ----------------------===//
#include "program/Program.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mp;
using Space = BufferRef::Space;

namespace {

std::string textOf(const Program &program, bool withCode = true) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os, withCode);
  return text;
}

std::string bytesOf(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i)
    bytes += static_cast<char>(i * 37 + i / 256);
  return bytes;
}

std::vector<Variable> variablesWithRoles() {
  TensorType weight{ElementType::F32, {16, 4}}, count{ElementType::I64, {}};
  Initializer zero{Initializer::Kind::Constant, 0, 0};
  using Kind = VariableRole::Kind;
  return {{"fc1.weight.exp_avg",
           VariableKind::Slot,
           weight,
           zero,
           {"dir with space/mlp.mlir", 3, 5},
           {Kind::Slot, "fc1.weight", "exp_avg"}},
          {"average",
           VariableKind::Slot,
           weight,
           zero,
           {},
           {Kind::Average, "h"},
           {1, 0}},
          {"applied", VariableKind::Slot, count, zero, {}, {Kind::Count}}};
}

/// Returns one of each step, and a repeat within another.
std::vector<Step> steps() {
  return {Launch{0,
                 128,
                 8,
                 64,
                 true,
                 {{Space::Staging, 0, 4},
                  {Space::Variable, 4, 0},
                  {Space::Constant, 0, 499},
                  {Space::Arena, 0, 4096}},
                 (uint64_t(1) << 33) + 1,
                 uint64_t(1) << 40,
                 true},
          Call{"dnnl.matmul",
               {{"m", int64_t(128)},
                {"least", INT64_MIN},
                {"a_type", std::string("f32")},
                {"digits", std::string("12")},
                {"odd = key", std::string("a; \"b\"]")},
                {"strides", std::vector<int64_t>{4, 1}},
                {"none", std::vector<int64_t>{}}},
               128,
               16,
               {{Space::Arena, 0, 0}},
               3584},
          Copy{{Space::Variable, 0, 0},
               {Space::Arena, 0, 0},
               256,
               BufferRef{Space::Arena, 0, 1024}},
          Copy{{Space::Arena, 0, 0}, {Space::Staging, 1, 0}, 128, std::nullopt},
          Repeat{3, 3},
          Copy{{Space::Arena, 0, 512, {-128}},
               {Space::Variable, 0, 0, {64}},
               64,
               std::nullopt},
          Repeat{2, 1},
          Copy{{Space::Arena, 0, 0, {0, 64}},
               {Space::Variable, 0, 0, {64, 32}},
               32,
               std::nullopt}};
}

/// Returns a Program with one of everything.
Program sample() {
  Program program;
  program.module = "two words \"quoted\"\n";
  program.target = "cpu";
  program.precision = "bf16";
  program.settings = {{"clip-norm", "0.5"}, {"policy", "my \"own\".json"}};
  program.accumulate = 4;
  program.arch = "znver5";
  Location at{"dir with space/mlp.mlir", 3, 5, {2, 0}};
  program.graph = {
      {"mp.minimize", "() -> ()", {}, {{"at", "#mp.sgd<lr = 0.1>"}, {"k", ""}}},
      {"mp.linear", "(tensor<?x4xf32>) -> tensor<?x2xf32>", {0, 12}, {}, at},
      {"my.op", "", {3}, {{"odd = key", "a \"quoted\"\nline"}}, at}};
  program.variables = {
      {"fc1.weight",
       VariableKind::Parameter,
       {ElementType::F32, {16, 4}},
       {Initializer::Kind::Uniform, -1.0 / 3, 0.1},
       at},
      {"h",
       VariableKind::Derived,
       {ElementType::F16, {16, 4}},
       {Initializer::Kind::Derived, 0, 0},
       {}},
      {"n",
       VariableKind::Buffer,
       {ElementType::BF16, {}},
       {Initializer::Kind::Normal, 0, 5e-324},
       {}},
      {"scale",
       VariableKind::Scaler,
       {ElementType::F32, {}},
       {Initializer::Kind::Constant, 65536, 0},
       {}},
      {"m \\ \"odd\" \xC3\xA9",
       VariableKind::Slot,
       {ElementType::F64, {0, 3}},
       {Initializer::Kind::Constant, -std::numeric_limits<double>::infinity()},
       {"", 7, 0}},
      {"attempt", VariableKind::Attempt, {ElementType::I64, {}}, {}, {}},
      {"micro", VariableKind::Window, {ElementType::I64, {}}, {}, {}},
  };
  llvm::append_range(program.variables, variablesWithRoles());
  program.constants = {{{ElementType::U8, {500}}, bytesOf(500)},
                       {{ElementType::F32, {0}}, ""}};
  program.headers = {{"prelude.cuh", "#pragma once\n\"\\"}, {"e", ""}};
  program.kernels = {{"k_1", "avx2,f16c", bytesOf(1000), {at, {}}, "mp.relu"},
                     {"k_2", "", "", {}, ""}};
  Entry entry;
  entry.function = "step";
  entry.batch = 128;
  entry.recipe = "slow one";
  entry.location = at;
  entry.arenaBytes = 4096;
  entry.inputs = {
      {"image", {ElementType::U8, {128, 4}}, {{-3, 10}}, 255, at},
      {"label", {ElementType::I1, {128}}, std::nullopt, std::nullopt, {}}};
  entry.steps = steps();
  entry.results = {{"loss", {ElementType::F32, {}}, {Space::Arena, 0, 64}},
                   {"", {ElementType::F32, {16, 4}}, {Space::Variable, 0, 0}},
                   {"gradient.0.1.0",
                    {ElementType::F32, {}},
                    {Space::Arena, 0, 64},
                    "mp.linear",
                    at}};
  entry.records = {
      {"input 'x \"y\"'", at, "input", {ElementType::F32, {128, 4}}, {}},
      {"mp.exp",
       {},
       "forward",
       {ElementType::F16, {}},
       {0},
       true,
       true,
       true,
       {0, 2, -1, -1, 0}}};
  entry.buffers = {{0, 512, 0, 3, at, "mp.linear"}, {4096, 0, 3, 3, {}, ""}};
  Entry derive;
  derive.function = "derive";
  program.entries = {entry, derive};
  program.data = {
      {"train",
       {{"image", "train-images*", "idx", "", ElementType::U8, at},
        {"label", "x y", "safetensors", "k", ElementType::I64, {}, {0, 2, 1}}},
       at}};
  return program;
}

Program parsed(llvm::StringRef text) {
  llvm::Expected<Program> program = parseProgram(text);
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError());
    return {};
  }
  return std::move(*program);
}

std::string problemOf(llvm::StringRef text) {
  llvm::Expected<Program> program = parseProgram(text);
  return program ? "" : llvm::toString(program.takeError());
}

TEST(Program, TextRoundTrips) {
  Program program = sample();
  std::string text = textOf(program);
  EXPECT_EQ(textOf(parsed(text)), text);
}

TEST(Program, EveryFieldComesBack) {
  Program before = sample(), after = parsed(textOf(before));
  EXPECT_EQ(after.module, before.module);
  ASSERT_EQ(after.variables.size(), before.variables.size());
  for (size_t i = 0; i < before.variables.size(); ++i) {
    EXPECT_EQ(after.variables[i].name, before.variables[i].name);
    EXPECT_EQ(after.variables[i].kind, before.variables[i].kind);
    EXPECT_EQ(after.variables[i].type, before.variables[i].type);
    EXPECT_EQ(after.variables[i].init, before.variables[i].init);
    EXPECT_EQ(after.variables[i].role, before.variables[i].role);
    EXPECT_EQ(after.variables[i].dimsInFiles, before.variables[i].dimsInFiles);
    EXPECT_EQ(after.variables[i].location, before.variables[i].location);
  }
  EXPECT_EQ(after.constants[0].bytes, before.constants[0].bytes);
  EXPECT_EQ(after.kernels[0].code, before.kernels[0].code);
  EXPECT_EQ(after.kernels[0].features, before.kernels[0].features);
  EXPECT_EQ(after.kernels[0].sources, before.kernels[0].sources);
  EXPECT_EQ(after.kernels[0].summary, before.kernels[0].summary);
  EXPECT_EQ(after.headers[0].name, before.headers[0].name);
  EXPECT_EQ(after.headers[0].text, before.headers[0].text);
  const Entry &entry = after.entries[0], &expected = before.entries[0];
  EXPECT_EQ(entry.recipe, expected.recipe);
  EXPECT_EQ(entry.location, expected.location);
  EXPECT_EQ(after.entries[1].recipe, "");
  EXPECT_EQ(entry.inputs[0].range, expected.inputs[0].range);
  EXPECT_EQ(entry.inputs[0].exempt, expected.inputs[0].exempt);
  EXPECT_EQ(std::get<Launch>(entry.steps[0]).args,
            std::get<Launch>(expected.steps[0]).args);
  EXPECT_EQ(std::get<Launch>(entry.steps[0]).shared, 64u);
  EXPECT_TRUE(std::get<Launch>(entry.steps[0]).cooperative);
  EXPECT_EQ(std::get<Launch>(entry.steps[0]).bytes, (uint64_t(1) << 33) + 1);
  EXPECT_EQ(std::get<Call>(entry.steps[1]).bytes, 3584u);
  EXPECT_EQ(std::get<Call>(entry.steps[1]).attributes,
            std::get<Call>(expected.steps[1]).attributes);
  EXPECT_EQ(std::get<Copy>(entry.steps[2]).flag,
            std::get<Copy>(expected.steps[2]).flag);
  EXPECT_EQ(std::get<Repeat>(entry.steps[4]).rounds, 3);
  EXPECT_EQ(std::get<Repeat>(entry.steps[4]).steps, 3u);
  EXPECT_EQ(std::get<Copy>(entry.steps[5]).to,
            std::get<Copy>(expected.steps[5]).to);
  EXPECT_EQ(std::get<Copy>(entry.steps[7]).to,
            std::get<Copy>(expected.steps[7]).to);
  EXPECT_EQ(std::get<Copy>(entry.steps[7]).from,
            std::get<Copy>(expected.steps[7]).from);
  EXPECT_EQ(entry.roundsOfSteps(),
            (std::vector<int64_t>{1, 1, 1, 1, 1, 3, 3, 6}));
  EXPECT_EQ(entry.results[1].ref, expected.results[1].ref);
  EXPECT_EQ(entry.results[1].origin, "");
  EXPECT_EQ(entry.results[2].origin, "mp.linear");
  EXPECT_EQ(entry.results[2].location, expected.results[2].location);
  EXPECT_EQ(entry.buffers[0].lastStep, 3u);
  EXPECT_EQ(after.data[0].columns[1].pattern, "x y");
  EXPECT_EQ(after.data[0].columns[1].key, "k");
  EXPECT_EQ(after.data[0].columns[1].element, ElementType::I64);
  EXPECT_EQ(after.data[0].columns[1].dimsInFiles,
            (std::vector<int64_t>{0, 2, 1}));
}

TEST(Program, CodeCanBeLeftOut) {
  std::string text = textOf(sample(), /*withCode=*/false);
  Program program = parsed(text);
  EXPECT_EQ(program.kernels[0].code, "");
  EXPECT_EQ(program.constants[0].bytes, bytesOf(500));
}

TEST(Program, AcceptsCarriageReturnsAndComments) {
  EXPECT_EQ(problemOf("; a comment\r\nmp.program 2\r\nmodule m ; here too\r\n"
                      "target cpu c\r\n\r\nend\r\n"),
            "");
}

TEST(Program, FindsEntriesAndAttributes) {
  Program program = sample();
  EXPECT_EQ(program.find("derive", 0), &program.entries[1]);
  EXPECT_EQ(program.find("step", 64), nullptr);
  EXPECT_EQ(program.find("slow one", 128), &program.entries[0]);
  EXPECT_EQ(program.find("slow one.step", 128), &program.entries[0]);
  for (llvm::StringRef name : {"slow", "slow one.", "slow onestep", ""})
    EXPECT_EQ(program.find(name, 128), nullptr) << name.str();
  Entry apply;
  apply.function = "apply";
  apply.recipe = "slow";
  EXPECT_TRUE(apply.isCalled("apply"));
  EXPECT_TRUE(apply.isCalled("slow.apply"));
  EXPECT_FALSE(apply.isCalled("slow")) << "two entry points make that step";
  const auto &call = std::get<Call>(program.entries[0].steps[1]);
  EXPECT_EQ(std::get<int64_t>(*call.find("m")), 128);
  EXPECT_EQ(call.find("absent"), nullptr);
}

TEST(Program, NamesTypes) {
  for (llvm::StringRef name : {"i1", "i8", "ui8", "i16", "ui16", "i32", "ui32",
                               "i64", "f16", "bf16", "f32", "f64"})
    EXPECT_EQ(elementTypeName(*parseElementType(name)), name);
  EXPECT_EQ(parseElementType("f8"), std::nullopt);
  EXPECT_EQ((TensorType{ElementType::BF16, {2, 3}}.str()), "2x3xbf16");
  EXPECT_EQ((TensorType{ElementType::BF16, {2, 3}}.bytes()), 12u);
  EXPECT_EQ((TensorType{ElementType::F64, {}}.bytes()), 8u);
  EXPECT_EQ((Location{"f", 2, 3}.str()), "f:2:3");
  EXPECT_EQ((Location{"f", 2, 3, {4}}.str()), "f:2:3 in time step 4");
  EXPECT_EQ((Location{"f", 2, 3, {4, 0}}.str()),
            "f:2:3 in time step 0 of time step 4");
  EXPECT_EQ(Location().str(), "");
}

TEST(Program, SamplesStayTheFirstDimension) {
  EXPECT_EQ(problemOf("mp.program 2\nmodule m\ntarget cpu c\ndata d\n"
                      "column x y npy f32 key \"\" dims_in_files [1,0]\nend\n"),
            "line 5: dimensions in files do not keep the samples first");
}

TEST(Program, ColumnsOfRecordsFitTheirRecords) {
  const std::string head = "mp.program 2\nmodule m\ntarget cpu c\ndata d\n",
                    column = "column x y records ui8 key \"\" shape [3,4] ";
  EXPECT_EQ(problemOf(head + column + "record 13 2\nend\n"),
            "line 5: column 'x' has samples of 12 bytes from byte 2 on, which "
            "leave records of 13 bytes");
  EXPECT_EQ(problemOf(head + column + "\nend\n"),
            "line 5: column 'x' has no record <bytes = N>, the size of a "
            "record");
  Program program;
  program.module = "m";
  program.data = {{"d", {{"x", "y", "records", "", ElementType::U8, {}}}, {}}};
  DataColumn &printed = program.data.front().columns.front();
  printed.shape = {3, 4};
  printed.recordBytes = 13;
  printed.recordOffset = 1;
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os);
  Program again = llvm::cantFail(parseProgram(text));
  const DataColumn &parsed = again.data.front().columns.front();
  EXPECT_EQ(parsed.shape, printed.shape);
  EXPECT_EQ(parsed.recordBytes, 13);
  EXPECT_EQ(parsed.recordOffset, 1);
}

TEST(Program, ColumnsOfTokensRoundTrip) {
  const std::string head = "mp.program 2\nmodule m\ntarget cpu c\ndata d\n",
                    column = "column x y tokens ui16 key \"\" shape [4] ";
  EXPECT_EQ(problemOf(head + column + "window 5 4 2\nend\n"),
            "line 5: column 'x' has samples of 4 tokens from token 2 on, which "
            "leave windows of 5 tokens");
  Program program;
  program.module = "m";
  program.data = {{"d", {{"x", "y", "tokens", "", ElementType::U16, {}}}, {}}};
  DataColumn &printed = program.data.front().columns.front();
  printed.shape = {4};
  printed.window = {.tokens = 5, .stride = 3, .offset = 1, .streams = 20};
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os);
  Program again = llvm::cantFail(parseProgram(text));
  EXPECT_EQ(again.data.front().columns.front().window, printed.window);
}

/// Each line is wrong as line 7 after this prefix.
constexpr llvm::StringLiteral prefix =
    "mp.program 2\nmodule m\ntarget cpu c\nvariable v buffer 4xf32 constant 0\n"
    "entry e batch 0 arena 64\ninput a f32\n";

struct Wrong {
  llvm::StringLiteral line, message;
};
void PrintTo(const Wrong &wrong, std::ostream *os) { *os << wrong.line.str(); }

class ProgramErrors : public testing::TestWithParam<Wrong> {};

TEST_P(ProgramErrors, NameTheLine) {
  std::string text = (prefix + GetParam().line + "\nend\n").str();
  EXPECT_EQ(problemOf(text), ("line 7: " + GetParam().message).str());
}

constexpr Wrong wrongs[] = {
    {"frobnicate", "unknown word 'frobnicate'"},
    {"variable v buffer f32 constant 0", "variable 'v' is declared twice"},
    {"variable w thing f32 constant 0", "unknown kind of variable 'thing'"},
    {"variable w buffer 4xf31 constant 0",
     "expected a tensor type, found '4xf31'"},
    {"variable w buffer -4xf32 constant 0",
     "expected a tensor type, found '-4xf32'"},
    {"variable w buffer 99999999999x99999999xf32 constant 0",
     "tensor '99999999999x99999999xf32' is too large"},
    {"variable w slot f32 constant 0 as part", "unknown role 'part'"},
    {"variable w slot f32 constant 0 as average of",
     "expected a parameter, found the end of the line"},
    {"variable w buffer f32 constant 0 dims_in_files 3",
     "expected a list of numbers after dims_in_files"},
    {"variable w buffer 2x3xf32 constant 0 dims_in_files [0,2]",
     "dimensions in files: [0, 2] names dimension 2, expected 0 to 1"},
    {"variable w buffer f32 magic", "unknown initializer 'magic'"},
    {"variable w buffer f32 constant 0x", "expected a number, found '0x'"},
    {"variable w buffer f32 constant 0 1 2", "unexpected '2'"},
    {"variable \"w buffer f32", "a quoted name is not closed"},
    {"variable \"\\zz\" buffer f32",
     "expected two hexadecimal digits after '\\'"},
    {"source", "'source' outside a kernel"},
    {"code 1 2", "'code' outside a kernel"},
    {"column a b idx f32 key k", "'column' outside data"},
    {"entry e batch -1 arena 0",
     "a batch size must lie between 0 and 1000000000, found -1"},
    {"accumulate 1000000001", "a number of micro-batches must lie between 1 "
                              "and 1000000000, found 1000000001"},
    {"entry e batch 0 arena 99999999999999999",
     "a size must be at most 70368744177664, found 99999999999999999"},
    {"launch k grid 1 block 1 shared 0 args", "unknown kernel 'k'"},
    {"call r grid 1 block 0 set args",
     "a count must lie between 1 and 9223372036854775807, found 0"},
    {"call r grid 1 block 1 set m args", "expected '=', found 'args'"},
    {"call r grid 1 block 1 set m=[1 args", "expected ',', found 'args'"},
    {"call r grid 1 block 1 set args @w+0", "unknown variable 'w'"},
    {"call r grid 1 block 1 set args const0+0",
     "there is no constant 'const0'"},
    {"call r grid 1 block 1 set args input1+0", "there is no input 'input1'"},
    {"call r grid 1 block 1 set args sky+0", "unknown buffer 'sky'"},
    {"call r grid 1 block 1 set args arena+65",
     "an offset must be at most 64, found 65"},
    {"copy 17 to @v+0 from arena+0",
     "needs 17 bytes at offset 0 of a space of 16"},
    {"copy 16 to @v+0 from arena+0 if arena+64",
     "needs 1 bytes at offset 64 of a space of 64"},
    {"copy 8 to @v+0 by 4 from arena+0", "a stride outside a repeat"},
    {"repeat 0 steps 1",
     "a number of rounds must lie between 1 and 1000000000, found 0"},
    {"repeat 2 steps 0", "a repeat of no steps"},
    {"result r 16xf32 arena+4", "needs 64 bytes at offset 4 of a space of 64"},
    {"buffer 0 64 steps 0 0 \"\"", "a buffer before the first step"},
    {"input a f32", "input 'a' is declared twice"},
    {"input b f32 at f:1:2 in x", "expected a time step, found 'x'"},
    {"input x 4xf32 range 3 2",
     "a bound not below the first must lie between 3 and 9223372036854775807, "
     "found 2"},
};
INSTANTIATE_TEST_SUITE_P(Text, ProgramErrors, testing::ValuesIn(wrongs));

TEST(Program, ARepeatStaysInItsSpaces) {
  auto problem = [](llvm::StringRef line) {
    return problemOf((prefix + "repeat 3 steps 1\n" + line + "\nend\n").str());
  };
  EXPECT_EQ(problem("copy 4 to @v+0 by 4 from arena+56 by -28"), "");
  EXPECT_EQ(problem("copy 8 to @v+0 by 8 from arena+0"),
            "line 8: a round leaves a space of 16 bytes");
  EXPECT_EQ(problem("copy 4 to @v+0 from arena+52 by -28"),
            "line 8: a round leaves a space of 64 bytes");
  EXPECT_EQ(problem("copy 4 to @v+0 by 0 from arena+0"),
            "line 8: a last stride of 0");
  EXPECT_EQ(problem("repeat 3 steps 1"),
            "line 8: a repeat of 1 steps within one that has 0 left");
  EXPECT_EQ(problem("result r f32 arena+0"),
            "line 8: a repeat lacks 1 of its steps");
  EXPECT_EQ(problem(""), "line 9: a repeat lacks 1 of its steps");
}

TEST(Program, RepeatsMayNest) {
  auto problem = [](llvm::StringRef steps) {
    return problemOf((prefix + steps + "\nend\n").str());
  };
  EXPECT_EQ(problem("repeat 2 steps 3\nrepeat 2 steps 1\n"
                    "copy 2 to @v+0 by 8 by 4 from arena+30 by -20 by -10\n"
                    "copy 2 to @v+0 by 14 from arena+0"),
            "");
  EXPECT_EQ(problem("repeat 2 steps 2\nrepeat 2 steps 1\n"
                    "copy 2 to @v+0 by 8 by 8 from arena+0"),
            "line 9: a round leaves a space of 16 bytes");
  EXPECT_EQ(problem("repeat 2 steps 2\nrepeat 2 steps 1\n"
                    "copy 2 to @v+0 by 1 by 1 by 1 from arena+0"),
            "line 9: a stride outside a repeat");
  EXPECT_EQ(problem("repeat 100000 steps 3\nrepeat 100000 steps 1"),
            "line 8: more than 1000000000 rounds");
  EXPECT_EQ(problem("repeat 2 steps 9\nrepeat 2 steps 7\nrepeat 2 steps 5\n"
                    "repeat 2 steps 3\nrepeat 2 steps 1"),
            "line 11: a repeat within 4 others");
}

TEST(Program, RefusesOtherTexts) {
  EXPECT_EQ(problemOf(""), "line 0: not a program: expected 'mp.program 2'");
  EXPECT_EQ(problemOf("module {\n}"),
            "line 1: not a program: expected 'mp.program 2'");
  EXPECT_EQ(problemOf("mp.program 1\n"),
            "line 1: version 1 of the text form, expected 2");
  EXPECT_EQ(problemOf((prefix + "constant 4xui8 0\nend").str()),
            "line 8: expected '|', found 'end'");
  EXPECT_EQ(problemOf(prefix), "line 6: the text breaks off: expected 'end'");
  EXPECT_EQ(problemOf((prefix + "end\nmodule").str()),
            "line 8: text after 'end'");
}

/// Without the checksum, which would notice every change.
std::string uncheckedText() {
  std::string text = textOf(sample());
  return "mp.program 2\n" + text.substr(text.find('\n') + 1);
}

TEST(Program, NoticesDamagedCode) {
  std::string text = uncheckedText();
  size_t digits = text.find("code 1000");
  digits = text.find('|', digits) + 1;
  text[digits] = text[digits] == 'A' ? 'B' : 'A';
  EXPECT_NE(problemOf(text).find("code of 'k_1' is damaged"),
            std::string::npos);
}

/// Whatever parses must print and parse again: then nothing is out of range.
void survives(llvm::StringRef text) {
  llvm::Expected<Program> program = parseProgram(text);
  if (!program) {
    EXPECT_TRUE(llvm::StringRef(llvm::toString(program.takeError()))
                    .starts_with("line "));
    return;
  }
  std::string again = textOf(*program);
  EXPECT_EQ(textOf(parsed(again)), again);
}

TEST(Program, NoticesEveryFlippedBit) {
  std::string text = textOf(sample());
  size_t flips = 0;
  for (char &byte : text)
    for (unsigned bit = 0; bit < 8; ++bit, ++flips) {
      byte ^= 1u << bit;
      EXPECT_NE(problemOf(text), "") << "bit " << flips;
      byte ^= 1u << bit;
    }
  EXPECT_GT(flips, 1000u);
}

TEST(Program, NoticesLinesThatMoved) {
  std::string text = textOf(sample());
  size_t first = text.find("  copy 256"), second = text.find("  copy 128"),
         end = text.find('\n', second) + 1;
  std::string swapped = text.substr(0, first) +
                        text.substr(second, end - second) +
                        text.substr(first, second - first) + text.substr(end);
  EXPECT_NE(problemOf(swapped).find("line 1: the text is damaged"),
            std::string::npos)
      << problemOf(swapped);
  EXPECT_EQ(
      problemOf("mp.program 2\n" + swapped.substr(swapped.find('\n') + 1)), "");
}

TEST(Program, SurvivesEveryTruncation) {
  std::string text = textOf(sample());
  for (size_t size = 0; size + 1 < text.size(); ++size) {
    llvm::StringRef part = llvm::StringRef(text).take_front(size);
    EXPECT_NE(problemOf(part), "") << size;
  }
}

TEST(Program, SurvivesFlippedBytes) {
  const std::string text = uncheckedText();
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string broken = text;
    for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
      broken[random() % broken.size()] ^= 1u << random() % 8;
    survives(broken);
  }
}

TEST(Program, SurvivesSwappedWords) {
  const std::string text = uncheckedText();
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    size_t from = random() % text.size(), size = random() % 12;
    std::string broken = text;
    broken.insert(random() % text.size(), text.substr(from, size));
    survives(broken);
  }
}

} // namespace
