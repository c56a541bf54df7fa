/* Content of objects, behind their header of 24 bytes: the public headers offer it to C++ only. */
#define BYTES(o) ((TVMFFIByteArray*)((char*)(o) + sizeof(TVMFFIObject)))
#define ERROR_CELL(o) ((TVMFFIErrorCell*)((char*)(o) + sizeof(TVMFFIObject)))
#define DLTENSOR(o) ((DLTensor*)((char*)(o) + sizeof(TVMFFIObject)))
