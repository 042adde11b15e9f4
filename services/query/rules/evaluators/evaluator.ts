import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Net } from '#shared/net/net.ts'
import { clickhouseCode, hostFailure } from '../../clickhouse/failure.ts'
import type { Statement } from '../../clickhouse/statement.ts'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import type { ReplicationService } from '../../repldb/client.ts'
import type { Contact } from '../contact.ts'
import type { Earlier } from '../earlier.ts'
import { type Measured, untold } from '../measured.ts'

/** What an evaluator may go by. */
export interface Asked {
  host: MonitoredHost
  contact: Contact
  /** Undefined when it cannot be read now. */
  earlier: Earlier | undefined
  /** Ids of rules whose statement the user of this host may not run. */
  denied: readonly string[]
  ask(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
  net: Pick<Net, 'trusted'>
  replicationService: ReplicationService
  /** What it is asked with. */
  call: Call
  signal: AbortSignal
  /** By our own clock; hosts have theirs. */
  nowMs: number
}

/** Measures what no statement of a rule can, and says what the next sweep has to know. */
export type Evaluator = (asked: Asked) => Promise<{ measured: Measured; keep?: Partial<Earlier> }>

/** How long a change is told. */
const toldMs = 3_600_000

interface Known {
  /** Null before the first sweep. */
  value: string | null
  changedMs: number | null
}

/** Whether a value changed within the last hour; `now` is what is to be known of it from here on, none when that is so already. */
export const changeOf = (known: Known, value: string, nowMs: number): { isRecent: boolean; now: Known | undefined } => {
  const isChanged = known.value !== null && known.value !== value
  const changedMs = isChanged ? nowMs : known.changedMs
  return {
    isRecent: changedMs !== null && nowMs - changedMs < toldMs,
    now: known.value === value ? undefined : { value, changedMs },
  }
}

/** An evaluator whose statement may fail: then nothing is told, and why. */
export const failing =
  (evaluator: Evaluator): Evaluator =>
  async (asked) => {
    try {
      return await evaluator(asked)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { measured: untold(failureOf(asked.host.name, error)) }
    }
  }

/** The rows of an answer, as they were asked for. */
export const readRows = <S extends z.ZodType>(
  host: MonitoredHost,
  schema: S,
  { rows }: { rows: unknown },
): z.output<S> => {
  const read = schema.safeParse(rows)
  if (!read.success) throw hostFailure(host, 'garbage')
  return read.data
}

/** What a server says itself repeats the statement. */
export const failureOf = (host: string, error: ServiceError): string =>
  clickhouseCode(error) === undefined
    ? error.message
    : `host ${host} cannot answer this (${clickhouseCode(error)} ${String(error.details?.clickhouseName)})`
