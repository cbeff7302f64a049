# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# gst-tfx.bash: completion of gst-tfx's commands and options, and of the classes
# and parameters of a chain.  The program itself is asked for what there is.

# Commands, with what is behind a chain's last bracket, bar or comma.
_gst_tfx_chain() {
  local word=$1 head tail class
  tail=${word##*[|+( ,]}
  head=${word%"$tail"}
  case $head in
    *'('* | *,*)
      # Within the brackets of a class: its parameters.
      class=${head%%"${head##*\(}"}
      class=${class%\(}
      class=${class##*[|+( ]}
      if [[ -n $class && ${head##*\(} != *')'* ]]; then
        gst-tfx list "$class" 2> /dev/null |
          sed -n -E 's/^  ([a-z][A-Za-z0-9_]*) .*/\1=/p' |
          while read -r name; do
            [[ $name == "$tail"* ]] && printf '%s%s\n' "$head" "$name"
          done
        return
      fi
      ;;
  esac
  gst-tfx list 2> /dev/null | sed -n -E 's/^([A-Z][A-Za-z0-9]*)\(.*/\1(/p' |
    while read -r name; do
      [[ $name == "$tail"* ]] && printf '%s%s\n' "$head" "$name"
    done
}

# The options of a command, as its --help tells them.
_gst_tfx_options() {
  gst-tfx "$1" --help 2> /dev/null |
    grep -o -E -- '(^|[ ,])--?[a-z0-9][a-z0-9-]*' | tr -d ' ,' | sort -u
}

_gst_tfx() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]-}
  local IFS=$'\n' quote=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(gst-tfx --help |
      sed -n -E 's/^  ([a-z]+) +[a-z].*/\1/p')" -- "$word")
    return
  fi
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(_gst_tfx_options "$command")" -- "$word")
      return
      ;;
    [\'\"]*) quote=${word:0:1} ;;
  esac
  if [[ $previous == --codec ]]; then
    mapfile -t COMPREPLY < <(compgen -W $'aac\nalac\nflac\nmp3\nopus\npcm\nvorbis\nwavpack' -- "$word")
    return
  fi
  if [[ $previous == --bits ]]; then
    mapfile -t COMPREPLY < <(compgen -W $'16\n24\n32\nfloat' -- "$word")
    return
  fi
  if [[ $previous == --dither ]]; then
    mapfile -t COMPREPLY < <(compgen -W $'none\nrpdf\ntpdf\ntpdf-hf' -- "$word")
    return
  fi
  if [[ $previous == --noise-shaping ]]; then
    mapfile -t COMPREPLY < <(compgen -W $'none\nerror-feedback\nsimple\nmedium\nhigh' -- "$word")
    return
  fi
  if [[ $previous == --tail ]]; then
    mapfile -t COMPREPLY < <(compgen -W $'auto\n1s\n3s\n10s' -- "$word")
    return
  fi
  if [[ $previous == @(--preset|-p) ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(gst-tfx list presets 2> /dev/null)" -- "${word#"$quote"}")
    return
  fi
  if [[ $previous == @(--chain-file|-C|--output|-o|--key|-k|--input|-i|--token-file|--files|--presets|--config) ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  fi
  if [[ -n $quote || $previous == --chain || $previous == -c ]] ||
    { [[ $command == @(check|list|response|bench|devices|serve) ]] && [[ ! -e $word ]]; }; then
    compopt -o nospace 2> /dev/null
    mapfile -t COMPREPLY < <(_gst_tfx_chain "${word#"$quote"}" |
      { [[ $command == list ]] && tr -d '(' || cat; })
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -o filenames -F _gst_tfx gst-tfx
