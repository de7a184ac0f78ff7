//===- WindowRules.td - windows that slide over images -----*- tablegen -*-===//
#ifndef MP_WINDOWRULES_TD
#define MP_WINDOWRULES_TD

include "dialect/MpBase.td"

/// How a window slides over the height and the width of [batch, height, width, channels]. Each list has two numbers,
/// one for each.
defvar Mp_WindowArguments = (ins OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$low,
  OptionalAttr<DenseI64ArrayAttr>:$high, OptionalAttr<DenseI64ArrayAttr>:$dilations);
defvar Mp_WindowFormat = [{
  (`strides` `` $strides^)? (`low` `` $low^)? (`high` `` $high^)? (`dilations` `` $dilations^)?
}];

/// What the assembly of these arguments means, for descriptions.
defvar Mp_WindowDescription = [{
    Images are [batch, height, width, channels]. The lists have a number for the height and one for the width:
    `strides` is the distance of two places of the window, `low` and `high` the padding before the first element
    and after the last, and `dilations` the distance of two elements within the window. Strides and
    dilations are 1 and padding is 0 unless given. Padding may be uneven.
}];

#endif // MP_WINDOWRULES_TD
