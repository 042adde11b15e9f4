import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host, query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'

/** What a tool asks with: the databases and advice on them, on behalf of one caller. */
export interface Asking {
  query: Client<typeof query>
  report: Client<typeof report>
  call: Call
  /** The host to ask, whatever position the arguments come to. */
  hostKey?: string | undefined
  /** Whether statements are told with the values in them. */
  fullStatements: boolean
  /** Hears which host is asked. */
  onHost?(host: Host): void
}

/** How one call asks. */
export type AskingFor = (call: Call) => Asking

/** More hosts than this would not fit one list. */
const lastHostId = 99_999

/** The parameter that every tool has. */
export const ofHost = {
  hostId: z.int().min(0).max(lastHostId).default(0).describe('Position in the list of hosts'),
}

/** The same where only text can stand, in addresses and prompts. */
export const WrittenHostId = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})$/, `must be a whole number from 0 to ${lastHostId}`)
  .default('0')
  .describe('Position in the list of hosts')

/** How many entries a tool tells. */
export const limitOf = (fallback: number, most: number) =>
  z.int().min(1).max(most).default(fallback).describe('Most entries to tell')

/** Name of a database or a table. */
export const name = (what: string) => z.string().min(1).max(256).describe(what)

/** Hosts that a refusal names. */
const namedHosts = 20

/** The host at a position; throws `not-found` naming the hosts there are. */
export const hostAt = async (asking: Asking, hostId: number): Promise<Host> => {
  const { hostKey } = asking
  const hosts = await asking.query.hosts({}, asking.call)
  const host =
    hosts.find(({ id, key }) => (hostKey === undefined ? id === hostId : key === hostKey)) ?? broughtHost(hostKey)
  if (host) {
    asking.onHost?.(host)
    return host
  }
  const names = hosts.slice(0, namedHosts).map((each) => `${each.id} (${each.name})`)
  const more = hosts.length > namedHosts ? ` and ${hosts.length - namedHosts} more` : ''
  throw new ServiceError('not-found', `no such host: hostId ${hostId}; there are ${names.join(', ')}${more}`)
}

/** A connection of the caller's own, which is in no list; `query` refuses a key that it does not know. */
const broughtHost = (key: string | undefined): Host | undefined =>
  key === undefined ? undefined : { id: -1, key, name: 'your connection', host: '', group: null, tags: [] }

/** A fixed statement with its parameters. */
export interface Selected {
  sql: string
  parameters?: Record<string, string | number>
  maxRows: number
}

/** Rows of a fixed statement, by the names of their columns. */
export const select = async <R extends z.ZodType>(
  { query, call }: Asking,
  host: Host,
  { sql, parameters, maxRows }: Selected,
  row: R,
): Promise<z.output<R>[]> => {
  const input = { hostKey: host.key, query: sql, maxRows, purpose: 'tool', ...(parameters && { parameters }) }
  const { columns, rows } = await query.runQuery(input, call)
  const named = rows.map((values) => Object.fromEntries(columns.map((column, index) => [column.name, values[index]])))
  return z.array(row).parse(named)
}

/** A number of a row; 64-bit integers may come as text. */
export const count = z.coerce.number()

const longestStatement = 1_000

/** The expression for the text of a statement in `query`, as long and as open as callers may see it. */
export const statementText = ({ fullStatements }: Asking): string =>
  `leftUTF8(${fullStatements ? 'query' : 'normalizeQuery(query)'}, ${longestStatement})`
