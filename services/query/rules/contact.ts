import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { clickhouseCode, failureReason } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { basicStatement, type Basics, readBasics } from '../status/status-statement.ts'

const probeMs = 2_000
const signOfLife = basicStatement('rules')

/** A host that answers, and what it can tell. */
export interface Answering extends Basics {
  answers: true
  capabilities: Capabilities
}

/** A host that does not, and in words why. */
export interface Silent {
  answers: false
  reason: string
  /** It is there, but refuses the configured user or password. */
  isRefused: boolean
}
export type Contact = Answering | Silent

interface Place {
  client: DatabaseClient
  clock: Clock
}

/** Asks for a sign of life, over the connection beside the pool, before anything else is asked. */
export const contactWith = async ({ client, clock }: Place, host: MonitoredHost, call: Call): Promise<Contact> => {
  const asking = { ...call, deadline: Math.min(call.deadline, clock.elapsedMs() + probeMs) }
  try {
    const { rows } = await client.probe(host, signOfLife, asking, probeMs)
    const basics = readBasics(host, rows)
    return { answers: true, ...basics, capabilities: await client.capabilities(host, call) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answers: false, isRefused: failureReason(error) === 'refused', reason: reasonOf(host, error) }
  }
}

/** What a server says itself repeats the statement. */
const reasonOf = (host: MonitoredHost, error: ServiceError): string => {
  const code = clickhouseCode(error)
  return code === undefined
    ? error.message
    : `host ${host.name} answers the smallest statement with ${code} ${String(error.details?.clickhouseName)}`
}
