import { randomBytes } from 'node:crypto'
import type { DestinationStream, Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { read } from '../config/setting.ts'
import { openLog, prettyDestination } from './log.ts'
import { openMetrics } from './metrics.ts'
import type { Telemetry } from './telemetry.ts'
import { openTracing } from './tracing.ts'

/** What a process says of itself in every log line, metric and span. */
export interface ProcessFacts {
  instance: string
  version: string
  /** Services that run here. */
  services: readonly string[]
  /** Names of the settings that are secrets. */
  secretNames: readonly string[]
}

/** Logs, metrics and traces of one process; disposing hands on the last spans. */
export interface ProcessTelemetry extends AsyncDisposable {
  /** For what happens in no service. */
  readonly log: Logger
  readonly metrics: Registry
  of(service: string): Telemetry
}

/** Opens the telemetry of a process as its settings say; `destination` replaces standard output. */
export const openTelemetry = async (
  env: Environment,
  facts: ProcessFacts,
  destination?: DestinationStream,
): Promise<ProcessTelemetry> => {
  const settings = read(processSettings, env)
  const forPeople = settings.LOG_PRETTY ?? (settings.NODE_ENV !== 'production' && process.stdout.isTTY)
  const log = openLog({
    level: settings.LOG_LEVEL,
    ...facts,
    destination: destination ?? (forPeople ? await prettyDestination() : undefined),
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

/** A name for this process among its equals, unless it was given one. */
export const instanceName = (given: string | undefined): string => given ?? randomBytes(6).toString('hex')
