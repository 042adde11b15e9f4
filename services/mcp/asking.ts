import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Host, query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { KnownHosts } from '#shared/hosts/known-hosts.ts'
import { noSuchHost } from '#shared/text/no-such.ts'
import { HostPosition, lastHostId } from '#shared/tools/tool-parameters.ts'

/** What a tool asks with: the databases and advice on them, on behalf of one caller. */
export interface Asking {
  query: Client<typeof query>
  report: Client<typeof report>
  /** The configured hosts; which there are is no secret, so all callers share what was asked a moment ago. */
  hosts: KnownHosts['all']
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

/** The parameter that every tool has. */
export const ofHost = {
  hostId: HostPosition.default(0).describe('Which host, from 0'),
}

/** The same where only text can stand, in addresses and prompts. */
export const WrittenHostId = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})$/, `must be a whole number from 0 to ${lastHostId}`)
  .default('0')
  .describe('Position in the list of hosts')

/** The host at a position; throws `not-found` naming the hosts there are. */
export const hostAt = async (asking: Asking, hostId: number): Promise<Host> => {
  const { hostKey } = asking
  const hosts = await asking.hosts()
  const host =
    hosts.find(({ id, key }) => (hostKey === undefined ? id === hostId : key === hostKey)) ?? broughtHost(hostKey)
  if (host) {
    asking.onHost?.(host)
    return host
  }
  throw noSuchHost(hostId, hosts)
}

/** A connection of the caller's own, which is in no list; `query` refuses a key that it does not know. */
const broughtHost = (key: string | undefined): Host | undefined =>
  key === undefined ? undefined : { id: -1, key, name: 'your connection', host: '', group: null, tags: [] }

const longestStatement = 1_000

/** The expression for the text of a statement in `query`, as long and as open as callers may see it. */
export const statementText = ({ fullStatements }: Asking): string =>
  `leftUTF8(${fullStatements ? 'query' : 'normalizeQuery(query)'}, ${longestStatement})`
