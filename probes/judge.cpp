#include "probes/judge.h"
