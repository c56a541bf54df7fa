# usage: make                      builds the library as it is released (targets/host/build.sh)
#        make command              builds the command `ferrite`, and the archive of kernels that it links into models
#        make install              installs library, headers, pkg-config files, the CMake package and the licence; the command, if
#                                  `make command` built it, with its kernels, completions for bash, zsh and fish, and manual pages
#        make uninstall            removes what `make install` installs
#        make deb                  makes target/libtvm-ffi-ferrite_VERSION_ARCHITECTURE.deb
#
# PREFIX (/usr/local), LIBDIR (PREFIX/lib) and INCLUDEDIR (PREFIX/include) say where; DESTDIR stages the files below another
# folder. The installed tree may be moved as a whole. The libraries are built in a folder of their own, since other builds have other
# features. BUILT names a folder with libraries that are built already, and COMMAND the command to install with them. CXX_ABI=no
# installs a library for C alone, without the feature cxx-abi.
TARGET = target/make
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=
BUILT ?= $(TARGET)/release
# The command of another folder belongs to another build: it is installed only if it is named.
COMMAND ?= $(if $(filter $(TARGET)/release,$(BUILT)),$(TARGET)/release/ferrite)
CXX_ABI ?= yes

export PREFIX LIBDIR INCLUDEDIR DESTDIR BUILT COMMAND CXX_ABI

.PHONY: all command install uninstall deb

all:
	targets/host/build.sh --target-dir $(TARGET)

command:
	targets/host/build.sh --command --target-dir $(TARGET)

install uninstall:
	targets/host/install/install.sh $@

deb:
	targets/host/install/deb.sh
