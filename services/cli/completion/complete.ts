import type { Command, Option } from 'commander'
import type { CommandContext } from '../context.ts'
import { toSafeLine } from '../output/terminal-text.ts'
import { filesDirective } from './scripts.ts'
import { type Candidate, isFilePlace, loadValues } from './values.ts'

/**
 * Prints the candidates for the last word, one per line, with a tab and a description. The first argument is the shell,
 * `--` follows.
 */
export const printCandidates = async (
  context: CommandContext,
  program: Command,
  [shell, _separator, ...words]: readonly string[],
): Promise<void> => {
  const { joined, cut } = shell === 'bash' ? joinWords(words) : { joined: words, cut: 0 }
  const found = await listCandidates(context, program, joined)
  const lines =
    found === 'files'
      ? [filesDirective]
      : found.map(({ value, description }) => `${toSafeLine(value).slice(cut)}\t${toSafeLine(description)}`)
  if (lines.length > 0) context.stdout.write(`${lines.join('\n')}\n`)
}

/**
 * Joins the words that bash has split at `=` and `:`. `cut` is the length of the last word before its last part, which
 * alone bash replaces.
 */
const joinWords = (parts: readonly string[]): { joined: string[]; cut: number } => {
  const joined: string[] = []
  let isOpen = false
  let cut = 0
  for (const part of parts) {
    const isBreak = /^[=:]+$/.test(part)
    if ((isBreak || isOpen) && joined.length > 0) {
      const before = joined.pop() ?? ''
      cut = before.length + (isBreak ? part.length : 0)
      joined.push(before + part)
    } else {
      cut = 0
      joined.push(part)
    }
    isOpen = isBreak
  }
  return { joined, cut }
}

const listCandidates = async (
  context: CommandContext,
  program: Command,
  words: readonly string[],
): Promise<Candidate[] | 'files'> => {
  const current = words.at(-1) ?? ''
  const line = readWords(program, words.slice(0, -1))
  const { command, options, pending, before } = line
  const name = command?.name() ?? ''
  const url = line.values.get('--url')
  if (url !== undefined) program.setOptionValue('url', url)
  const complete = async (option: Option, text: string, prefix: string) => {
    const place = { command: name, name: option.long ?? '', before }
    if (isFilePlace(place)) return 'files'
    const values = option.argChoices?.map(toPlain) ?? (await loadValues(context, program, place))
    return completeValue(option, values, text).map((each) => ({ ...each, value: prefix + each.value }))
  }
  if (pending) return await complete(pending, current, '')
  const { flag, text } = /^(?<flag>--[\w-]+)=(?<text>.*)$/s.exec(current)?.groups ?? {}
  const assigned = options.find(({ long }) => long === flag)
  if (assigned && text !== undefined) return await complete(assigned, text, `${flag}=`)
  if (current.startsWith('-')) return startingWith(current, options.flatMap(toFlags))
  if (!command) return startingWith(current, listCommands(program))
  const argument = command.registeredArguments[Math.min(line.arguments, command.registeredArguments.length - 1)]
  if (!argument || (line.arguments >= command.registeredArguments.length && !argument.variadic)) return []
  const place = { command: name, name: `[${argument.name()}]`, before }
  if (isFilePlace(place)) return 'files'
  const values = argument.argChoices?.map(toPlain) ?? (await loadValues(context, program, place))
  const others = values.filter(({ value }) => !before.includes(value))
  return startingWith(current, name === 'help' ? listCommands(program) : others)
}

interface Line {
  command: Command | undefined
  /** The options that the command takes, including those of the program. */
  options: readonly Option[]
  /** The option whose value follows. */
  pending: Option | undefined
  values: ReadonlyMap<string, string>
  /** The number of arguments of the command. */
  arguments: number
  before: readonly string[]
}

const readWords = (program: Command, words: readonly string[]): Line => {
  let command: Command | undefined
  let pending: Option | undefined
  let count = 0
  const values = new Map<string, string>()
  const listOptions = () =>
    [...(command?.createHelp().visibleOptions(command) ?? []), ...program.createHelp().visibleOptions(program)].filter(
      (option, index, all) => all.findIndex(({ long }) => long === option.long) === index,
    )
  for (const word of words) {
    if (pending) {
      values.set(pending.long ?? '', word)
      pending = undefined
    } else if (word.startsWith('-')) {
      const [flag = '', ...rest] = word.split('=')
      const option = listOptions().find(({ long, short }) => long === flag || short === flag)
      if (option && rest.length > 0) values.set(flag, rest.join('='))
      else if (option && (option.required || option.optional)) pending = option
    } else if (command) count += 1
    else command = program.commands.find((each) => each.name() === word) ?? findHelp(program, word)
  }
  return { command, options: listOptions(), pending, values, arguments: count, before: words }
}

const findHelp = (program: Command, word: string): Command | undefined =>
  word === 'help' ? program.createHelp().visibleCommands(program).at(-1) : undefined

const listCommands = (program: Command): Candidate[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ value: command.name(), description: command.description() }))

const toPlain = (value: string): Candidate => ({ value, description: '' })

const toFlags = ({ long, description }: Option): Candidate[] => (long == null ? [] : [{ value: long, description }])

/** Completes a value. An option for hosts takes several, separated by commas; those before the last comma are kept. */
const completeValue = (option: Option, values: readonly Candidate[], text: string): Candidate[] => {
  const isList = option.flags.includes('<names>')
  const head = isList ? text.slice(0, text.lastIndexOf(',') + 1) : ''
  const named = head.split(',')
  return startingWith(
    text.slice(head.length),
    values.filter(({ value }) => !named.includes(value)),
  ).map((each) => ({ ...each, value: head + each.value }))
}

const startingWith = (text: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(({ value }) => value.startsWith(text))
