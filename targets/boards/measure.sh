# measure.sh: memory use of programs; run.sh reads this file.

# Prints the bytes of a program: "text rodata data bss".
sections() { # sections PROGRAM
  if [ "$core" = wasm ]; then
    awk 'function hex(text, i, value) {
        for (i = 1; i <= length(text); ++i) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
        return value
      }
      $4 ~ /^(CODE|\.rodata|\.data|\.bss)$/ { bytes[$4] = hex($3) }
      END { print bytes["CODE"] + 0, bytes[".rodata"] + 0, bytes[".data"] + 0, bytes[".bss"] + 0 }' "$out/$1.map"
  else
    "${compiler[0]%gcc}size" -A "$out/$1.elf" | awk '
      $1 ~ /^\.(text|rodata|init_array|data|bss)$/ { bytes[$1] = $2 }
      END { print bytes[".text"] + 0, bytes[".rodata"] + bytes[".init_array"], bytes[".data"] + 0, bytes[".bss"] + 0 }'
  fi
}

# Prints the bytes of the models' weights, inputs and expected outputs in a program: the arrays of
# tests/programs/aot/MODEL/data.h.
model_data() { # model_data PROGRAM
  "${compiler[0]%gcc}nm" -S -t d "$out/$1.elf" |
    awk '$3 ~ /[rR]/ && $4 ~ /^(add_one|add_one_dyn|call_host|cnn_f32|mlp_f32|mlp_i8|par_scale|softmax_f32)_/ {
        sum += $2
      }
      END { print sum + 0 }'
}

# Prints rows with the bytes of the server for TVM's remote calls, whose sources are part of the
# firmware, in place of instructions.
rpc_rows() { # rpc_rows PROGRAM
  [ "$1" = rpc ] || return 0
  "${compiler[0]%gcc}size" "$out/rpc_server.o" "$out/rpc_evaluator.o" | awk '
    NR > 1 { text += $1; memory += $2 + $3 }
    END { print "row|server flash|ok|" text + memory; print "row|server RAM|ok|" memory + 0 }'
}

# Prints the bytes that the runtime adds: "text rodata data RAM", RAM without the pool; then the
# flash of the whole program without the models' data.
runtime_alone() { # runtime_alone PROGRAM
  local with without flash=-
  link_without_runtime "$1" >>"$out/build.log" 2>&1
  read -r -a with < <(sections "$1")
  read -r -a without < <(sections "$1-alone")
  if [ "$core" != wasm ]; then flash=$((with[0] + with[1] + with[2] - $(model_data "$1"))); fi
  echo $((with[0] - without[0])) $((with[1] - without[1])) $((with[2] - without[2])) \
    $((with[2] + with[3] - without[2] - without[3] - pool)) "$flash"
}
