# Completion for bash of commands, options and their words, from what `--help` of the program prints. To be sourced.

_steelyard() {
  local program=$1 word=$2 previous=$3 commands=() help words i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] && break
    commands+=("${COMP_WORDS[i]}")
  done
  help=$("$program" "${commands[@]}" --help 2>/dev/null) || return 0
  if [[ $previous == --* ]]; then
    # `--check all|last|none:{all,last,none}`: the words are those between blank and colon.
    words=$(sed -nE "s/^  $previous ([^ :]*\|[^ :]*).*/\1/p" <<<"$help" | tr '|' ' ')
  elif [[ $word == -* ]]; then
    words=$(sed -nE 's/^  (-h,)?(--[a-z0-9-]+).*/\2/p' <<<"$help")
  else
    words=$(sed -nE '/^Subcommands:/,$ s/^  ([a-z0-9]+) .*/\1/p' <<<"$help")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# File names are completed where there is nothing else.
complete -o default -F _steelyard steelyard gemm summa wave2d cavity fft2d jacobi heat
