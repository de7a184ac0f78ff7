//===- ProductTimer.cpp - how long a product takes on a device ------------===//
#include "tools/run/ProductTimer.h"
#include "codegen/Compile.h"
#include "codegen/cuda/contraction/TuneModules.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "tools/run/ReferenceSums.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace mp::cuda;

namespace mp::tool {

/// Returns the number of products in a run: so many that starting the run costs
/// little and the operands do not all fit a cache, but no more than can be
/// filled quickly.
static unsigned copiesOf(const TunedShape &shape) {
  TunedTensors tensors = tensorsOf(shape);
  int64_t elements = tensors.a.elements() + tensors.c.elements();
  return std::clamp<int64_t>((int64_t(1) << 25) / elements, 1, 16);
}

Expected<ProductTimer> ProductTimer::create(const TunedShape &shape,
                                            Device device) {
  auto session = Session::create({.device = device});
  if (!session)
    return session.takeError();
  if ((*session)->target() != "cuda")
    return makeError("tuning needs a CUDA device, and {0} is none",
                     device.str());
  auto arch = Arch::get((*session)->arch());
  if (!arch)
    return arch.takeError();
  ProductTimer timer;
  timer.shape = shape;
  timer.architecture = *arch;
  timer.session = std::move(*session);
  timer.copies = copiesOf(shape);
  return std::move(timer);
}

/// Measures microseconds of `runs` runs, started one after the other.
static Expected<double> timeRuns(Executable &executable, unsigned runs) {
  auto begin = std::chrono::steady_clock::now();
  Executable::Ticket last = 0;
  for (unsigned i = 0; i < runs; ++i) {
    auto ticket = executable.submit({});
    if (!ticket)
      return ticket.takeError();
    last = *ticket;
  }
  if (auto results = executable.results(last); !results)
    return results.takeError();
  std::chrono::duration<double, std::micro> taken =
      std::chrono::steady_clock::now() - begin;
  return taken.count();
}

static std::string functionOf(unsigned choice) {
  return "way" + std::to_string(choice);
}

Expected<unsigned> ProductTimer::add(const TunePlan::Choice &choice) {
  TunePlan plan;
  plan.arch = architecture;
  plan.choices[lineOf(shape)] = choice;
  CompileOptions options;
  options.goal = Goal::Run;
  options.mode = Mode::Train; // which writes
  options.target = "cuda";
  options.arch = architecture.name();
  options.plan = plan.str();
  options.cublaslt = options.cudnn = !choice.config;
  unsigned number = programs.size();
  auto sink = session->sink();
  auto program = compile(benchmarkOf(shape, functionOf(number), copies),
                         options, sink.get());
  if (!program)
    return program.takeError();
  programs.push_back(std::move(*program));
  return number;
}

Expected<double> ProductTimer::measure(unsigned choice) {
  if (Error error = session->load(std::move(programs[choice])))
    return std::move(error);
  if (a.empty()) {
    if (Error error = session->initialize(/*seed=*/0))
      return std::move(error);
    if (Error error = readOperands())
      return std::move(error);
  }
  Executable *executable = session->find(functionOf(choice), 0);
  if (!executable)
    return makeError("the session does not find '{0}'", functionOf(choice));

  constexpr double round = 4000; // microseconds
  constexpr unsigned rounds = 5, mostRuns = 1000;
  auto first = timeRuns(*executable, 1); // warms up
  if (first)
    first = timeRuns(*executable, 2);
  if (!first)
    return first.takeError();
  unsigned runs = std::clamp<double>(2 * round / *first, 1, mostRuns);
  std::vector<double> times;
  for (unsigned i = 0; i < rounds; ++i) {
    auto time = timeRuns(*executable, runs);
    if (!time)
      return time.takeError();
    times.push_back(*time / runs / copies);
  }
  llvm::sort(times);
  return times[rounds / 2];
}

//===----------------------------------------------------------------------===//
// Error of a result
//===----------------------------------------------------------------------===//

Expected<std::vector<char>> ProductTimer::read(StringRef name) {
  auto variables = session->variables();
  auto variable = llvm::find_if(
      variables, [&](const Variable &v) { return v.name == name; });
  if (variable == variables.end())
    return makeError("the session has no variable '{0}'", name);
  std::vector<char> bytes(variable->type.bytes());
  if (Error error = session->read(name, bytes))
    return std::move(error);
  return bytes;
}

Error ProductTimer::readOperands() {
  for (auto [bytes, name] : {std::pair(&a, "a0"), std::pair(&b, "b")}) {
    auto found = read(name);
    if (!found)
      return found.takeError();
    *bytes = std::move(*found);
  }
  return Error::success();
}

Expected<double> ProductTimer::error() {
  auto c = read("c0");
  if (!c)
    return c.takeError();
  ElementType type = productOf(shape).type;
  auto elementsOf = [type](const std::vector<char> &bytes) {
    return [type, &bytes](int64_t index) {
      return loadElement(type, &bytes[index * byteWidth(type)]);
    };
  };
  // No more terms than are added in a moment.
  const int64_t samples =
      std::clamp<int64_t>((1 << 22) / productOf(shape).k, 64, 512);
  const int64_t size = tensorsOf(shape).c.elements();
  double off = 0, whole = 0;
  for (int64_t sample = 0; sample < std::min(samples, size); ++sample) {
    // The samples are far apart, and in every row and column of a tile.
    int64_t place = size <= samples ? sample : sample * 7919 * 104729 % size;
    double sum = referenceAt(shape, place, elementsOf(a), elementsOf(b));
    double difference = elementsOf(*c)(place) - sum;
    off += difference * difference;
    whole += sum * sum;
  }
  return whole > 0 ? std::sqrt(off / whole) : std::sqrt(off);
}

double ProductTimer::tolerance() const {
  GemmShape product = productOf(shape);
  if (product.type == ElementType::BF16)
    return 1e-2;
  return product.type == ElementType::F16 || product.tf32 ? 2e-3 : 1e-5;
}

} // namespace mp::tool
