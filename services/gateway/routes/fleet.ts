import type { FleetHost } from '#proto/fleet.ts'
import { FleetAnswer, type FleetEntry } from '#proto/http/fleet.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { HostLoad } from '#proto/query.ts'
import { getRoute } from '../route.ts'
import { success } from '../success.ts'
import { worstFindings } from '../worst-findings.ts'

export const fleet = getRoute({
  path: '/api/v1/fleet',
  doc: 'All hosts in one answer: state, version, load and worst finding',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: FleetAnswer,
  handle: async ({ call }, gateway) => {
    const [hosts, findings] = await Promise.all([gateway.query.fleet({}, call), worstFindings(gateway, call)])
    const ages = hosts.flatMap(({ ageMs }) => ageMs ?? [])
    const oldestMs = ages.length > 0 ? Math.max(...ages) : null
    return success(
      hosts.map((host) => entry(host, findings.of.get(host.key) ?? null)),
      { oldestMs, findingsBy: findings.toldBy },
    )
  },
})

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
