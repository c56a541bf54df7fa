# usage: make                      builds the library as it is released (targets/host/build.sh)
#        make command              builds the command `ferrite`
#        make install              installs library, headers, pkg-config files and the CMake package; the command, if it is built, with
#                                  completions for bash, zsh and fish, and manual pages
#        make uninstall            removes what `make install` installs
#        make deb                  makes target/libtvm-ffi-ferrite_VERSION_ARCHITECTURE.deb
#
# PREFIX (/usr/local), LIBDIR (PREFIX/lib) and INCLUDEDIR (PREFIX/include) say where; DESTDIR stages the files below another
# folder. The installed tree may be moved as a whole. BUILT names a folder with libraries that are built already, and COMMAND the
# command, which is not installed if there is no such file.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=
BUILT ?= target/release
COMMAND ?= $(BUILT)/ferrite

export PREFIX LIBDIR INCLUDEDIR DESTDIR BUILT COMMAND

.PHONY: all command install uninstall deb

all:
	targets/host/build.sh --target-dir target

command:
	targets/host/build.sh --command --target-dir target

install uninstall:
	targets/host/install/install.sh $@

deb:
	targets/host/install/deb.sh
