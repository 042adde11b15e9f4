import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import { mayUseFeature, type CallContext } from '#proto/call.ts'
import { type ObjectChange, objectKinds } from '#proto/changes.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { type Deployment, maxDeploymentsListed } from '#proto/deployments.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ChangeKind, ListedChange } from '#proto/http/changes.ts'
import type { Host } from '#proto/host.ts'
import type { ingest } from '#proto/ingest.ts'
import type { query } from '#proto/query.ts'

/** The services that know what changed. */
interface ChangeSources {
  query: Pick<ServiceClient<typeof query>, 'objectChanges'>
  ingest: Pick<ServiceClient<typeof ingest>, 'deployments'>
  alerts: Pick<ServiceClient<typeof alerts>, 'alertHistory'>
}

/** The part of the timeline to read: from `fromMs` until before `toMs`, at most the newest `limit` changes. */
interface TimelineRequest {
  hosts: readonly Host[]
  kind: ChangeKind | undefined
  fromMs: number
  toMs: number
  limit: number
  /** Whether the caller may see what concerns the whole installation: deployments and alerts. */
  showsInstallation: boolean
}

/** What changed, newest first. */
interface Timeline {
  changes: ListedChange[]
  /** Whether the history records the definitions of objects. */
  isRecorded: boolean
  /** Sources that could not be read, with the reason. */
  problems: string[]
}

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

/** Reads what changed on hosts and around them. A failed source is a problem of the timeline, not an error. */
export const readTimeline = async (
  sources: ChangeSources,
  request: TimelineRequest,
  call: CallContext,
): Promise<Timeline> => {
  const problems: string[] = []
  const read = async <T>(source: string, isWanted: boolean, load: () => Promise<T[]>): Promise<T[]> => {
    try {
      return isWanted ? await load() : []
    } catch (error) {
      if (!(error instanceof ServiceError) || call.signal.aborted) throw error
      problems.push(`${source}: ${error.message}`)
      return []
    }
  }
  const { kind, fromMs, toMs, limit, showsInstallation } = request
  let isRecorded = true
  const found = await Promise.all([
    read('history', request.hosts.length > 0 && objectKindsOf(kind).length > 0, async () => {
      const objects = await readObjects(sources, request, call)
      isRecorded = objects.isEnabled
      if (objects.problem !== null) problems.push(objects.problem)
      return objects.changes
    }),
    read('deployments', showsInstallation && isOfKind(kind, 'deployment'), async () =>
      (await sources.ingest.deployments({ fromMs, toMs, limit: maxDeploymentsListed }, call)).map(fromDeployment),
    ),
    read('alerts', showsInstallation && isOfKind(kind, 'alert') && mayUseFeature(call.identity, 'HEALTH'), () =>
      readAlerts(sources, request, call),
    ),
  ])
  const changes = found.flat().toSorted((one, other) => other.atMs - one.atMs)
  return { changes: changes.slice(0, limit), isRecorded, problems }
}

const isOfKind = (wanted: ChangeKind | undefined, kind: ChangeKind): boolean => wanted === undefined || wanted === kind

const objectKindsOf = (kind: ChangeKind | undefined) =>
  objectKinds.filter((each) => kind === undefined || kindsOfObjects[each] === kind)

const readObjects = async (
  sources: ChangeSources,
  { hosts, kind, fromMs, toMs, limit }: TimelineRequest,
  call: CallContext,
) => {
  const request = { hostKeys: hosts.map(({ key }) => key), kinds: objectKindsOf(kind), fromMs, toMs, limit }
  const { changes, ...state } = await sources.query.objectChanges(request, call)
  const hostOf = createHostLookup(hosts)
  return { ...state, changes: changes.map((change) => fromObject(change, hostOf)) }
}

type HostLookup = (key: string) => Pick<ListedChange, 'hostId' | 'host'> | undefined

const createHostLookup = (hosts: readonly Host[]): HostLookup => {
  const byKey = new Map(hosts.map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return (key) => byKey.get(key)
}

const noHost = { hostId: null, host: null }

const fromObject = ({ hostKey, kind, name, change, atMs, diff }: ObjectChange, hostOf: HostLookup): ListedChange => ({
  atMs,
  kind: kindsOfObjects[kind] ?? 'topology',
  ...(hostOf(hostKey) ?? noHost),
  title: `${kind.replaceAll('-', ' ')} ${name} ${change}`,
  detail: '',
  diff,
  href: null,
})

const fromDeployment = ({ atMs, repository, title, environment, outcome, by, url }: Deployment): ListedChange => ({
  atMs,
  kind: 'deployment',
  ...noHost,
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
  sources: ChangeSources,
  { hosts, fromMs, toMs }: TimelineRequest,
  call: CallContext,
): Promise<ListedChange[]> => {
  const hostOf = createHostLookup(hosts)
  const [only, ...others] = hosts
  const hostKey = others.length === 0 ? only?.key : undefined
  const events = await sources.alerts.alertHistory({ hostKey, fromMs, toMs, limit: maxAlertHistoryEntries }, call)
  const isWithin = ({ atMs }: AlertHistoryEntry): boolean => atMs >= fromMs && atMs < toMs
  return events.filter(isWithin).flatMap((event) => fromAlert(event, hostOf))
}

const fromAlert = ({ atMs, kind, title, severity, hostKey }: AlertHistoryEntry, hostOf: HostLookup): ListedChange[] => {
  const word = alertWords[kind]
  const host = hostKey === null ? noHost : hostOf(hostKey)
  if (word === undefined || host === undefined) return []
  return [{ atMs, kind: 'alert', ...host, title: `${title} ${word}`, detail: severity, diff: null, href: '/health' }]
}
