#ifndef TIDE_H
#define TIDE_H

#define TIDE_SLOTS 64

struct tide;

struct tide *tide_new(void);
void tide_push(struct tide *t, double level);
double tide_mean(const struct tide *t);
void tide_free(struct tide *t);

#endif
