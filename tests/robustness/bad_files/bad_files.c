/*
 * Shared objects that cannot be loaded: missing, empty, a folder, text, of another machine,
 * truncated at many lengths, with damaged headers. Each is an error of the call that loads it,
 * which names the file, and the next file loads. A library whose file is removed or replaced while
 * it is loaded goes on.
 *
 * Each file is tried in a process of its own, which must not crash.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../conformance/c/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char* original;
static size_t original_bytes;
static char path[4096];

static void read_original(void) {
  FILE* file = fopen(required("CHECK_KERNELS"), "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror("kernels");
    exit(2);
  }
  original_bytes = (size_t)ftell(file);
  rewind(file);
  original = (char*)malloc(original_bytes);
  if (original == NULL || fread(original, 1, original_bytes, file) != original_bytes) {
    perror("kernels");
    exit(2);
  }
  fclose(file);
}

/* Writes the file under a new name, since the loader knows files that it has loaded. */
static void write_file(const char* content, size_t bytes) {
  static int files;
  FILE* file;
  sprintf(path, "%.4000s/bad_file_%d.so", required("CHECK_SCRATCH"), files++);
  remove(path);
  file = fopen(path, "wb");
  if (file == NULL || fwrite(content, 1, bytes, file) != bytes || fclose(file) != 0) {
    perror(path);
    exit(2);
  }
}

enum { REFUSED = 0, LOADED = 1, WRONG = 2 };

/* Loads the file. Returns whether it was refused with an error that names it, or loaded and
 * worked. */
static int try_to_load(void) {
  TVMFFIAny module;
  watchdog(30);
  checks_failed = 0;
  if (load(path, &module) == 0) {
    CHECK_INT(add_one(module.v_obj, 4), 5);
    release_any(&module);
    return checks_failed == 0 ? LOADED : WRONG;
  }
  CHECK(raised_is(NULL, path));
  CHECK_OK(load(required("CHECK_KERNELS"), &module));
  CHECK_INT(add_one(module.v_obj, 4), 5);
  release_any(&module);
  return checks_failed == 0 ? REFUSED : WRONG;
}

/* Tries the file in a child. Returns the outcome, or -1 after a crash. */
static int outcome(void) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    int what = try_to_load();
    fflush(stdout);
    _exit(what);
  }
  wait_for_watched(child, &status);
  if (WIFSIGNALED(status)) {
    printf("  killed by signal %d\n", WTERMSIG(status));
    return -1;
  }
  return WEXITSTATUS(status);
}

static void expect_refused(const char* what) {
  if (!CHECK_INT(outcome(), REFUSED)) {
    printf("  %s: %s\n", what, path);
  }
}

static void test_no_library(void) {
  sprintf(path, "%.4000s/there_is_no_such_file.so", required("CHECK_SCRATCH"));
  expect_refused("missing");
  sprintf(path, "%.4000s/a_folder.so", required("CHECK_SCRATCH"));
  mkdir(path, 0777);
  expect_refused("a folder");
  write_file("", 0);
  expect_refused("empty");
  write_file("#!/bin/sh\n", 10);
  expect_refused("text");
}

/* Changes one field of the ELF header. */
static void test_header(const char* what, size_t offset, unsigned value) {
  char* changed = (char*)malloc(original_bytes);
  if (changed == NULL) {
    abort();
  }
  memcpy(changed, original, original_bytes);
  changed[offset] = (char)(value & 0xff);
  changed[offset + 1] = offset < EI_NIDENT ? changed[offset + 1] : (char)(value >> 8);
  write_file(changed, original_bytes);
  expect_refused(what);
  free(changed);
}

static void test_headers(void) {
  int is_arm = ((Elf64_Ehdr*)(void*)original)->e_machine == EM_AARCH64;
  test_header("another machine", offsetof(Elf64_Ehdr, e_machine), is_arm ? EM_X86_64 : EM_AARCH64);
  test_header("of 32 bits", EI_CLASS, ELFCLASS32);
  test_header("of the other byte order", EI_DATA, ELFDATA2MSB);
  test_header("no ELF", EI_MAG0, 'X');
  test_header("an object file", offsetof(Elf64_Ehdr, e_type), ET_REL);
  test_header("of another version", EI_VERSION, 9);
  test_header("no program headers", offsetof(Elf64_Ehdr, e_phnum), 0);
  test_header("many program headers", offsetof(Elf64_Ehdr, e_phnum), 0xfff0);
  test_header("program headers of another size", offsetof(Elf64_Ehdr, e_phentsize), 8);
}

/* The end of what the loader maps: beyond it are section headers, which it does not need. */
static size_t end_of_segments(void) {
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)(void*)original;
  const Elf64_Phdr* segments = (const Elf64_Phdr*)(void*)(original + header->e_phoff);
  size_t end = 0;
  int i;
  for (i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > end) {
      end = (size_t)(segments[i].p_offset + segments[i].p_filesz);
    }
  }
  return end;
}

static void test_truncated(void) {
  size_t end = end_of_segments();
  size_t bytes;
  size_t files = 0;
  for (bytes = 1; bytes < end; bytes += bytes < 2048 ? 61 : 509) {
    write_file(original, bytes);
    expect_refused("truncated");
    remove(path);
    files++;
  }
  write_file(original, end - 1);
  expect_refused("truncated by one byte");
  write_file(original, end);
  CHECK_INT(outcome(), LOADED);
  printf("%lu truncated files\n", (unsigned long)files);
}

/* The file of a loaded library is removed, and another one is put in its place: the loaded one
 * stays. */
static void test_replaced(void) {
  TVMFFIAny module;
  TVMFFIAny again;
  write_file(original, original_bytes);
  if (!CHECK_OK(load(path, &module))) {
    return;
  }
  CHECK_INT(remove(path), 0);
  CHECK_INT(add_one(module.v_obj, 4), 5);
  {
    FILE* file = fopen(path, "wb");
    CHECK(file != NULL && fputs("no library", file) >= 0 && fclose(file) == 0);
  }
  CHECK_INT(add_one(module.v_obj, 5), 6);
  /* The C library may give the loaded one, whose name it knows. */
  if (load(path, &again) == 0) {
    CHECK_INT(add_one(again.v_obj, 5), 6);
    release_any(&again);
  } else {
    CHECK(raised_is(NULL, path));
  }
  CHECK_INT(add_one(module.v_obj, 6), 7);
  release_any(&module);
}

int main(void) {
  read_original();
  test_no_library();
  test_headers();
  test_truncated();
  test_replaced();
  return check_report("bad_files");
}
