import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { isBackground } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { quoteName } from '#shared/sql/quote.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { openAnswerCache } from './answer-cache.ts'
import type { Rows } from './answer.ts'
import {
  type Capabilities,
  openCapabilityCache,
  type Presence,
  LogColumns,
  logColumnsStatement,
  rotatedLogs,
} from './capabilities.ts'
import { reusing, readSummary } from './cost.ts'
import { clickhouseCode, hostFailure } from './failure.ts'
import type { HostBody } from './host-body.ts'
import { readLimits } from './limits.ts'
import { openSharedRuns } from './shared-runs.ts'
import { secondsFor, type Statement, type StreamFormat } from './statement.ts'
import { openTransport, type Place, type WholeAnswer, type Asking, timeLeft } from './transport.ts'

type System = Pick<Capabilities, 'tables' | 'logs'>

/** Systems that are remembered; hosts of one fleet mostly have the same tables. */
const maxKnown = 100

/** Gives the same objects for all that are equal, so that what is made of them for one host can be found by them for the others. */
export const openEqualSystems = (): ((system: System) => System) => {
  const recent = new LRUCache<string, System>({ max: maxKnown })
  return (system) => {
    const key = [...[...system.tables].toSorted(), ...system.logs.values()].join('\n')
    const equal = recent.get(key) ?? system
    recent.set(key, equal)
    return equal
  }
}

/** Asks in one go what later statements have to know; without settings, since whether these are allowed is part of the answer. */
const capabilityStatement: Statement = {
  what: 'capabilities',
  bare: true,
  short: true,
  maxSeconds: 10,
  sql: `SELECT
  version(),
  toUInt8(getSetting('readonly')),
  (SELECT groupArray(name) FROM system.tables WHERE database = 'system')`,
}

const Told = z.tuple([z.tuple([z.string(), z.number(), z.array(z.string())])])

/** A memory of a pure function only: hosts of one fleet mostly have the same tables. */
const equalSystem = openEqualSystems()

/** Learns what a host can do; `ask` sends it a statement. */
const learnCapabilities = async (
  host: MonitoredHost,
  ask: (statement: Statement) => Promise<Pick<Rows, 'rows'>>,
): Promise<Capabilities> => {
  const told = async <T>(statement: Statement, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse((await ask(statement)).rows)
    if (!parsed.success) throw hostFailure(host, 'garbage')
    return parsed.data
  }
  const [[version, readonly, names]] = await told(capabilityStatement, Told)
  const tables = new Set(names)
  const missing = logColumnsStatement(version, tables)
  const logs = rotatedLogs(tables, missing && (await told(missing, LogColumns)))
  return { version, readonly, ...equalSystem({ tables, logs }) }
}

/** Asks whether there is a table; a user without any right on it gets an error instead of a number. */
const presenceStatement = (table: string): Statement => looking(`EXISTS TABLE ${quoted(table)}`)

/** Reads nothing of a table; fails where the user may not read it or there is none. */
const readingStatement = (table: string): Statement => looking(`SELECT 1 FROM ${quoted(table)} LIMIT 0`)

const looking = (sql: string): Statement => ({ what: 'capabilities', maxSeconds: 10, sql })

const quoted = (table: string): string => {
  const [database = '', name = ''] = table.split('.')
  return `${quoteName(database)}.${quoteName(name)}`
}

/** A whole answer, what it cost, and who gave it. */
export interface Answer extends WholeAnswer {
  clickhouseVersion: string
}

/** An answer whose rows pass through as the host's own bytes. Leaving `body` early ends the statement on the host. */
export interface ByteAnswer {
  queryId: string
  clickhouseVersion: string
  /** The `readonly` setting of the user's profile: with 1 the host may have quoted 64-bit integers. */
  readonly: number
  rowsRead: number
  bytesRead: number
  body: HostBody
}

/** The only client of the databases. Failures are `ServiceError`s that name the host by its label. */
export interface DatabaseClient extends AsyncDisposable {
  run(host: MonitoredHost, statement: Statement, asking: Asking): Promise<Answer>
  stream(host: MonitoredHost, statement: Statement, asking: Asking, format?: StreamFormat): Promise<ByteAnswer>
  /** Asks over the connection kept beside the pool, without a turn or a cache. */
  probe(host: MonitoredHost, statement: Statement, asking: Asking, limitMs: number): Promise<Rows>
  capabilities(host: MonitoredHost, asking: Asking): Promise<Capabilities>
  /** The same as far as it is known already, however old. */
  known(host: MonitoredHost): Capabilities | undefined
  /** Whether the configured user can read a table, written `database.table`. */
  presence(host: MonitoredHost, table: string, asking: Asking): Promise<Presence>
  /** Makes the next question ask anew what the host can do. */
  forget(host: MonitoredHost): void
  /** Closes what is open to a host that will not be asked again. */
  release(host: MonitoredHost): void
}

const accessDenied = 497
const noSuchTable = 60
const noSuchDatabase = 81

export const openClient = ({ env, clock, ...place }: Place): DatabaseClient => {
  const transport = openTransport({ env, clock, ...place })
  const learned = openCapabilityCache(clock.elapsedMs)
  const learning = openSharedRuns<Capabilities>()
  const runs = openSharedRuns<Answer>(reusing(place.telemetry, 'shared'))
  const answers = openAnswerCache<Answer>(clock.elapsedMs, reusing(place.telemetry, 'cache'))

  const capabilities = (host: MonitoredHost, asking: Asking): Promise<Capabilities> =>
    learned.of(host, () =>
      learning.join(identity(host), waiting(host, asking, clock.elapsedMs()), async (signal) => {
        const sent = { host, asking: unbounded(asking, signal), readonly: 1 }
        return learnCapabilities(host, (statement) => transport.reserved({ ...sent, statement }, learningLimitMs(env)))
      }),
    )

  const run = async (host: MonitoredHost, statement: Statement, asking: Asking): Promise<Answer> => {
    const { version, readonly } = await capabilities(host, asking)
    const perform = async (own: Asking, key?: string): Promise<Answer> => {
      const answer = await transport.whole({ host, statement, asking: own, readonly })
      const complete = { ...answer, clickhouseVersion: version }
      if (statement.cache && key !== undefined) answers.put(key, complete, answer.size, statement.cache)
      return complete
    }
    // A sweep or a report asks nothing twice, and a person does not wait for what yields to people: neither has anything to share.
    const isAlone = statement.writes === true || isBackground(asking.priority)
    if (!readLimits(env).cache || (isAlone && !statement.cache)) return perform(asking)
    const key = keyOf(host, statement)
    const kept = statement.cache && answers.get(key)
    if (kept) return kept
    if (isAlone) return perform(asking, key)
    return runs.join(key, waiting(host, asking, clock.elapsedMs()), (signal) => perform(unbounded(asking, signal), key))
  }

  return {
    run,
    capabilities,
    known: learned.known,
    forget: learned.forget,
    release: transport.release,
    async stream(host, statement, asking, format = 'JSONEachRow') {
      const { version, readonly } = await capabilities(host, asking)
      const { headers, ...answer } = await transport.stream({ host, statement, asking, readonly }, format)
      return { ...answer, clickhouseVersion: version, readonly, ...readSummary(headers) }
    },
    probe: (host, statement, asking, limitMs) =>
      transport.reserved({ host, statement, asking, readonly: learned.known(host)?.readonly ?? 1 }, limitMs),
    async presence(host, table, asking) {
      const { tables } = await capabilities(host, asking)
      if (table.startsWith('system.') && tables.has(table.slice('system.'.length))) return 'present'
      return learned.presence(host, table, () => look(table, (statement) => run(host, statement, asking)))
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

const learningLimitMs = (env: Environment): number =>
  secondsFor(capabilityStatement, { ...readLimits(env), background: false }) * 1_000

/** How long an asker of a shared run waits. */
const waiting = (host: MonitoredHost, asking: Asking, nowMs: number) => ({
  signal: asking.signal,
  limitMs: timeLeft(asking, nowMs),
  late: () => hostFailure(host, 'timeout'),
})

const look = async (table: string, ask: (statement: Statement) => Promise<Answer>): Promise<Presence> => {
  try {
    return (await ask(presenceStatement(table))).rows[0]?.[0] === 1 ? 'present' : 'missing'
  } catch (error) {
    // Who may not know whether a table exists may still read it, as everybody may `system.tables`.
    return clickhouseCode(error) === accessDenied ? lookInto(table, ask) : failedPresence(error)
  }
}

const lookInto = async (table: string, ask: (statement: Statement) => Promise<Answer>): Promise<Presence> => {
  try {
    await ask(readingStatement(table))
    return 'present'
  } catch (error) {
    return failedPresence(error)
  }
}

const failedPresence = (error: unknown): Presence => {
  const code = clickhouseCode(error)
  if (code === accessDenied) return 'denied'
  if (code === noSuchTable || code === noSuchDatabase) return 'missing'
  throw error
}

/** What a shared run is bounded by: its askers, and the statement's own limit. */
const unbounded = (asking: Asking, signal: AbortSignal): Asking => ({ ...asking, signal, deadline: Infinity })

/** Changes when a label comes to mean another server or user. */
const identity = (host: MonitoredHost): string => JSON.stringify([host.key, host.url.href, host.user])

/** Questions of one key have one answer. */
const keyOf = (host: MonitoredHost, { sql, parameters, database, limits, session }: Statement): string =>
  JSON.stringify([identity(host), sql, parameters, database, limits, session])
