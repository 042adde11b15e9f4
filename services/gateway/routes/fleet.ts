import type { Call } from '#proto/call.ts'
import type { Finding } from '#proto/finding.ts'
import type { FleetHost } from '#proto/fleet.ts'
import { TopologyAnswer, TopologyQuery } from '#proto/http/cluster.ts'
import { FleetAnswer, type FleetEntry } from '#proto/http/fleet.ts'
import { OwnCostAnswer, OwnCostQuery } from '#proto/http/own-cost.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { HostLoad, Host } from '#proto/query.ts'
import type { Cluster } from '#proto/topology.ts'
import { sessionOf } from '../connections/hosts-of.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const fleet = getRoute({
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

const ownCost = getRoute({
  path: '/api/v1/own-cost',
  doc: "What the product's own statements cost one host",
  feature: 'QUERIES',
  access: 'read',
  limit: 'data',
  query: OwnCostQuery,
  answer: OwnCostAnswer,
  handle: async ({ query: { hostId, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { cost, ...metadata } = await gateway.query.ownCost({ hostKey: key, ...asked }, call)
    return success(cost, { host: name, ...metadata })
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

/** How long their owners may take to say what they remember; a list of hosts waits no longer. */
const answerWithinMs = 1_000

/** What is worst about each host, by its key, and who said so: an owner that does not answer is left out. */
interface WorstFindings {
  of: ReadonlyMap<string, Finding>
  toldBy: string[]
}

/** Asks everybody who finds something wrong with hosts. */
const worstFindings = async (gateway: Gateway, call: Call): Promise<WorstFindings> => {
  const deadline = Math.min(call.deadline, gateway.clock.elapsedMs() + answerWithinMs)
  const owners = { 'alert-dispatcher': gateway.alerts, report: gateway.report }
  const told = await Promise.all(
    Object.entries(owners).map(async ([owner, client]) => {
      try {
        return { owner, findings: await client.worstFindings({}, { ...call, deadline }) }
      } catch (error) {
        gateway.telemetry.log.debug({ err: error, owner }, 'findings are not known')
        return undefined
      }
    }),
  )
  const answers = told.flatMap((answer) => answer ?? [])
  const all = answers.flatMap(({ findings }) => findings)
  // Critical ones come last, where they replace what a host had before.
  const worstLast = [...all.filter(isWarning), ...all.filter((finding) => !isWarning(finding))]
  const of = new Map(worstLast.map(({ hostKey, severity, title }) => [hostKey, { severity, title }]))
  return { of, toldBy: answers.map(({ owner }) => owner) }
}

const isWarning = ({ severity }: Finding): boolean => severity === 'warning'

export const fleetRoutes: readonly Route[] = [fleet, ownCost]

export const clusterTopology = getRoute({
  path: '/api/v1/cluster/topology',
  doc: 'Clusters, shards and replicas as one host knows them, with live figures of those that are hosts of the list',
  feature: 'CLUSTER',
  access: 'read',
  limit: 'data',
  query: TopologyQuery,
  answer: TopologyAnswer,
  handle: async ({ query: { hostId, cluster }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const told = await gateway.query.topology({ hostKey: key, cluster }, call)
    const hosts = new Map((await gateway.hosts.all()).map((host) => [host.key, host]))
    const members = told.members.flatMap(({ hostKey, ...member }) => {
      const host = hosts.get(hostKey)
      return host ? [{ id: host.id, name: host.name, ...member }] : []
    })
    const { truncated, unavailable } = told
    const clusters = told.clusters.map((each) => placed(each, hosts))
    return success({ clusters, members }, { host: name, truncated, unavailable })
  },
})

/** Keys stay inside; callers know hosts by their position. */
const placed = ({ name, shards }: Cluster, hosts: ReadonlyMap<string, Host>) => ({
  name,
  shards: shards.map((shard) => ({
    ...shard,
    replicas: shard.replicas.map(({ hostKey, ...replica }) => ({
      ...replica,
      hostId: hostKey === null ? null : (hosts.get(hostKey)?.id ?? null),
    })),
  })),
})
