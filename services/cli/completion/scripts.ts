/** The shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The hidden command that the scripts call. Its arguments are the shell and the words up to the cursor. */
export const completeCommand = '__complete'
/** The line that a script replaces with the names of files. */
export const filesDirective = ':files'

/**
 * Returns the completion script of a shell. The scripts contain no commands: they call the program, which knows its commands and
 * options, and the hosts, charts and pages of the server.
 */
export const formatCompletion = (shell: Shell, name: string): string => scripts[shell](name)

// Runs on bash 3.2, which macOS has: without mapfile and compopt.
const formatBash = (name: string): string => `# Completion of ${name} for bash.
_${name}() {
  local line value IFS=$'\\n'
  COMPREPLY=()
  while read -r line; do
    value=\${line%%$'\\t'*}
    if [[ $value == ${filesDirective} ]]; then
      COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
      return
    fi
    [[ $value == *[!a-zA-Z0-9,._:/@=+-]* ]] && value=$(printf %q "$value")
    COMPREPLY+=("$value")
  done < <("$1" ${completeCommand} bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _${name} ${name}
`

const formatZsh = (name: string): string => `#compdef ${name}
# Completion of ${name} for zsh.
_${name}() {
  local line value
  local -a candidates
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    if [[ $value == ${filesDirective} ]]; then
      _files
      return
    fi
    candidates+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done < <("$words[1]" ${completeCommand} zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  _describe -V ${name} candidates
}
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`

const formatFish = (name: string): string => `# Completion of ${name} for fish.
function __${name}_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  set -l lines ($program ${completeCommand} fish -- $words "$current" 2>/dev/null)
  if test "$lines[1]" = '${filesDirective}'
    __fish_complete_path "$current"
  else
    printf '%s\\n' $lines
  end
end
complete -c ${name} -f -k -a '(__${name}_complete)'
`

const scripts: Readonly<Record<Shell, (name: string) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
}
