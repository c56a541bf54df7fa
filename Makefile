# usage: make                      builds the library as it is released (targets/host/build.sh)
#        make install              installs library, headers, pkg-config files and the CMake package
#        make uninstall            removes what `make install` installs
#        make deb                  makes target/libtvm-ffi-ferrite_VERSION_ARCHITECTURE.deb
#
# PREFIX (/usr/local), LIBDIR (PREFIX/lib) and INCLUDEDIR (PREFIX/include) say where; DESTDIR stages the files below another
# folder. The installed tree may be moved as a whole. BUILT names a folder with libraries that are built already.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=
BUILT ?= target/release

export PREFIX LIBDIR INCLUDEDIR DESTDIR BUILT

.PHONY: all install uninstall deb

all:
	targets/host/build.sh --target-dir target

install uninstall:
	targets/host/install/install.sh $@

deb:
	targets/host/install/deb.sh
