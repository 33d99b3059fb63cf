#include "compiler/site.h"
