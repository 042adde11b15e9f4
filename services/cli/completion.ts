import type { Command, Option } from 'commander'

/** The shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

interface CompletedCommand {
  name: string
  description: string
  options: CompletedOption[]
}

interface CompletedOption {
  flags: string[]
  description: string
  choices: readonly string[]
  takesValue: boolean
}

/** Returns the completion script of a shell for all commands and options of a program. */
export const formatCompletion = (shell: Shell, program: Command): string => {
  const shared = program.options.filter(isShown).map(toCompletedOption)
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: [...command.options.filter(isShown).map(toCompletedOption), ...shared],
  }))
  return formatters[shell](program.name(), commands, shared)
}

const isShown = ({ hidden }: Option): boolean => !hidden

const toCompletedOption = (option: Option): CompletedOption => ({
  flags: [option.short, option.long].filter((flag) => flag != null),
  description: option.description,
  choices: option.argChoices ?? [],
  takesValue: option.required || option.optional,
})

type Formatter = (name: string, commands: readonly CompletedCommand[], shared: readonly CompletedOption[]) => string

const listFlags = (options: readonly CompletedOption[]): string => options.flatMap(({ flags }) => flags).join(' ')

const formatBash: Formatter = (name, commands, shared) => {
  const cases = commands.map(({ name: command, options }) => `    ${command}) words='${listFlags(options)} --help' ;;`)
  const choices = uniqueChoices(commands).map(
    ([flag, values]) => `    ${flag}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`,
  )
  return `# Completion of ${name} for bash.
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words command='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${commands.map((command) => command.name).join('|')}) command=$word; break ;; esac
  done
  case $previous in
${choices.join('\n')}
  esac
  case $command in
    completion) words='${shells.join(' ')}' ;;
${cases.filter((line) => !line.startsWith('    completion)')).join('\n')}
    *) words='${[...commands.map((command) => command.name), 'help', '--version', '--help'].join(' ')} ${listFlags(shared)}' ;;
  esac
  if [[ -z $command || $command == completion || $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _${name} ${name}
`
}

/** Returns the values of options with a fixed set of them, by flag. */
const uniqueChoices = (commands: readonly CompletedCommand[]): [flag: string, values: readonly string[]][] => {
  const found = commands
    .flatMap(({ options }) => options)
    .flatMap(({ flags, choices }) => (choices.length > 0 ? flags.map((flag) => [flag, choices] as const) : []))
  const byFlag = new Map<string, Set<string>>()
  for (const [flag, choices] of found) byFlag.set(flag, new Set([...(byFlag.get(flag) ?? []), ...choices]))
  return [...byFlag].map(([flag, values]) => [flag, [...values]])
}

const formatZsh: Formatter = (name, commands, shared) => {
  const described = commands.map(({ name: command, description }) => `    '${escapeZsh(`${command}:${description}`)}'`)
  const cases = commands.map(({ name: command, options }) => {
    const specifications = options.flatMap(toZshOptions)
    const rest = command === 'completion' ? `'1:shell:(${shells.join(' ')})'` : "'*:argument:_files'"
    return `        ${command}) _arguments ${[...specifications, rest].join(' ')} ;;`
  })
  return `#compdef ${name}
# Completion of ${name} for zsh.
_${name}() {
  local context state line
  local -a commands=(
${described.join('\n')}
  )
  _arguments -C ${shared.flatMap(toZshOptions).join(' ')} '1: :->command' '*:: :->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`
}

const toZshOptions = ({ flags, description, choices, takesValue }: CompletedOption): string[] =>
  flags.map((flag) => {
    const values = choices.length > 0 ? `(${choices.join(' ')})` : ''
    return `'${flag}[${escapeZsh(description)}]${takesValue ? `:value:${values}` : ''}'`
  })

/** Escapes a text for single quotes of zsh, and the brackets and colons of its specifications. */
const escapeZsh = (text: string): string =>
  text.replaceAll("'", String.raw`'\''`).replaceAll(/[[\]]/g, (bracket) => `\\${bracket}`)

const formatFish: Formatter = (name, commands, shared) => {
  const isFirst = `__fish_use_subcommand`
  const lines = [
    `# Completion of ${name} for fish.`,
    ...commands.map(
      ({ name: command, description }) =>
        `complete -c ${name} -f -n ${isFirst} -a ${command} -d '${escapeFish(description)}'`,
    ),
    ...shared.map((option) => `complete -c ${name} ${toFishOption(option)}`),
    ...commands.flatMap(({ name: command, options }) =>
      options
        .filter((option) => !shared.includes(option))
        .map((option) => `complete -c ${name} -n '__fish_seen_subcommand_from ${command}' ${toFishOption(option)}`),
    ),
    `complete -c ${name} -f -n '__fish_seen_subcommand_from completion' -a '${shells.join(' ')}'`,
  ]
  return `${lines.join('\n')}\n`
}

const toFishOption = ({ flags, description, choices, takesValue }: CompletedOption): string => {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
  const value = choices.length > 0 ? [`-x -a '${choices.join(' ')}'`] : takesValue ? ['-r'] : []
  return [...names, ...value, `-d '${escapeFish(description)}'`].join(' ')
}

const escapeFish = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)

const formatters: Readonly<Record<Shell, Formatter>> = { bash: formatBash, zsh: formatZsh, fish: formatFish }
