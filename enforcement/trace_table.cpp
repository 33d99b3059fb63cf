#include "enforcement/trace_table.h"
