# Functions by which CMake projects build firmware on Ferrite; cargo and the target of the board must be installed.
#
#   ferrite_library(NAME TARGET RUST_TARGET [PROFILE minimal|core|full|modules|relax] [FEATURES FEATURE...] [POOL_BYTES BYTES])
#       makes NAME, a library to link: libtvm_ffi.a of the profile (minimal) for a target of rustc, with its headers.
#
#   ferrite_firmware(NAME BOARD BOARD SOURCES SOURCE... [PROFILE ...] [FEATURES ...] [POOL_BYTES ...] [STACK_BYTES BYTES])
#       makes NAME, an executable for a board of this folder: sources, library, start-up code and linker script. The target
#       NAME-run runs it in the board's emulator. Configure with toolchain.cmake for the same board.
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)

function(ferrite_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET;PROFILE;POOL_BYTES" "FEATURES")
  if(NOT arg_TARGET OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ferrite_library(NAME TARGET RUST_TARGET ...): unknown or missing arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  ferrite_package("${arg_PROFILE}" package features)
  list(JOIN arg_FEATURES "," more)
  find_program(FERRITE_CARGO cargo HINTS $ENV{HOME}/.cargo/bin REQUIRED)

  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../..)
  set(built ${CMAKE_CURRENT_BINARY_DIR}/${name}-cargo)
  set(archive ${built}/${arg_TARGET}/mcu/libtvm_ffi.a)
  set(environment)
  if(DEFINED arg_POOL_BYTES)
    set(environment FERRITE_POOL_BYTES=${arg_POOL_BYTES})
  endif()
  # Cargo knows what has to be built anew.
  add_custom_target(${name}-cargo
    COMMAND ${CMAKE_COMMAND} -E env ${environment} ${FERRITE_CARGO} rustc --quiet --profile mcu -p ${package}
            --no-default-features --features "${features},${more}" --target ${arg_TARGET} --crate-type staticlib --target-dir ${built}
    WORKING_DIRECTORY ${root} BYPRODUCTS ${archive} VERBATIM)
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${archive} INTERFACE_INCLUDE_DIRECTORIES ${root}/include)
  add_dependencies(${name} ${name}-cargo)
endfunction()

# ferrite_configured_library(NAME RUST_TARGET) makes the library that the options CONFIG_FERRITE_* of Zephyr or ESP-IDF choose.
function(ferrite_configured_library name target)
  foreach(one IN ITEMS minimal core full modules relax)
    string(TOUPPER ${one} upper)
    if(CONFIG_FERRITE_PROFILE_${upper})
      set(profile ${one})
    endif()
  endforeach()
  set(pool)
  if(CONFIG_FERRITE_POOL_BYTES)
    set(pool POOL_BYTES ${CONFIG_FERRITE_POOL_BYTES})
  endif()
  ferrite_library(${name} TARGET ${target} PROFILE ${profile} ${pool})
endfunction()

# The package of a profile and its features, as in the table of README.md.
function(ferrite_package profile package_result features_result)
  set(package ferrite-ffi-capi)
  if(NOT profile OR profile STREQUAL minimal)
    set(package ferrite-ffi-minimal)
    set(features)
  elseif(profile STREQUAL core)
    set(features core,backend)
  elseif(profile STREQUAL full)
    set(features full)
  elseif(profile STREQUAL modules)
    set(features full,backend,modules)
  elseif(profile STREQUAL relax)
    set(features core,model)
  else()
    message(FATAL_ERROR "ferrite: no profile '${profile}'; there are minimal, core, full, modules and relax")
  endif()
  set(${package_result} ${package} PARENT_SCOPE)
  set(${features_result} ${features} PARENT_SCOPE)
endfunction()

function(ferrite_firmware name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BOARD;PROFILE;POOL_BYTES;STACK_BYTES" "SOURCES;FEATURES")
  if(NOT arg_BOARD OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ferrite_firmware(NAME BOARD BOARD SOURCES ...): unknown or missing arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  ferrite_board(${arg_BOARD} board)
  if(board_CORE STREQUAL wasm)
    message(FATAL_ERROR "ferrite_firmware: WebAssembly has no start-up code: link ferrite_library(... TARGET ${board_TARGET})")
  endif()
  set(pool)
  if(DEFINED arg_POOL_BYTES)
    set(pool POOL_BYTES ${arg_POOL_BYTES})
  endif()
  ferrite_library(${name}-ferrite TARGET ${board_TARGET} PROFILE ${arg_PROFILE} FEATURES ${arg_FEATURES} ${pool})
  if(NOT arg_STACK_BYTES)
    set(arg_STACK_BYTES ${board_STACK})
  endif()

  set(mcu ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../mcu)
  add_executable(${name} ${arg_SOURCES} ${mcu}/${board_CORE}/start.c ${mcu}/shared/memory.c ${mcu}/shared/semihosting.c)
  target_include_directories(${name} PRIVATE ${mcu}/shared ${mcu}/${board_CORE})
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections ${board_DEFINES})
  # The C library comes first: its memcpy is faster than the library's own.
  target_link_libraries(${name} PRIVATE m c gcc ${name}-ferrite m c gcc)
  target_link_options(${name} PRIVATE -nostartfiles -nostdlib -Wl,--gc-sections -Wl,-z,noexecstack -Wl,--defsym=STACK_LEAST=${arg_STACK_BYTES}
    -L ${mcu}/${board_CORE} -T ${board_LINK_SCRIPT})
  set_target_properties(${name} PROPERTIES SUFFIX .elf LINK_DEPENDS ${board_LINK_SCRIPT})
  add_custom_target(${name}-run
    COMMAND ${board_EMULATOR} -nographic -monitor none -serial none -semihosting-config enable=on,target=native
            -kernel $<TARGET_FILE:${name}>
    DEPENDS ${name} USES_TERMINAL VERBATIM)
endfunction()
