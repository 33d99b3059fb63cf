#include "policy/parse.h"
