import { Command, CommanderError, Option } from 'commander'
import { RequestError } from '../client/failure.ts'
import { commands } from './commands/index.ts'
import { printCandidates } from './completion/complete.ts'
import { completeCommand } from './completion/scripts.ts'
import type { CommandContext } from './context.ts'
import { CommandError, exitCodes, toExitCode } from './exit-codes.ts'

/** Returns the program with all commands. */
export const createProgram = (context: CommandContext): Command => {
  const program = new Command('watchhouse')
    .description('Watch ClickHouse hosts from the command line.')
    .version(context.version, '-V, --version', 'print the version')
    .option('--url <url>', 'address of the server (default: WATCHHOUSE_URL, else that of the last login)')
    .option('--json', 'print JSON')
    .option('--no-color', 'print no colours, as with NO_COLOR')
    .addOption(new Option('--timeout <seconds>', 'time limit of each request').argParser(readSeconds))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => context.stdout.write(text), writeErr: (text) => context.stderr.write(text) })
    .showHelpAfterError('(run with --help for the arguments)')
    .exitOverride()
    .addHelpText('after', helpText)
  for (const create of commands) {
    const command = create(context)
    command.copyInheritedSettings(program)
    program.addCommand(command)
  }
  return program
}

const readSeconds = (text: string): number => {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new CommandError(`invalid --timeout "${text}"; allowed: a whole number of seconds`, exitCodes.usage)
}

const helpText = `
Variables:
  WATCHHOUSE_URL      address of the server
  WATCHHOUSE_API_KEY  API key; "watchhouse login" saves one instead
  NO_COLOR            print no colours

Exit codes:
  0    ok
  1    the command failed, or a check found a problem
  2    invalid arguments, or apply --dry-run found differences
  3    the server or the host cannot be reached
  4    not signed in, or not permitted
  5    some of several hosts failed; the results of the others are complete
  130  ended by Ctrl-C`

/** Runs a command line and returns its exit code. Expected failures are one line on standard error. */
export const runCommandLine = async (context: CommandContext, words: readonly string[]): Promise<number> => {
  let exitCode: number = exitCodes.ok
  const program = createProgram({ ...context, setExitCode: (code) => void (exitCode = code) })
  try {
    if (words[0] === completeCommand) {
      await printCandidates(context, program, words.slice(1))
      return exitCodes.ok
    }
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has already written the help or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    if (context.signal.aborted || isPromptAborted(error)) return exitCodes.interrupted
    reportFailure(context, error, words.includes('--json'))
    return toExitCode(error)
  }
}

/** Returns whether the user ended a prompt with Ctrl-C. */
const isPromptAborted = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError')

const reportFailure = ({ stderr }: CommandContext, error: unknown, isJson: boolean): void => {
  const isExpected = error instanceof CommandError || error instanceof RequestError
  const message = error instanceof Error ? error.message : String(error)
  const requestId = error instanceof RequestError ? error.requestId : null
  if (isJson) {
    const code = error instanceof RequestError ? describeCode(error) : 'failed'
    stderr.write(`${JSON.stringify({ error: { code, message, requestId } })}\n`)
    return
  }
  const remedy =
    toExitCode(error) === exitCodes.unauthorized ? '\nRun "watchhouse login", or set WATCHHOUSE_API_KEY.' : ''
  const reference = requestId === null ? '' : ` (request ${requestId})`
  stderr.write(`error: ${message}${reference}${remedy}\n`)
  if (!isExpected && error instanceof Error) stderr.write(`${error.stack ?? ''}\n`)
}

/** Returns the error code as sent, or what failed before the server could send one. */
const describeCode = ({ type, code }: RequestError): string => (type === 'unknown' ? code : type)
