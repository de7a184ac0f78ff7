//===- OnednnMatmul.cpp - the routine "dnnl.matmul" -----------------------===//
#include "runtime/cpu/OnednnMatmul.h"
#include "runtime/MatmulCall.h"
#include "runtime/cpu/Onednn.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include <array>
#include <mutex>

using namespace mp;
using namespace mp::dnnl;

namespace {

using Shape = MatmulCall;

llvm::Expected<Shape> readShape(const Call &call) {
  auto shape = readMatmul(call, {ElementType::F32, ElementType::BF16});
  if (!shape)
    return shape;
  if (call.grid != shape->m || call.block < 1)
    return llvm::createStringError(
        "expected a grid of m = " + llvm::Twine(shape->m) + " rows, found " +
        llvm::Twine(call.grid));
  if (llvm::Error error = checkArguments(call, shape->arguments()))
    return error;
  return shape;
}

int dataType(ElementType type) {
  return type == ElementType::F32 ? typeF32 : typeBF16;
}

/// oneDNN's descriptions of the operands of one slice of rows.
struct Operands {
  MemoryDesc a, b, bias, c;
};

llvm::Expected<Operands> describeOperands(const Library &library,
                                          const Shape &shape, int64_t rows) {
  Operands operands;
  auto describe = [&](MemoryDesc &desc, std::array<int64_t, 2> dims,
                      ElementType type, std::array<int64_t, 2> strides) {
    return check(library.memory_desc_init_by_strides(
                     &desc, 2, dims.data(), dataType(type), strides.data()),
                 "dnnl_memory_desc_init_by_strides", shape.str());
  };
  if (llvm::Error error = describe(operands.a, {rows, shape.k}, shape.aType,
                                   {shape.aStrides[0], shape.aStrides[1]}))
    return error;
  if (llvm::Error error = describe(operands.b, {shape.k, shape.n}, shape.aType,
                                   {shape.bStrides[0], shape.bStrides[1]}))
    return error;
  if (shape.biasType)
    if (llvm::Error error = describe(operands.bias, {1, shape.n},
                                     *shape.biasType, {shape.n, 1}))
      return error;
  if (llvm::Error error =
          describe(operands.c, {rows, shape.n}, shape.cType, {shape.n, 1}))
    return error;
  return operands;
}

/// Makes us provide the scratch, and keeps oneDNN from rounding operands.
llvm::Expected<Handle<Attributes>> makeAttributes(const Library &library,
                                                  const Shape &shape) {
  Handle<Attributes> attributes;
  if (llvm::Error error = check(library.primitive_attr_create(attributes.slot(
                                    library.primitive_attr_destroy)),
                                "dnnl_primitive_attr_create", shape.str()))
    return error;
  if (llvm::Error error =
          check(library.primitive_attr_set_scratchpad_mode(attributes.get(),
                                                           scratchpadUser),
                "dnnl_primitive_attr_set_scratchpad_mode", shape.str()))
    return error;
  // The environment can ask oneDNN to round f32 operands; this overrides it.
  if (llvm::Error error =
          check(library.primitive_attr_set_fpmath_mode(attributes.get(),
                                                       fpmathStrict),
                "dnnl_primitive_attr_set_fpmath_mode", shape.str()))
    return error;
  return attributes;
}

llvm::Expected<Handle<PrimitiveDesc>> describeMatmul(const Library &library,
                                                     const Shape &shape,
                                                     const Operands &operands) {
  MatmulDesc desc;
  if (llvm::Error error =
          check(library.matmul_desc_init(
                    &desc, &operands.a, &operands.b,
                    shape.biasType ? &operands.bias : nullptr, &operands.c),
                "dnnl_matmul_desc_init", shape.str()))
    return error;
  llvm::Expected<Handle<Attributes>> attributes =
      makeAttributes(library, shape);
  if (!attributes)
    return attributes.takeError();
  Handle<PrimitiveDesc> result;
  if (llvm::Error error =
          check(library.primitive_desc_create(
                    result.slot(library.primitive_desc_destroy), &desc,
                    attributes->get(), library.engine, nullptr),
                "dnnl_primitive_desc_create", "a matmul of " + shape.str()))
    return error;
  return result;
}

/// One worker's primitive for tasks of `rows` rows. The memory objects get new
/// addresses in every run and belong to one worker, as oneDNN's are not
/// thread-safe.
struct Slice {
  int64_t rows = 0;
  uint64_t scratchBytes = 0;
  Handle<Primitive> primitive;
  Handle<dnnl::Memory> a, b, bias, c, scratch;
};

llvm::Expected<Slice> makeSlice(const Library &library, const Shape &shape,
                                int64_t rows) {
  llvm::Expected<Operands> operands = describeOperands(library, shape, rows);
  if (!operands)
    return operands.takeError();
  llvm::Expected<Handle<PrimitiveDesc>> desc =
      describeMatmul(library, shape, *operands);
  if (!desc)
    return desc.takeError();
  Slice slice;
  slice.rows = rows;
  if (llvm::Error error = check(
          library.primitive_create(
              slice.primitive.slot(library.primitive_destroy), desc->get()),
          "dnnl_primitive_create", "a matmul of " + shape.str()))
    return error;
  const MemoryDesc *scratch =
      library.primitive_desc_query_md(desc->get(), queryScratchpad, 0);
  slice.scratchBytes = scratch ? library.memory_desc_get_size(scratch) : 0;

  auto create = [&](Handle<dnnl::Memory> &memory, const MemoryDesc *type) {
    return check(library.memory_create(memory.slot(library.memory_destroy),
                                       type, library.engine, nullptr),
                 "dnnl_memory_create", shape.str());
  };
  std::pair<Handle<dnnl::Memory> *, const MemoryDesc *> memories[] = {
      {&slice.a, &operands->a},
      {&slice.b, &operands->b},
      {&slice.bias, shape.biasType ? &operands->bias : nullptr},
      {&slice.c, &operands->c},
      {&slice.scratch, slice.scratchBytes ? scratch : nullptr}};
  for (auto &[memory, type] : memories)
    if (type)
      if (llvm::Error error = create(*memory, type))
        return error;
  return slice;
}

/// Applies relu in place as our kernels do. The relu that oneDNN could fuse
/// turns NaN into zero, so that an overflow would go unnoticed.
void relu(float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = values[i] <= 0 ? 0 : values[i];
}

/// Does the same to bf16 bits: zero if the sign is set, unless it is NaN.
void relu(int16_t *values, int64_t count) {
  constexpr int16_t infinity = 0x7f80;
  for (int64_t i = 0; i < count; ++i) {
    bool negative = values[i] < 0 && (values[i] & 0x7fff) <= infinity;
    values[i] = negative ? 0 : values[i];
  }
}

class Matmul final : public Routine {
public:
  Matmul(const Library &library, Shape shape, int64_t block, unsigned workers)
      : library(library), shape(std::move(shape)), block(block),
        workers(workers) {}

  llvm::Error prepare(unsigned worker) override;
  uint64_t scratchBytes() const override;
  void run(void *const *args, int64_t begin, int64_t end, void *scratch,
           unsigned worker) override;

private:
  struct Worker {
    Handle<Stream> stream;
    llvm::SmallVector<Slice, 2>
        slices; ///< for whole tasks, and for the last one
  };

  const Library &library;
  Shape shape;
  int64_t block;
  std::vector<Worker> workers;
};

llvm::Error Matmul::prepare(unsigned index) {
  // The mutex lets the first worker generate the code, and the others find it
  // in oneDNN's cache, whose look-up races with an insertion (ThreadSanitizer).
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  Worker &worker = workers[index];
  // The number of threads is state of the calling thread, and is built into a
  // primitive and its scratch.
  for (auto *set :
       {library.omp_set_num_threads, library.preloaded_omp_set_num_threads})
    if (set)
      set(1);
  if (llvm::Error error = check(
          library.stream_create(worker.stream.slot(library.stream_destroy),
                                library.engine, streamInOrder),
          "dnnl_stream_create", shape.str()))
    return error;
  for (int64_t rows : {std::min(block, shape.m), shape.m % block}) {
    if (rows == 0 || (!worker.slices.empty() && worker.slices[0].rows == rows))
      continue;
    llvm::Expected<Slice> slice = makeSlice(library, shape, rows);
    if (!slice)
      return slice.takeError();
    worker.slices.push_back(std::move(*slice));
  }
  return llvm::Error::success();
}

uint64_t Matmul::scratchBytes() const {
  uint64_t bytes = 0;
  for (const Slice &slice : workers[0].slices)
    bytes = std::max(bytes, slice.scratchBytes);
  return bytes;
}

void Matmul::run(void *const *args, int64_t begin, int64_t end, void *scratch,
                 unsigned index) {
  Worker &worker = workers[index];
  Slice *slice = &worker.slices[0];
  if (slice->rows != end - begin)
    slice = &worker.slices.back();
  void *const *next = args;
  Argument arguments[5];
  int count = 0;
  Status status = success;
  auto bind = [&](int kind, dnnl::Memory memory, void *data) {
    if (status == success)
      status = library.memory_set_data_handle(memory, data);
    arguments[count++] = {kind, memory};
  };
  auto row = [](void *base, int64_t elements, ElementType type) {
    return static_cast<char *>(base) + elements * byteWidth(type);
  };
  bind(argSource, slice->a.get(),
       row(*next++, begin * shape.aStrides[0], shape.aType));
  bind(argWeights, slice->b.get(), *next++);
  if (shape.biasType)
    bind(argBias, slice->bias.get(), *next++);
  char *result = row(*next++, begin * shape.n, shape.cType);
  bind(argDestination, slice->c.get(), result);
  if (slice->scratchBytes)
    bind(argScratchpad, slice->scratch.get(), scratch);
  if (status == success)
    status = library.primitive_execute(slice->primitive.get(),
                                       worker.stream.get(), count, arguments);
  if (status == success)
    status = library.stream_wait(worker.stream.get());
  // Whatever can be rejected was rejected when the primitive was made.
  if (status != success)
    llvm::report_fatal_error("oneDNN: a matmul failed while running");
  int64_t elements = (end - begin) * shape.n;
  if (shape.relu && shape.cType == ElementType::F32)
    relu(reinterpret_cast<float *>(result), elements);
  else if (shape.relu)
    relu(reinterpret_cast<int16_t *>(result), elements);
}

} // namespace

llvm::Expected<std::unique_ptr<Routine>>
mp::createOnednnMatmul(const Call &call, const RoutineContext &context) {
  llvm::Expected<Shape> shape = readShape(call);
  if (!shape)
    return shape.takeError();
  llvm::Expected<const Library &> library = dnnl::open();
  if (!library)
    return library.takeError();
  return std::make_unique<Matmul>(*library, std::move(*shape), call.block,
                                  context.workers);
}

std::string mp::onednnMatmulKernel(ElementType type) {
  if (!onednnAvailable() ||
      (type != ElementType::F32 && type != ElementType::BF16))
    return "";
  const Library &library = llvm::cantFail(dnnl::open());
  Shape shape{.m = 64,
              .n = 64,
              .k = 64,
              .aStrides = {64, 1},
              .bStrides = {64, 1},
              .aType = type,
              .cType = type,
              .biasType = {}};
  llvm::Expected<Operands> operands = describeOperands(library, shape, shape.m);
  if (!operands) {
    llvm::consumeError(operands.takeError());
    return "";
  }
  llvm::Expected<Handle<PrimitiveDesc>> desc =
      describeMatmul(library, shape, *operands);
  if (!desc) {
    llvm::consumeError(desc.takeError());
    return "";
  }
  const char *name = "";
  library.primitive_desc_query(desc->get(), queryImplementation, 0,
                               static_cast<void *>(&name));
  return name;
}
