#include "cli/report/report.h"
