import type { Call } from '#proto/call.ts'
import type { FleetHost } from '#proto/fleet.ts'
import { FleetAnswer, type FleetEntry } from '#proto/http/fleet.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { HostLoad } from '#proto/query.ts'
import { sessionOf } from '../connections/session-token.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'
import { worstFindings } from '../hosts/worst-findings.ts'

export const fleet = getRoute({
  path: '/api/v1/fleet',
  doc: 'All hosts in one answer: state, version, load and worst finding',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: FleetAnswer,
  handle: async ({ headers, call }, gateway) => {
    if (sessionOf(headers, call.identity)) {
      return success([entry(await broughtHost(gateway, call), null)], { oldestMs: 0, findingsBy: [] })
    }
    const [hosts, findings] = await Promise.all([gateway.query.fleet({}, call), worstFindings(gateway, call)])
    const ages = hosts.flatMap(({ ageMs }) => ageMs ?? [])
    const oldestMs = ages.length > 0 ? Math.max(...ages) : null
    return success(
      hosts.map((host) => entry(host, findings.of.get(host.key) ?? null)),
      { oldestMs, findingsBy: findings.toldBy },
    )
  },
})

/** The host of a connection session is asked now: no probe knows it, and nobody looks for findings on it. */
const broughtHost = async (gateway: Gateway, call: Call): Promise<FleetHost> => {
  const host = await gateway.hosts.find(0)
  const { version, uptimeSeconds, metrics } = await gateway.query.hostStatus({ hostKey: host.key, fleet: true }, call)
  return { ...host, status: 'up', reason: null, version, uptimeSeconds, latencyMs: null, load: metrics, ageMs: 0 }
}

const entry = (host: FleetHost, worstFinding: FleetEntry['worstFinding']): FleetEntry => {
  const { id, name, group, tags, status, reason, version, uptimeSeconds: uptime, load } = host
  const told = { id, name, group, tags, status, version, uptime, load: load && short(load), worstFinding }
  return reason === null ? told : { ...told, reason }
}

const short = (load: HostLoad): FleetEntry['load'] => ({
  queries: load.runningQueries,
  merges: load.merges,
  cpu: percent(load.cpuUsage, 1),
  memory: percent(load.memoryUsedBytes, load.memoryTotalBytes),
  disk: percent(load.diskUsedBytes, load.diskTotalBytes),
  readonly: load.readonlyReplicas,
  delay: load.maxReplicaDelaySeconds,
})

const percent = (part: number | null, whole: number | null): number | null =>
  part === null || whole === null || whole === 0 ? null : Math.round((part / whole) * 100)
