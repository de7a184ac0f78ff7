//===- Pch.h - headers that nearly every unit test sees, precompiled once -===//
#include "dialect/Pch.h"
#include "support/Pch.h"
#include <gtest/gtest.h>
