import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
import type { Parts } from '../handlers/parts.ts'
import { clustersOf, membersOf } from './clusters.ts'
import { ClusterRow, clustersStatement, maxReplicas } from './clusters-statement.ts'
import { readMembers } from './member.ts'
import type { Named } from './own-hosts.ts'

/** Members whose replication is asked for; a page must not become a sweep of the fleet. */
const maxMembers = 64
const needs = { requires: ['system.clusters'] }

/** The clusters that one host knows. */
export const topology =
  (parts: Parts): Handlers<typeof query>['topology'] =>
  async ({ hostKey, cluster }, call) => {
    const host = parts.hosts.get(hostKey)
    const { version } = await parts.client.capabilities(host, call)
    const { told, unavailable } = await askFor(parts.client, host, needs, call, async () =>
      readRecords(host, ClusterRow, await parts.client.run(host, clustersStatement(version, cluster), call)),
    )
    if (!told) return { clusters: [], members: [], truncated: false, unavailable }
    if (cluster !== undefined && told.length === 0) throw unknownCluster(host.name, cluster)
    const clusters = clustersOf(told.slice(0, maxReplicas), hostKey, named(parts))
    const members = await readMembers(parts, membersOf(clusters).slice(0, maxMembers), call)
    return { clusters, members, truncated: told.length > maxReplicas, unavailable: null }
  }

const unknownCluster = (host: string, cluster: string): ServiceError =>
  new ServiceError('not-found', `host ${host} knows no cluster ${cluster}`, { details: { parameter: 'cluster' } })

const named = ({ hosts, probe }: Parts): Named[] =>
  hosts.list().map(({ key, url }) => ({ key, names: [url.hostname, probe.known(key).hostname ?? ''].filter(Boolean) }))
