# build.sh: the library, the firmware and programs for one board and one profile; run.sh reads this file.
# shellcheck shell=bash disable=SC2154 # run.sh sets the variables

build_library() { # build_library ARCHIVE FEATURES
  FERRITE_POOL_BYTES=$((pool > 0 ? pool : pool_bytes)) cargo rustc --quiet --profile mcu -p ferrite-ffi-capi --no-default-features \
    --features "$2" --target "$rust_target" --crate-type staticlib &&
    cp "$target/$rust_target/mcu/libtvm_ffi.a" "$out/$1.a"
}

# The library of the profile, and the one for firmware of microTVM.
build_libraries() {
  build_library libtvm_ffi "$features" || return 1
  case " ${programs[*]} " in *" microtvm "*) build_library libtvm_ffi-microtvm "$features,microtvm" ;; esac
}

compile() { # compile SOURCE OBJECT [FLAG...]
  local source=$1 object=$2
  shift 2
  # -fno-builtin: no call of strlen in place of a loop that is shorter than strlen.
  "${compiler[@]}" -std=c99 -Os -fno-builtin -ffunction-sections -fdata-sections "${defines[@]}" -I "$root/include" \
    -I "$root/tests/programs/aot" -I firmware -I "$mcu/shared" -I "$mcu/$core" "$@" -c "$source" -o "$out/$object.o"
}

# The code that TVM generated is compiled without warnings: nobody may edit it.
compile_firmware() {
  local strict=(-Wall -Wextra -Werror) name
  if [ "$core" = wasm ]; then strict+=(-Dmain=firmware); fi
  if [ "$part" = core ]; then strict+=(-DWITHOUT_MODULES); fi
  compile "$root/tests/programs/aot/models.c" compiled_models -w &&
    compile "$root/tests/programs/aot/cnn_f32/cnn_f32.c" compiled_cnn -w || return 1
  for name in "${start_up[@]}"; do
    compile "$mcu/$name.c" "${name##*/}" "${strict[@]}" || return 1
  done
  for name in print ffi workspace fixture models call cnn values errors cycles interrupts "profile_$part" "mistakes_$mistakes"; do
    compile "firmware/$name.c" "$name" "${strict[@]}" || return 1
  done
  case " ${programs[*]} " in *" microtvm "*) compile_microtvm "${strict[@]}" || return 1 ;; esac
  for name in fixture models; do
    compile "firmware/$name.c" "$name-system" "${strict[@]}" -DFROM_SYSTEM_LIBRARY || return 1
  done
}

compile_microtvm() { # compile_microtvm FLAG...
  local name
  for name in packed table unpacked; do
    compile "firmware/microtvm/$name.c" "microtvm-$name" -w -I firmware/microtvm || return 1
  done
  for name in microtvm platform_workspace; do
    compile "firmware/$name.c" "$name" "$@" -I firmware/microtvm || return 1
  done
}

# The objects of a program, one in each line.
objects_of() { # objects_of PROGRAM
  local names=("${start_up[@]##*/}" print ffi)
  case $1 in
    models) names+=(models fixture compiled_models workspace "profile_$part") ;;
    system_library) names+=(models-system fixture-system workspace "profile_$part") ;;
    cnn) names+=(cnn compiled_cnn workspace) ;;
    values) names+=(values "profile_$part") ;;
    interrupts) names+=(interrupts "profile_$part") ;;
    microtvm) names+=(microtvm microtvm-{packed,table,unpacked} workspace "profile_$part") ;;
    microtvm_hooks) names+=(microtvm microtvm-{packed,table,unpacked} platform_workspace "profile_$part") ;;
    errors) names+=(errors "mistakes_$mistakes" fixture compiled_models workspace "profile_$part") ;;
    *) names+=("$1") ;;
  esac
  printf '%s\n' "${names[@]/#/$out/}" | sed 's/$/.o/'
  if [ "$1" = system_library ]; then echo "$root/tests/programs/aot/llvm/$system_library"; fi
}

link_program() { # link_program PROGRAM
  case $1 in
    microtvm*) link "$1" "$1" "$out/libtvm_ffi-microtvm.a" ;;
    *) link "$1" "$1" "$out/libtvm_ffi.a" ;;
  esac
}

# The program as it is when the library's symbols are nothing at all.
link_without_runtime() { # link_without_runtime PROGRAM
  if [ "$core" = wasm ]; then link "$1" "$1-alone"; else link "$1" "$1-alone" -Wl,--unresolved-symbols=ignore-all; fi
}

link() { # link PROGRAM OUTPUT [LIBRARY or FLAG...]
  local objects output=$out/$2
  mapfile -t objects < <(objects_of "$1")
  shift 2
  if [ "$core" = wasm ]; then
    wasm-ld --no-entry --gc-sections --stack-first -z "stack-size=$stack_least" --allow-undefined -Map="$output.map" \
      "${objects[@]}" "$@" -o "$output.elf"
  else
    # The C library first: what firmware takes from it is not the runtime's.
    "${compiler[@]}" -nostartfiles -nostdlib -Wl,--gc-sections "-Wl,--defsym=STACK_LEAST=$stack_least" -L "$mcu/$core" \
      -T "$link_script" "${objects[@]}" -lm -lc -lgcc "$@" -lm -lc -lgcc -o "$output.elf"
  fi
}
