import type { CallContext } from '#proto/call.ts'
import type { Finding } from '#proto/finding.ts'
import type { FleetHost } from '#proto/fleet.ts'
import { TopologyResponse, TopologyQuery } from '#proto/http/cluster.ts'
import { FleetResponse, type FleetHostView } from '#proto/http/fleet.ts'
import { OwnCostResponse, OwnCostQuery } from '#proto/http/own-cost.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { HostLoad, Host } from '#proto/query.ts'
import type { Cluster } from '#proto/topology.ts'
import { readConnectionSession } from '../connections/caller-hosts.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const fleet = defineGetRoute({
  path: '/api/v1/fleet',
  doc: 'Returns all hosts with state, version, load and worst finding',
  feature: 'OVERVIEW',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: FleetResponse,
  handle: async ({ headers, call }, gateway) => {
    if (readConnectionSession(headers, call.identity)) {
      return createSuccessBody([toFleetEntry(await querySessionHost(gateway, call), null)], {
        oldestMs: 0,
        findingsBy: [],
      })
    }
    const [hosts, findings] = await Promise.all([gateway.query.fleet({}, call), collectWorstFindings(gateway, call)])
    const ages = hosts.flatMap(({ ageMs }) => ageMs ?? [])
    const oldestMs = ages.length > 0 ? Math.max(...ages) : null
    return createSuccessBody(
      hosts.map((host) => toFleetEntry(host, findings.of.get(host.key) ?? null)),
      { oldestMs, findingsBy: findings.sources },
    )
  },
})

const ownCost = defineGetRoute({
  path: '/api/v1/own-cost',
  doc: "Returns the cost of the product's own queries on one host",
  feature: 'QUERIES',
  access: 'read',
  limit: 'data',
  query: OwnCostQuery,
  answer: OwnCostResponse,
  handle: async ({ query: { hostId, ...parameters }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { cost, ...metadata } = await gateway.query.ownCost({ hostKey: key, ...parameters }, call)
    return createSuccessBody(cost, { host: name, ...metadata })
  },
})

/** Queries the host of a connection session, which is neither probed nor monitored. */
const querySessionHost = async (gateway: Gateway, call: CallContext): Promise<FleetHost> => {
  const host = await gateway.hosts.find(0)
  const { version, uptimeSeconds, metrics } = await gateway.query.hostStatus({ hostKey: host.key, fleet: true }, call)
  const state = { reason: null, version, uptimeSeconds, latencyMs: null, missingGrants: [] }
  return { ...host, ...state, status: 'up', load: metrics, ageMs: 0 }
}

const toFleetEntry = (host: FleetHost, worstFinding: FleetHostView['worstFinding']): FleetHostView => {
  const { id, name, group, tags, status, reason, version, uptimeSeconds: uptime, load } = host
  const summary = { id, name, group, tags, status, version, uptime, load: load && loadFigures(load), worstFinding }
  return reason === null ? summary : { ...summary, reason }
}

const loadFigures = (load: HostLoad): FleetHostView['load'] => ({
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

/** Timeout of reading findings, so that they do not delay the list of hosts. */
const findingsTimeoutMs = 1_000

/** The worst finding of each host by key, and the services that responded. */
interface WorstFindings {
  of: ReadonlyMap<string, Finding>
  sources: string[]
}

/** Reads the worst findings of all services that have any; a service that fails is left out. */
const collectWorstFindings = async (gateway: Gateway, call: CallContext): Promise<WorstFindings> => {
  const deadline = Math.min(call.deadline, gateway.clock.elapsedMs() + findingsTimeoutMs)
  const clients = { 'alert-dispatcher': gateway.alerts, report: gateway.report }
  const results = await Promise.all(
    Object.entries(clients).map(async ([source, client]) => {
      try {
        return { source, findings: await client.worstFindings({}, { ...call, deadline }) }
      } catch (error) {
        gateway.telemetry.log.debug({ err: error, owner: source }, 'reading findings failed')
        return undefined
      }
    }),
  )
  const responses = results.flatMap((response) => response ?? [])
  const all = responses.flatMap(({ findings }) => findings)
  // Critical findings come last, because later entries of a Map replace earlier ones.
  const worstLast = [...all.filter(isWarning), ...all.filter((finding) => !isWarning(finding))]
  const of = new Map(worstLast.map(({ hostKey, severity, title }) => [hostKey, { severity, title }]))
  return { of, sources: responses.map(({ source }) => source) }
}

const isWarning = ({ severity }: Finding): boolean => severity === 'warning'

export const fleetRoutes: readonly Route[] = [fleet, ownCost]

export const clusterTopologyRoute = defineGetRoute({
  path: '/api/v1/cluster/topology',
  doc: 'Returns clusters, shards and replicas as one host reports them, with live metrics of the monitored hosts',
  feature: 'CLUSTER',
  access: 'read',
  limit: 'data',
  query: TopologyQuery,
  answer: TopologyResponse,
  handle: async ({ query: { hostId, cluster }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const topology = await gateway.query.topology({ hostKey: key, cluster }, call)
    const hosts = new Map((await gateway.hosts.all()).map((host) => [host.key, host]))
    const members = topology.members.flatMap(({ hostKey, ...member }) => {
      const host = hosts.get(hostKey)
      return host ? [{ id: host.id, name: host.name, ...member }] : []
    })
    const { truncated, unavailable } = topology
    const clusters = topology.clusters.map((each) => withHostIds(each, hosts))
    return createSuccessBody({ clusters, members }, { host: name, truncated, unavailable })
  },
})

/** Replaces host keys, which are internal, by positions. */
const withHostIds = ({ name, shards }: Cluster, hosts: ReadonlyMap<string, Host>) => ({
  name,
  shards: shards.map((shard) => ({
    ...shard,
    replicas: shard.replicas.map(({ hostKey, ...replica }) => ({
      ...replica,
      hostId: hostKey === null ? null : (hosts.get(hostKey)?.id ?? null),
    })),
  })),
})
