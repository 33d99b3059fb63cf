#include "scenarios/audit.h"
