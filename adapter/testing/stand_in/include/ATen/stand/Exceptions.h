// Errors, by the name of ATen's header.
#pragma once

#include <c10/util/Exception.h>

#include "c10/stand/StandException.h"
