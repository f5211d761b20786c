// All of Tandem that a program needs.
#pragma once

#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/graph.h"
#include "tandem/ops.h"
#include "tandem/raw_ops.h"
#include "tandem/session.h"
#include "tandem/variable.h"
