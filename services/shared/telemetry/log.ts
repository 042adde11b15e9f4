import { type DestinationStream, type Level, type Logger, pino } from 'pino'
import { redactor, withoutCredentials } from './redact.ts'

/** How a process writes its log. */
export interface LogOptions {
  level: Level
  instance: string
  version: string
  /** Names of settings whose values never appear. */
  secretNames: readonly string[]
  /** Where lines go; standard output by default. */
  destination?: DestinationStream | undefined
}

/** JSON lines, one per event; values under secret names and credentials within URLs never appear. */
export const openLog = (options: LogOptions): Logger => {
  const redact = redactor(options.secretNames)
  return pino(
    {
      level: options.level,
      base: { instance: options.instance, version: options.version },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors become plain fields before pino sees them, so that what hangs on them is redacted too.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }), log: redact },
      hooks: { streamWrite: bareLine },
    },
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

/** A line without credentials in any of its texts, read as they were before they became JSON: a password may contain quotes. */
const bareLine = (line: string): string =>
  /:\/\/|%3A%2F%2F|:\\\/|[?&]/i.test(line)
    ? line.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => {
        const read: unknown = JSON.parse(text)
        const bare = withoutCredentials(String(read))
        return bare === read ? text : JSON.stringify(bare)
      })
    : line

/** Lines for people; where the formatter is not installed, as in the image, the lines stay JSON. */
export const prettyDestination = async (): Promise<DestinationStream | undefined> => {
  try {
    const { default: pretty } = await import('pino-pretty')
    return pretty({ singleLine: true, ignore: 'instance,version', translateTime: 'SYS:HH:MM:ss.l', sync: true })
  } catch {
    return undefined
  }
}
