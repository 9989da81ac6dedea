# bash completion for dragoman, dragoman-server and dragoman-train. Options and verbs come from the programs' own --help, so
# that they are always those of the installed version.

_dragoman_options() {
    "$@" --help 2>/dev/null </dev/null | grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z0-9-]+' | sort -u
}

# The words that start lines indented by two: "  translate  translate lines ...".
_dragoman_verbs() {
    "$1" --help 2>/dev/null </dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# What "convert" reads: "usage: dragoman convert marian ...".
_dragoman_formats() {
    "$1" convert --help 2>/dev/null </dev/null | sed -n 's/.*dragoman convert \([a-z]*\).*/\1/p' | sort -u
}

# What can be done with keys: "       dragoman keys revoke ID ...".
_dragoman_actions() {
    "$1" keys --help 2>/dev/null </dev/null | sed -n 's/.*dragoman keys \([a-z]*\).*/\1/p' | sort -u
}

_dragoman() {
    local program=$1 current=$2 previous=$3 verb=${COMP_WORDS[1]:-} help=("$1")
    local IFS=$'\n'
    COMPREPLY=()
    case $previous in
    --log-level) COMPREPLY=($(compgen -W $'debug\ninfo\nwarn\nerror' -- "$current")) && return ;;
    --length-penalty-kind) COMPREPLY=($(compgen -W $'gnmt\npower\nnone' -- "$current")) && return ;;
    --keys-open) COMPREPLY=($(compgen -W $'pages\nprobes' -- "$current")) && return ;;
    --scope) COMPREPLY=($(compgen -W $'translate\nadmin\ntranslate,admin' -- "$current")) && return ;;
    --positions) COMPREPLY=($(compgen -W $'marian\nhalves' -- "$current")) && return ;;
    esac
    if [[ ${program##*/} != dragoman-server && $COMP_CWORD -eq 1 && $current != -* ]]; then
        COMPREPLY=($(compgen -W "$(_dragoman_verbs "$program")" -- "$current"))
        return
    fi
    [[ ${program##*/} != dragoman || $COMP_CWORD -eq 1 ]] || help+=("$verb")
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$(_dragoman_options "${help[@]}")" -- "$current"))
    elif [[ $verb == convert && $COMP_CWORD -eq 2 ]]; then
        COMPREPLY=($(compgen -W "$(_dragoman_formats "$program")" -- "$current"))
    elif [[ $verb == keys && $COMP_CWORD -eq 2 ]]; then
        COMPREPLY=($(compgen -W "$(_dragoman_actions "$program")" -- "$current"))
    fi
    # Anything else is a file: complete -o default.
}

complete -o default -F _dragoman dragoman dragoman-server dragoman-train
