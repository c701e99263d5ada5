#include "tide.h"

#include <stdlib.h>
#include <string.h>

/* A ring of the last TIDE_SLOTS levels, oldest first. */
struct tide {
    double level[TIDE_SLOTS];
    size_t head;
    size_t count;
};

struct tide *tide_new(void)
{
    return calloc(1, sizeof(struct tide));
}

void tide_push(struct tide *t, double level)
{
    size_t slot = t->head + t->count;
    t->level[slot % TIDE_SLOTS] = level;
    if (t->count < TIDE_SLOTS) {
        t->count++;
    }
}

double tide_mean(const struct tide *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        sum += t->level[i];
    }
    return sum / t->count;
}

void tide_free(struct tide *t)
{
    free(t);
}
