#!/usr/bin/env bash
# Compiles through ccache so that clones in different folders share results.
# usage: ccache-launcher.sh SOURCE-FOLDER CCACHE COMPILER ARGUMENT...
#
# ccache hashes arguments and the files that are read. Paths below the source folder are therefore made relative here.
# A precompiled header contains absolute paths; instead of it, ccache hashes FILE.pch.sum, a hash of its text.
set -euo pipefail
source=$1
ccache=$2
shift 2

[[ $PWD == "$source"/* ]] || exec "$ccache" "$@"
to_source=$(sed 's|[^/][^/]*|..|g' <<<"${PWD#"$source"/}")
arguments=()
for argument in "$@"; do
  # A macro's value is the program's, which may run in another folder.
  if [[ $argument != -D* ]]; then
    argument=${argument//"$PWD"\//}
    argument=${argument//"$PWD"/.}
    argument=${argument//"$source"/$to_source}
  fi
  arguments+=("$argument")
done

if [[ " $* " != *" -emit-pch "* ]]; then
  export CCACHE_PCH_EXTSUM=1 CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  exec "$ccache" "${arguments[@]}"
fi

"${arguments[@]}"
# The text has the definitions of macros (-dD) and line numbers, which debug information has, too.
preprocess=()
output=
for ((i = 0; i < ${#arguments[@]}; ++i)); do
  case ${arguments[i]} in
  -o) output=${arguments[++i]} ;;
  -MT | -MF) ((++i)) ;;
  -c | -MD | -fpch-instantiate-templates) ;;
  -Xclang)
    [[ ${arguments[i + 1]} != -emit-pch ]] || ((++i))
    [[ ${arguments[i]} == -emit-pch ]] || preprocess+=(-Xclang)
    ;;
  *) preprocess+=("${arguments[i]}") ;;
  esac
done
"${preprocess[@]}" -E -dD | sed "s|$source/||g" | sha256sum >"$output.sum"
