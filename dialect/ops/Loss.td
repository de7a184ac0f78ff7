//===- Loss.td - losses of one tensor against another ------*- tablegen -*-===//
#ifndef MP_OPS_LOSS_TD
#define MP_OPS_LOSS_TD

include "dialect/LossRules.td"

def Mp_MseLossOp : Mp_ElementLossOp<"mse_loss"> {
  let torch = "mse_loss"; let tensorflow = "SquaredDifference+Mean";
  let summary = "squared difference";
  let description = [{
    The op is `torch.nn.functional.mse_loss`: (x - y)^2.

    Example: `%l = mp.mse_loss %x, %y : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

def Mp_L1LossOp : Mp_ElementLossOp<"l1_loss"> {
  let torch = "l1_loss"; let tensorflow = "Abs+Mean";
  let summary = "absolute difference";
  let description = [{
    The op is `torch.nn.functional.l1_loss`: |x - y|. The gradient is zero where both are equal.

    Example: `%l = mp.l1_loss %x, %y reduction(sum) : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

def Mp_SmoothL1LossOp : Mp_ElementLossOp<"smooth_l1_loss", (ins DefaultValuedAttr<F64Attr, "1.0">:$beta)> {
  let torch = "smooth_l1_loss"; let tensorflow = "Abs+SelectV2+Mean";
  let summary = "absolute difference, squared near zero";
  let description = [{
    The op is `torch.nn.functional.smooth_l1_loss`. With z = |x - y| it is z^2 / (2 beta) where z is below
    `beta`, and z - beta / 2 elsewhere. `beta = 0` gives `mp.l1_loss`.

    Example: `%l = mp.smooth_l1_loss %x, %y {beta = 5.0e-1} : tensor<?x4xf32>, tensor<?x4xf32>`
  }];
}

def Mp_HuberLossOp : Mp_ElementLossOp<"huber_loss", (ins DefaultValuedAttr<F64Attr, "1.0">:$delta)> {
  let torch = "huber_loss"; let tensorflow = "Abs+SelectV2+Mean";
  let summary = "squared difference near zero, linear beyond";
  let description = [{
    The op is `torch.nn.functional.huber_loss`. With z = |x - y| it is z^2 / 2 up to `delta`, and delta (z -
    delta / 2) beyond.

    Example: `%l = mp.huber_loss %x, %y {delta = 2.0} : tensor<?x4xf32>, tensor<?x4xf32>`
  }];
}

def Mp_KlDivOp : Mp_ElementLossOp<"kl_div", (ins UnitAttr:$log_target)> {
  let torch = "kl_div"; let tensorflow = "Log+Mul+Sum";
  let summary = "Kullback-Leibler divergence";
  let description = [{
    The op is `torch.nn.functional.kl_div`: y (log y - x) for log-probabilities x and probabilities y. The
    term y log y is 0 where y is 0. With `log_target`, y is a logarithm too. As in PyTorch, `mean` divides by
    the number of elements, `reduction(batchmean)` divides by the number of rows, and the gradient for y is
    NaN where y is 0.

    Example: `%l = mp.kl_div %x, %y reduction(batchmean) : tensor<?x10xf32>, tensor<?x10xf32>`
  }];
}

#endif // MP_OPS_LOSS_TD
