//===- static-product.cpp - does not compile with WRONG_... ---------------===//
#include "dsl/Static.h"

using namespace mantissa;

void build(Graph &net) {
  auto x = staticInput<F32, 128, 784>(net, "x");
  auto w = staticParameter<F32, 784, 512>(net, "w", kaimingUniform());
#if defined(WRONG_PRODUCT)
  auto v = staticParameter<F32, 512, 784>(net, "v", kaimingUniform());
  Static<F32, 128, 784> y = matmul(x, v);
#elif defined(WRONG_LINEAR)
  Static<F32, 128, 784> y = linear(x, w);
#elif defined(WRONG_TYPE)
  auto v = staticParameter<F16, 784, 512>(net, "v", kaimingUniform());
  Static<F32, 128, 512> y = matmul(x, v);
#elif defined(WRONG_RESULT)
  Static<F32, 128, 511> y = matmul(x, w);
#elif defined(WRONG_SUM)
  Static<F32, 128, 784> y = x + w;
#elif defined(WRONG_AND)
  Tensor flags = x.tensor() > 0, y = select(flags && flags, 1, x.tensor());
#elif defined(WRONG_OR)
  Tensor flags = x.tensor() > 0, y = select(flags || flags, 1, x.tensor());
#else
  Static<F32, 128, 512> y = matmul(x, w) + matmul(x, w);
  Tensor flags = x.tensor() > 0,
         z = select(logicalAnd(flags, flags), 1, x.tensor());
#endif
  net.output("y", Tensor(y));
}
