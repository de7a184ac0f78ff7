//===- Own.h - the dialect own --------------------------------------------===//
#ifndef OWN_H
#define OWN_H

#include "dialect/Mp.h"

#include "OwnDialect.h.inc"

#define GET_OP_CLASSES
#include "Own.h.inc"

#endif // OWN_H
