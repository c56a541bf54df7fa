/* Uses a class and functions of a library in Rust by the header that `ferrite stubs` made. Prints
 * what it finds. */
#include <stdio.h>

#include "rust_objects.h"

int main(void) {
  TVMFFIAny counter, text;
  TVMFFIObjectHandle another = NULL;
  int64_t number = 0;
  double area = 0;
  /* The library registers its classes when it is used as a module; a call of an exported function
   * does it, too. */
  if (rust_objects_make_counter(40, &counter) != 0) return 1;
  if (rust_objects_demo_Counter_add((TVMFFIObjectHandle)counter.v_obj, 2, &number) != 0) return 2;
  printf("add: %d\n", (int)number);
  if (rust_objects_demo_Counter_get_value((TVMFFIObjectHandle)counter.v_obj, &number) != 0) return 3;
  printf("value: %d\n", (int)number);
  if (rust_objects_demo_Counter_new(7, &another) != 0) return 4;
  if (rust_objects_demo_Counter_get_value(another, &number) != 0) return 5;
  printf("new: %d\n", (int)number);
  if (rust_objects_demo_Counter_set_value(another, 9) != 0) return 6;
  if (rust_objects_demo_Counter_add(another, 1, &number) != 0) return 7;
  printf("set and add: %d\n", (int)number);
  printf("another class: %d\n", rust_objects_demo_Circle_area(another, &area));
  printf("greet: %d\n", rust_objects_demo_greet("you and all others", &text));
  if (text.type_index == kTVMFFIStr) ferrite_stub_release(&text);
  ferrite_stub_release(&counter);
  TVMFFIObjectDecRef(another);
  return 0;
}
