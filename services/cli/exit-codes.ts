import { RequestError } from '../client/failure.ts'

/** The exit codes of all commands. Scripts depend on them, so they never change. */
export const exitCodes = {
  ok: 0,
  /** The command failed, or a check found a problem. */
  failed: 1,
  /** The command line is invalid, or `apply --dry-run` found differences. */
  usage: 2,
  /** The server or the host cannot be reached. */
  unreachable: 3,
  /** The server requires a sign-in, or the permissions of the caller are insufficient. */
  unauthorized: 4,
  /** Some of several hosts failed; the output has the results of the others. */
  partial: 5,
  /** Ctrl-C ended the command. */
  interrupted: 130,
} as const

/** An expected failure of a command. The message is for users and has no stack trace. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Returns the error of invalid arguments. */
export const createUsageError = (message: string): CommandError => new CommandError(message, exitCodes.usage)

/** Returns the exit code for a thrown value. */
export const toExitCode = (error: unknown): number => {
  if (error instanceof CommandError) return error.exitCode
  if (!(error instanceof RequestError)) return exitCodes.failed
  if (error.isUnreachable || isHostUnreachable(error)) return exitCodes.unreachable
  return error.code === 'unauthenticated' || error.code === 'forbidden' ? exitCodes.unauthorized : exitCodes.failed
}

/** Returns whether the server responded, but the ClickHouse host did not. */
const isHostUnreachable = ({ details }: RequestError): boolean =>
  details.reason === 'unreachable' || details.reason === 'timeout'
