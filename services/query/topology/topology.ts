import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { readRecords } from '../analysis/records.ts'
import { missingNeeds, unavailableBy } from '../availability.ts'
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
    const empty = { clusters: [], members: [], truncated: false }
    const { version } = await parts.client.capabilities(host, call)
    const missing = await missingNeeds(parts.client, host, needs, call)
    if (missing) return { ...empty, unavailable: missing }
    try {
      const rows = readRecords(
        host,
        ClusterRow,
        await parts.client.run(host, clustersStatement(version, cluster), call),
      )
      if (cluster !== undefined && rows.length === 0) throw unknownCluster(host.name, cluster)
      const clusters = clustersOf(rows.slice(0, maxReplicas), hostKey, named(parts))
      const members = await readMembers(parts, membersOf(clusters).slice(0, maxMembers), call)
      return { clusters, members, truncated: rows.length > maxReplicas, unavailable: null }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, needs, error)
      if (unavailable) return { ...empty, unavailable }
      throw error
    }
  }

const unknownCluster = (host: string, cluster: string): ServiceError =>
  new ServiceError('not-found', `host ${host} knows no cluster ${cluster}`, { details: { parameter: 'cluster' } })

const named = ({ hosts, probe }: Parts): Named[] =>
  hosts.list().map(({ key, url }) => ({ key, names: [url.hostname, probe.known(key).hostname ?? ''].filter(Boolean) }))
