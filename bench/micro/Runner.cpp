//===- Runner.cpp - a function to be measured -----------------------------===//
#include "Runner.h"
#include "codegen/Compile.h"
#include "runtime/Initialize.h"
#include <cstring>
#include <ctime>

using namespace llvm;
using namespace mp;
using namespace mp::micro;

unsigned micro::threads = 1;

Memory micro::memory(uint64_t bytes) {
  Memory made =
      cantFail(Memory::allocate(std::max<uint64_t>(bytes, 1), "data"));
  std::memset(made.data(), 1, bytes);
  return made;
}

Runner::Runner(const std::string &text, bool onednn) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.mode = Mode::Train; // some write variables
  options.onednn = onednn;
  options.workers = threads;
  Program program = cantFail(compile(text, options));
  for (const mp::Step &step : program.entries.front().steps)
    std::visit(
        [&](const auto &step) {
          using Kind = std::decay_t<decltype(step)>;
          if constexpr (std::is_same_v<Kind, Copy>) {
            bytes += 2 * step.bytes;
          } else if constexpr (!std::is_same_v<Kind, Repeat>) {
            bytes += step.bytes; // no function here repeats steps
            flops += step.flops;
          }
        },
        step);
  SessionOptions sessionOptions;
  sessionOptions.threads = threads;
  session = cantFail(Session::create(sessionOptions));
  cantFail(session->load(std::move(program)));
  cantFail(session->initialize(/*seed=*/1));
  executable = session->find("f", 0);
}

void Runner::makeInputs(ThreadPool &pool) {
  for (const Input &input : executable->entry().inputs) {
    inputs.push_back(memory(input.type.bytes()));
    MutableArrayRef<char> bytes(inputs.back().data(), input.type.bytes());
    if (input.type.element == ElementType::I64) {
      for (int64_t i = 0; i < input.type.elements(); ++i)
        reinterpret_cast<int64_t *>(bytes.data())[i] = i * 7919 % 1000;
    } else {
      Variable values{input.name,
                      VariableKind::Buffer,
                      input.type,
                      {Initializer::Kind::Uniform, -1, 1},
                      {}};
      cantFail(fill(values, /*seed=*/1, bytes, pool));
    }
    views.emplace_back(input.type.element, bytes);
  }
}

double micro::secondsOf(function_ref<void()> work) {
  // One thread's own time leaves out what other processes take of its core.
  clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  auto now = [&] {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
  };
  double start = now();
  work();
  return now() - start;
}
