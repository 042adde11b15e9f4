import { randomBytes } from 'node:crypto'
import { type DestinationStream, type Logger, type Level, pino } from 'pino'
import type { Registry } from 'prom-client'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { parseSettings } from '../config/setting.ts'
import { openMetrics } from './metrics.ts'
import { createRedactor, removeCredentials } from './redact.ts'
import type { Telemetry } from './telemetry.ts'
import { openTracing } from './tracing.ts'

/** Attributes of a process in every log line, metric and span. */
export interface ProcessAttributes {
  instance: string
  version: string
  /** Names of the services that run in this process. */
  services: readonly string[]
  /** Names of the settings that are secrets. */
  secretNames: readonly string[]
}

/** Logs, metrics and traces of one process; disposing flushes the last spans. */
export interface ProcessTelemetry extends AsyncDisposable {
  /** The log of the process itself. */
  readonly log: Logger
  readonly metrics: Registry
  of(service: string): Telemetry
}

/** Opens the telemetry of a process according to its settings. `destination` replaces standard output. */
export const openTelemetry = async (
  env: Environment,
  facts: ProcessAttributes,
  destination?: DestinationStream,
): Promise<ProcessTelemetry> => {
  const settings = parseSettings(processSettings, env)
  const forPeople = settings.LOG_PRETTY ?? (settings.NODE_ENV !== 'production' && process.stdout.isTTY)
  const log = openLog({
    level: settings.LOG_LEVEL,
    ...facts,
    destination: destination ?? (forPeople ? await openPrettyDestination() : undefined),
  })
  const own = log.child({ service: 'main' })
  const metrics = openMetrics(facts)
  const tracing = await openTracing({
    exporterUrl: settings.SVC_OTEL_EXPORTER_URL,
    ...facts,
    log: own,
    registry: metrics,
  })
  return {
    log: own,
    metrics,
    of: (service) => ({ log: log.child({ service }), metrics, tracer: tracing.tracer(service) }),
    [Symbol.asyncDispose]: () => tracing[Symbol.asyncDispose](),
  }
}

/** Returns the given instance name, or a random one. */
export const chooseInstanceName = (given: string | undefined): string => given ?? randomBytes(6).toString('hex')

/** Options of the log of a process. */
interface LogOptions {
  level: Level
  instance: string
  version: string
  /** Names of settings whose values never appear. */
  secretNames: readonly string[]
  /** The destination of the lines; standard output by default. */
  destination?: DestinationStream | undefined
}

/** Opens a log of JSON lines, one per event. It hides the values of secret fields and credentials in URLs. */
export const openLog = (options: LogOptions): Logger => {
  const redact = createRedactor(options.secretNames)
  return pino(
    {
      level: options.level,
      base: { instance: options.instance, version: options.version },
      timestamp: pino.stdTimeFunctions.isoTime,
      // The `log` formatter has already converted errors to redacted fields, so this serializer changes nothing.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }), log: redact },
      hooks: { streamWrite: hideLineCredentials },
    },
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  )
}

/** Removes credentials from all strings of a JSON line. Unescapes them first, because a password may contain quotes. */
const hideLineCredentials = (line: string): string =>
  /:\/\/|%3A%2F%2F|:\\\/|[?&]/i.test(line)
    ? line.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => {
        const read: unknown = JSON.parse(text)
        const bare = removeCredentials(String(read))
        return bare === read ? text : JSON.stringify(bare)
      })
    : line

/**
 * Returns a destination that prints human-readable lines; undefined without `pino-pretty`, as in the container image.
 */
const openPrettyDestination = async (): Promise<DestinationStream | undefined> => {
  try {
    const { default: pretty } = await import('pino-pretty')
    return pretty({ singleLine: true, ignore: 'instance,version', translateTime: 'SYS:HH:MM:ss.l', sync: true })
  } catch {
    return undefined
  }
}
