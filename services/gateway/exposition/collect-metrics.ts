import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ExpositionHead } from '#proto/exposition.ts'
import type { MetricsQuery } from '#proto/http/exposition.ts'
import type { Host, query } from '#proto/query.ts'
import type { HostList } from '../hosts/host-list.ts'

/** Maximum number of concurrent requests: half the streams of one bus connection. */
const maxConcurrent = 32
/** Maximum size of the decompressed metrics of one host. */
const maxTextBytes = 64 * 1024 * 1024
/** How long a failed response may be cached. */
const retryAfterMs = 5_000

const gunzipAsync = promisify(gunzip)

/** The metrics of one host, or the reason of the failure. */
interface HostMetrics extends ExpositionHead {
  host: Host
  text: string
}

/** Collects the metrics of hosts concurrently and passes each result to `take` at once. Hosts fail independently. */
export const collectHostMetrics = async (
  client: ServiceClient<typeof query>,
  hosts: readonly Host[],
  call: () => CallContext,
  take: (gathered: HostMetrics) => void,
): Promise<void> => {
  const waiting = hosts.values()
  const worker = async (): Promise<void> => {
    for (const host of waiting) take(await collectMetricsOfHost(client, host, call()))
  }
  await Promise.all(Array.from({ length: maxConcurrent }, worker))
}

const collectMetricsOfHost = async (
  client: ServiceClient<typeof query>,
  host: Host,
  call: CallContext,
): Promise<HostMetrics> => {
  try {
    const { head, frames } = await client.exposition({ hostKey: host.key }, call)
    const pieces = await Array.fromAsync(frames)
    const text = pieces.length === 0 ? '' : await gunzipAsync(Buffer.concat(pieces), { maxOutputLength: maxTextBytes })
    return { ...head, host, text: text.toString('utf8') }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { host, failure: error.code, ageMs: null, freshForMs: retryAfterMs, text: '' }
  }
}

/** Returns a cache key for a selection; order and repetition of hosts and selectors do not change the key. */
export const formatSelectionKey = ({ hostId, 'host[]': hosts, group, 'match[]': match }: MetricsQuery): string =>
  JSON.stringify([sorted(hostId), sorted(hosts), group, sorted(match)])

const sorted = <T>(values: readonly T[] | undefined): T[] | undefined => values && [...new Set(values)].toSorted()

/** Returns the hosts that match host ids and group; throws `not-found` for an unknown host or group. */
export const findSelectedHosts = async (
  list: HostList,
  { hostId, 'host[]': older, group }: MetricsQuery,
): Promise<readonly Host[]> => {
  const wanted = hostId || older ? [...new Set([...(hostId ?? []), ...(older ?? [])])] : undefined
  const findHost = (id: number) => list.find(id, hostId?.includes(id) ? 'hostId' : 'host[]')
  const named = wanted && (await Promise.all(wanted.map(findHost)))
  const all = await list.all()
  if (group !== undefined && all.every((host) => host.group !== group)) throw noSuchGroup(group, all)
  return (named ?? all).filter((host) => group === undefined || host.group === group)
}

/** Maximum number of groups in an error message. */
const maxNamedGroups = 20

const noSuchGroup = (group: string, hosts: readonly Host[]): ServiceError => {
  const groups = [...new Set(hosts.flatMap((host) => host.group ?? []))].slice(0, maxNamedGroups)
  const known = groups.length === 0 ? 'no groups are configured' : `available: ${groups.join(', ')}`
  return new ServiceError('not-found', `unknown group "${group}"; ${known}`, {
    details: { parameter: 'group', groups },
  })
}
