import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Net } from '#shared/net/net.ts'
import { findClickhouseErrorCode, createHostError } from '../../clickhouse/failure.ts'
import type { Statement } from '../../clickhouse/statement.ts'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import type { ReplicationServiceClient } from '../../repldb/client.ts'
import type { HostProbe } from '../probe-host.ts'
import type { SweepState } from '../sweep-state.ts'
import { type Measurement, createMissingMeasurement } from '../measurement.ts'

/** The input of an evaluator. */
export interface EvaluatorInput {
  host: MonitoredHost
  contact: HostProbe
  /** The state from earlier sweeps; undefined when the store is unavailable. */
  earlier: SweepState | undefined
  /** Ids of rules whose statement was denied to the user of this host. */
  denied: readonly string[]
  run(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
  net: Pick<Net, 'trusted'>
  replicationService: ReplicationServiceClient
  history: HistoryProgress
  call: CallContext
  signal: AbortSignal
  /** The time of the local clock, which may differ from the clock of the host. */
  nowMs: number
}

/** How far the history of the host is recorded. */
interface HistoryProgress {
  /** Why the last request to the history server failed; undefined if it succeeded, or if there is none. */
  problem: string | undefined
  /** Returns undefined if the host was never recorded. */
  readSecondsBehind(): Promise<number | undefined>
}

/** Measures what a rule's SQL cannot, and returns the state changes to store for the next sweep. */
export type Evaluator = (input: EvaluatorInput) => Promise<{ measured: Measurement; changes?: Partial<SweepState> }>

/** How long a change is reported. */
const reportedMs = 3_600_000

interface StoredValue {
  /** Null before the first sweep. */
  value: string | null
  changedMs: number | null
}

/** Checks whether a value changed within the last hour. `now` is the state to store, or undefined when unchanged. */
export const detectChange = (
  known: StoredValue,
  value: string,
  nowMs: number,
): { isRecent: boolean; now: StoredValue | undefined } => {
  const isChanged = known.value !== null && known.value !== value
  const changedMs = isChanged ? nowMs : known.changedMs
  return {
    isRecent: changedMs !== null && nowMs - changedMs < reportedMs,
    now: known.value === value ? undefined : { value, changedMs },
  }
}

/** Wraps an evaluator so that a failed statement results in a missing measurement with a reason. */
export const catchFailures =
  (evaluator: Evaluator): Evaluator =>
  async (input) => {
    try {
      return await evaluator(input)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { measured: createMissingMeasurement(describeFailure(input.host.name, error)) }
    }
  }

/** Parses the rows of a result with a schema. */
export const readRows = <S extends z.ZodType>(
  host: MonitoredHost,
  schema: S,
  { rows }: { rows: unknown },
): z.output<S> => {
  const read = schema.safeParse(rows)
  if (!read.success) throw createHostError(host, 'garbage')
  return read.data
}

/** Returns the reason of a failure without the server's own message, which repeats the statement. */
export const describeFailure = (host: string, error: ServiceError): string =>
  findClickhouseErrorCode(error) === undefined
    ? error.message
    : `host ${host}: the query failed (${findClickhouseErrorCode(error)} ${String(error.details?.clickhouseName)})`
