import type { FleetHost } from '#proto/fleet.ts'
import { FleetAnswer, type FleetEntry } from '#proto/http/fleet.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { HostLoad } from '#proto/query.ts'
import { getRoute } from '../route.ts'
import { success } from '../success.ts'

export const fleet = getRoute({
  path: '/api/v1/fleet',
  doc: 'All hosts in one answer: state, version, load and worst finding',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: FleetAnswer,
  handle: async ({ call }, gateway) => {
    const hosts = await gateway.query.fleet({}, call)
    const ages = hosts.flatMap(({ ageMs }) => ageMs ?? [])
    return success(hosts.map(entry), { oldestMs: ages.length > 0 ? Math.max(...ages) : null })
  },
})

const entry = (host: FleetHost): FleetEntry => {
  const { id, name, group, tags, status, reason, version, uptimeSeconds, load } = host
  return { id, name, group, tags, status, reason, version, uptime: uptimeSeconds, load: load && short(load) }
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
