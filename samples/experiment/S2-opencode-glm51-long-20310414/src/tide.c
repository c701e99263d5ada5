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
    if (t->count == TIDE_SLOTS) {
        /* 写满:最旧的值让位 */
        t->level[t->head] = level;
        t->head = t->head + 1 == TIDE_SLOTS ? 0 : t->head + 1;
        return;
    }
    t->level[t->count++] = level;
}

double tide_mean(const struct tide *t)
{
    if (t->count == 0) {
        return 0.0;
    }
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
