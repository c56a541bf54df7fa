/*
 * signature.c: types of functions, from the metadata of a library.
 *
 * The metadata is JSON, {"type_schema": "...", "signature": "NAME(...)"}, whose schema is JSON in a
 * string. The library's own functions parse it and read the containers that it becomes.
 */
#include "signature.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ferrite_util.h"

enum { DEEPEST = 8 };

static TVMFFIAny call2(const char* name, TVMFFIAny first, TVMFFIAny second) {
  TVMFFIAny args[2];
  TVMFFIAny result;
  args[0] = first;
  args[1] = second;
  ferrite_check(ferrite_call_global(name, args, 2, &result), name);
  return result;
}

static TVMFFIAny parse(TVMFFIAny text) {
  TVMFFIAny result;
  ferrite_check(ferrite_call_global("ffi.json.Parse", &text, 1, &result), "ffi.json.Parse");
  return result;
}

/* Returns the value of a key, which the caller releases; None if there is none, or if `map` is
 * another value. */
static TVMFFIAny value_of(const TVMFFIAny* map, const char* key) {
  if (map->type_index != kTVMFFIMap || call2("ffi.MapCount", *map, ferrite_str(key)).v_int64 == 0) return ferrite_none();
  return call2("ffi.MapGetItem", *map, ferrite_str(key));
}

/* Returns the length of an array; 0 for other values. */
static int length_of(const TVMFFIAny* array) {
  TVMFFIAny arg = *array, result;
  if (array->type_index != kTVMFFIArray) return 0;
  ferrite_check(ferrite_call_global("ffi.ArraySize", &arg, 1, &result), "ffi.ArraySize");
  return (int)result.v_int64;
}

static void print_type(const TVMFFIAny* array, int index, int depth) {
  TVMFFIAny type = call2("ffi.ArrayGetItem", *array, ferrite_int(index));
  TVMFFIAny name = value_of(&type, "type"), args = value_of(&type, "args");
  TVMFFIByteArray text = ferrite_text(&name);
  int count = depth < DEEPEST ? length_of(&args) : 0, i;
  /* `Array<int>`, but `ffi.Tensor`: as in messages of errors. */
  if (count > 0 && text.size > 4 && memcmp(text.data, "ffi.", 4) == 0) text.data += 4, text.size -= 4;
  printf("%.*s", (int)text.size, text.data);
  for (i = 0; i < count; ++i) {
    fputs(i == 0 ? "<" : ", ", stdout);
    print_type(&args, i, depth + 1);
  }
  if (count > 0) putchar('>');
  ferrite_release(&args);
  ferrite_release(&name);
  ferrite_release(&type);
}

/* Prints the parameters as the library's author wrote them, from the parenthesis on, in one
 * line. */
static void print_parameters_text(const TVMFFIByteArray* text) {
  size_t i = 0, spaces;
  while (i < text->size && text->data[i] != '(') ++i;
  for (; i < text->size; i += spaces > 0 ? spaces : 1) {
    for (spaces = 0; i + spaces < text->size && isspace((unsigned char)text->data[i + spaces]);) ++spaces;
    putchar(spaces > 0 ? ' ' : text->data[i]);
  }
}

static void print_parameters(const TVMFFIAny* types, int first) {
  int count = length_of(types), i;
  putchar('(');
  for (i = first; i < count; ++i) {
    printf("%s%d: ", i == first ? "" : ", ", i - first);
    print_type(types, i, 0);
  }
  putchar(')');
}

/* Prints a type: the result is in `results`; in the schemas of older libraries it precedes the
 * parameters. */
static void print_function(const TVMFFIByteArray* text, const TVMFFIAny* results, const TVMFFIAny* parameters) {
  if (text->size > 0) {
    print_parameters_text(text);
  } else {
    print_parameters(parameters, results == parameters);
  }
  if (length_of(results) > 0) {
    fputs(" -> ", stdout);
    print_type(results, 0, 0);
  }
}

void signature_print(const TVMFFIByteArray* metadata) {
  TVMFFIAny owned, map, schema_text, signature, schema, named, results, parameters;
  TVMFFIByteArray text;
  if (metadata->size == 0) return;
  ferrite_check(TVMFFIStringFromByteArray(metadata, &owned), "metadata");
  map = parse(owned);
  schema_text = value_of(&map, "type_schema");
  signature = value_of(&map, "signature");
  text = ferrite_text(&signature);
  schema = ferrite_text(&schema_text).size > 0 ? parse(schema_text) : ferrite_none();
  named = value_of(&schema, "named_args");
  if (named.type_index == kTVMFFIMap) {
    results = value_of(&named, "return");
    parameters = value_of(&named, "params");
    print_function(&text, &results, &parameters);
    ferrite_release(&results);
  } else {
    parameters = value_of(&schema, "args");
    if (length_of(&parameters) > 0) print_function(&text, &parameters, &parameters);
  }
  ferrite_release(&parameters);
  ferrite_release(&named);
  ferrite_release(&schema);
  ferrite_release(&signature);
  ferrite_release(&schema_text);
  ferrite_release(&map);
  ferrite_release(&owned);
}
