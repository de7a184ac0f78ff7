//===- Loss.td - losses of one tensor against another -----*- tablegen -*-===//
#ifndef MP_OPS_LOSS_TD
#define MP_OPS_LOSS_TD

include "dialect/LossRules.td"

def Mp_MseLossOp : Mp_ElementLossOp<"mse_loss"> {
  let torch = "mse_loss"; let tensorflow = "SquaredDifference+Mean";
  let summary = "squared difference";
  let description = [{
    `torch.nn.functional.mse_loss`: (x - y)^2.

    Example: `%l = mp.mse_loss %x, %y : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

def Mp_L1LossOp : Mp_ElementLossOp<"l1_loss"> {
  let torch = "l1_loss"; let tensorflow = "Abs+Mean";
  let summary = "absolute difference";
  let description = [{
    `torch.nn.functional.l1_loss`: |x - y|, with the gradient zero where both are equal.

    Example: `%l = mp.l1_loss %x, %y reduction(sum) : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

def Mp_SmoothL1LossOp : Mp_ElementLossOp<"smooth_l1_loss", (ins DefaultValuedAttr<F64Attr, "1.0">:$beta)> {
  let torch = "smooth_l1_loss"; let tensorflow = "Abs+SelectV2+Mean";
  let summary = "absolute difference, squared near zero";
  let description = [{
    `torch.nn.functional.smooth_l1_loss`: with z = |x - y|, z^2 / (2 beta) below `beta` and
    z - beta / 2 from there on; `beta = 0` is `mp.l1_loss`.

    Example: `%l = mp.smooth_l1_loss %x, %y {beta = 5.0e-1} : tensor<?x4xf32>, tensor<?x4xf32>`
  }];
}

def Mp_HuberLossOp : Mp_ElementLossOp<"huber_loss", (ins DefaultValuedAttr<F64Attr, "1.0">:$delta)> {
  let torch = "huber_loss"; let tensorflow = "Abs+SelectV2+Mean";
  let summary = "squared difference that goes on as a line";
  let description = [{
    `torch.nn.functional.huber_loss`: with z = |x - y|, z^2 / 2 up to `delta` and
    delta (z - delta / 2) beyond.

    Example: `%l = mp.huber_loss %x, %y {delta = 2.0} : tensor<?x4xf32>, tensor<?x4xf32>`
  }];
}

def Mp_KlDivOp : Mp_ElementLossOp<"kl_div", (ins UnitAttr:$log_target)> {
  let torch = "kl_div"; let tensorflow = "Log+Mul+Sum";
  let summary = "Kullback-Leibler divergence";
  let description = [{
    `torch.nn.functional.kl_div`: y (log y - x) of log-probabilities x and probabilities y,
    0 for log y where y is 0; with `log_target`, y too is a logarithm. As in PyTorch, `mean`
    divides by the number of elements and `reduction(batchmean)` by that of rows, and the
    gradient for y is NaN where y is 0.

    Example: `%l = mp.kl_div %x, %y reduction(batchmean) : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

#endif // MP_OPS_LOSS_TD
