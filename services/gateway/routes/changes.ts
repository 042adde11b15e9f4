import { type Deployment, maxDeploymentsListed } from '#proto/deployments.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import { mayUseFeature, type CallContext } from '#proto/call.ts'
import { type ObjectChange, objectKinds } from '#proto/changes.ts'
import { ServiceError } from '#proto/errors.ts'
import { ChangesQuery, ChangesResponse, type changeKinds, type ListedChange } from '#proto/http/changes.ts'
import type { Host } from '#proto/query.ts'
import { canSeeInstallation, type HostNameLookup, loadHostNames } from '../hosts/host-list.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

type ChangeKind = (typeof changeKinds)[number]

const dayMs = 86_400_000

/** The kind of a change by the kind of its object. */
const kindsOfObjects: Readonly<Record<string, ChangeKind>> = {
  version: 'version',
  setting: 'settings',
  'merge-tree-setting': 'settings',
  'server-setting': 'settings',
  database: 'schema',
  table: 'schema',
  user: 'access',
  role: 'access',
  grants: 'access',
  quota: 'access',
  'row-policy': 'access',
  cluster: 'topology',
  macro: 'topology',
  disk: 'topology',
  'storage-policy': 'topology',
}

interface ChangeWindow {
  fromMs: number
  toMs: number
}

const changes = defineGetRoute({
  path: '/api/v1/changes',
  doc: 'Lists what changed on hosts and around them: schema, settings, access, topology, versions, deployments and alerts',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: ChangesQuery,
  answer: ChangesResponse,
  handle: async ({ query: { hostId, group, kind, from, to, limit }, call }, gateway) => {
    const toMs = to === undefined ? gateway.clock.now() : to * 1_000
    const window = { fromMs: from === undefined ? toMs - dayMs : from * 1_000, toMs }
    const hosts = await selectHosts(gateway, hostId, group)
    const problems: string[] = []
    const read = async <T>(source: string, request: () => Promise<T[]>): Promise<T[]> => {
      try {
        return await request()
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        problems.push(`${source}: ${error.message}`)
        return []
      }
    }
    let isRecorded = true
    const nameOf = await loadHostNames(gateway.hosts)
    const ofObjects = await read('history', async () => {
      const hostKeys = hosts.map(({ key }) => key)
      if (hostKeys.length === 0 || kind === 'deployment' || kind === 'alert') return []
      const found = await gateway.query.objectChanges({ hostKeys, ...window, kinds: objectKindsOf(kind), limit }, call)
      isRecorded = found.isEnabled
      if (found.problem !== null) problems.push(found.problem)
      return found.changes.map((change) => fromObject(change, nameOf))
    })
    const ofDeployments = await read('deployments', () => readDeployments(gateway, window, call))
    const ofAlerts = await read('alerts', () => readAlerts(gateway, hosts, window, call))
    const found = [...ofObjects, ...ofDeployments, ...ofAlerts]
      .filter((change) => kind === undefined || change.kind === kind)
      .toSorted((one, other) => other.atMs - one.atMs)
      .slice(0, limit)
    return createSuccessBody(found, { isRecorded, problems })
  },
})

const objectKindsOf = (kind: ChangeKind | undefined) =>
  objectKinds.filter((each) => kind === undefined || kindsOfObjects[each] === kind)

const selectHosts = async (
  { hosts }: Gateway,
  hostId: number | undefined,
  group: string | undefined,
): Promise<Host[]> => {
  const selected = hostId === undefined ? await hosts.all() : [await hosts.find(hostId)]
  return selected.filter((host) => group === undefined || host.group === group)
}

const fromObject = (
  { hostKey, kind, name, change, atMs, diff }: ObjectChange,
  nameOf: HostNameLookup,
): ListedChange => ({
  atMs,
  kind: kindsOfObjects[kind] ?? 'topology',
  hostId: nameOf(hostKey)?.hostId ?? null,
  host: nameOf(hostKey)?.host ?? null,
  title: `${kind.replaceAll('-', ' ')} ${name} ${change}`,
  detail: '',
  diff,
  href: null,
})

const readDeployments = async (
  { hosts, ingest }: Gateway,
  window: ChangeWindow,
  call: CallContext,
): Promise<ListedChange[]> => {
  if (!(await canSeeInstallation(hosts))) return []
  return (await ingest.deployments({ ...window, limit: maxDeploymentsListed }, call)).map(fromDeployment)
}

const fromDeployment = ({ atMs, repository, title, environment, outcome, by, url }: Deployment): ListedChange => ({
  atMs,
  kind: 'deployment',
  hostId: null,
  host: null,
  title: `${repository}: ${title}`,
  detail: [environment, outcome, by && `by ${by}`].filter(Boolean).join(', '),
  diff: null,
  href: url,
})

/** The events of conditions that are changes. Reminders and muted notifications are none. */
const alertWords: Readonly<Record<string, string>> = {
  fire: 'fired',
  escalate: 'became critical',
  lower: 'became a warning',
  recover: 'recovered',
}

const readAlerts = async (
  { alerts, hosts }: Gateway,
  selected: readonly Host[],
  { fromMs, toMs }: ChangeWindow,
  call: CallContext,
): Promise<ListedChange[]> => {
  if (!mayUseFeature(call.identity, 'HEALTH') || !(await canSeeInstallation(hosts))) return []
  const byKey = new Map(selected.map((host) => [host.key, host]))
  const events = await alerts.alertHistory({ fromMs, toMs, limit: maxAlertHistoryEntries }, call)
  return events.flatMap(({ atMs, kind, title, severity, hostKey }) => {
    const host = hostKey === null ? undefined : byKey.get(hostKey)
    const word = alertWords[kind]
    if (word === undefined || atMs < fromMs || atMs >= toMs || (hostKey !== null && !host)) return []
    const names = { hostId: host?.id ?? null, host: host?.name ?? null }
    return [
      {
        atMs,
        kind: 'alert' as const,
        ...names,
        title: `${title} ${word}`,
        detail: severity,
        diff: null,
        href: '/health',
      },
    ]
  })
}

export const changeRoutes: readonly Route[] = [changes]
