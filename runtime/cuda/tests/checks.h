/* Checks of results, for programs that are tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct context *Context;
typedef struct module *Module;
typedef struct function *Function;
typedef struct stream *Stream;
typedef struct event *Event;
typedef struct graph *Graph;
typedef struct node *Node;
typedef struct exec *Exec;
typedef struct object *Object;
typedef uint64_t Address;

/* A copy of rows, with each side's memory. */
struct part_2d {
    size_t x, y;
    int kind;
    const void *host;
    Address device;
    void *array;
    size_t pitch;
};

struct copy_2d {
    struct part_2d from, to;
    size_t width, height;
};

int cuGetErrorName(int error, const char **name);

static void expect_at(int line, const char *call, int result, int expected)
{
    if (result != expected) {
        const char *name = "?";
        cuGetErrorName(result, &name);
        printf("line %d: %s: %d (%s), not %d\n", line, call, result, name ? name : "?", expected);
        exit(1);
    }
}
#define EXPECT(result, call) expect_at(__LINE__, #call, call, result)
#define OK(call) EXPECT(0, call)
#define TRUE(what) expect_at(__LINE__, #what, !(what), 0)
