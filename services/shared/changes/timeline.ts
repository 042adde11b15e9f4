import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import type { alerts } from '#proto/alerts.ts'
import { mayUseFeature, type CallContext } from '#proto/call.ts'
import type { AuditRecord } from '#proto/audit.ts'
import { type ObjectChange, objectKinds } from '#proto/changes.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { type Deployment, maxDeploymentsListed } from '#proto/deployments.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ChangeKind, ListedChange } from '#proto/http/changes.ts'
import type { Host } from '#proto/host.ts'
import type { ingest } from '#proto/ingest.ts'
import type { query } from '#proto/query.ts'
import { shortenWithEllipsis } from '../text/strings.ts'

/** The services that know what changed. */
interface ChangeSources {
  query: Pick<ServiceClient<typeof query>, 'objectChanges'>
  ingest: Pick<ServiceClient<typeof ingest>, 'deployments'>
  alerts: Pick<ServiceClient<typeof alerts>, 'alertHistory'>
  /** Returns the latest actions that the caller may see; undefined if the caller may see none. */
  actions?: (() => Promise<AuditRecord[]>) | undefined
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
  restart: 'restart',
  setting: 'settings',
  'merge-tree-setting': 'settings',
  'server-setting': 'settings',
  'settings-profile': 'settings',
  database: 'schema',
  table: 'schema',
  dictionary: 'schema',
  'configured-dictionary': 'schema',
  function: 'schema',
  user: 'access',
  role: 'access',
  grants: 'access',
  quota: 'access',
  'row-policy': 'access',
  cluster: 'topology',
  macro: 'topology',
  disk: 'topology',
  'storage-policy': 'topology',
  'query-pattern': 'workload',
  workload: 'workload',
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
    read(
      'actions',
      isOfKind(kind, 'action'),
      async () => (await sources.actions?.())?.flatMap(fromAction(request)) ?? [],
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

const fromObject = (object: ObjectChange, hostOf: HostLookup): ListedChange => {
  const { hostKey, kind, name, atMs, summary, diff } = object
  return {
    atMs,
    kind: kindsOfObjects[kind] ?? 'topology',
    ...(hostOf(hostKey) ?? noHost),
    title: nameObjectChange(object),
    detail: kind === 'restart' ? '' : summary,
    diff: kind === 'restart' ? null : diff,
    href: kind === 'query-pattern' ? `/fingerprints/${name}` : null,
  }
}

const patternWords = { created: 'new query pattern', changed: 'query pattern', removed: 'query pattern no longer runs' }

/** Returns what changed in a few words. */
export const nameObjectChange = ({ kind, name, change, diff }: ObjectChange): string => {
  if (kind === 'restart') return 'server restarted'
  if (kind === 'workload') return `${name} ${change}`
  if (kind !== 'query-pattern') return `${kind.replaceAll('-', ' ')} ${name} ${change}`
  const pattern = diff
    .split('\n')
    .filter((line) => /^[-+](?![-+])/.test(line))
    .map((line) => line.slice(1))
    .join(' ')
  return `${patternWords[change]}: ${shortenWithEllipsis(pattern.replaceAll(/\s+/g, ' '), maxPatternLength)}`
}

const maxPatternLength = 120

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
  // Without a notification channel, the first event of an episode is a notification that was not sent.
  const fired = new Set(events.filter(({ kind }) => kind === 'fire').map(({ episode }) => episode))
  const unsent = new Map(
    events.filter(({ kind, episode }) => kind === 'held' && !fired.has(episode)).map((event) => [event.episode, event]),
  )
  const listed = events.flatMap((event): AlertHistoryEntry[] =>
    unsent.get(event.episode) === event ? [{ ...event, kind: 'fire', atMs: event.sinceMs }] : [event],
  )
  return listed.filter(isWithin).flatMap((event) => fromAlert(event, hostOf))
}

/** Actions on hosts outside of the request are left out. Names of hosts identify them in the audit log. */
const fromAction =
  ({ hosts, fromMs, toMs, showsInstallation }: TimelineRequest) =>
  ({ atMs, action, actor, host: name, target, result }: AuditRecord): ListedChange[] => {
    const host = hosts.find((each) => each.name === name)
    if (atMs < fromMs || atMs >= toMs || (name === null ? !showsInstallation : !host)) return []
    const detail = [`by ${actor.subject}`, result === 'done' ? '' : result, ...Object.values(target)]
    const where = host ? { hostId: host.id, host: host.name } : noHost
    const href = `/audit?action=${encodeURIComponent(action)}`
    const title = action.replaceAll(/[-_]/g, ' ')
    return [{ atMs, kind: 'action', ...where, title, detail: detail.filter(Boolean).join(', '), diff: null, href }]
  }

const fromAlert = (
  { atMs, kind, title, severity, episode, hostKey }: AlertHistoryEntry,
  hostOf: HostLookup,
): ListedChange[] => {
  const word = alertWords[kind]
  const host = hostKey === null ? noHost : hostOf(hostKey)
  if (word === undefined || host === undefined) return []
  const href = `/incidents/${encodeURIComponent(episode)}`
  return [{ atMs, kind: 'alert', ...host, title: `${title} ${word}`, detail: severity, diff: null, href }]
}
