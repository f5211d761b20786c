// All of Tandem that a program needs.
#pragma once

#include "tandem/cluster_config.h"
#include "tandem/coordinator.h"
#include "tandem/device_setter.h"
#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/graph.h"
#include "tandem/monitored_session.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "tandem/raw_ops.h"
#include "tandem/saver.h"
#include "tandem/server.h"
#include "tandem/session.h"
#include "tandem/summary.h"
#include "tandem/supervisor.h"
#include "tandem/variable.h"
