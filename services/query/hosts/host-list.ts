import { hash } from 'node:crypto'
import { hasUnescapedPassword, passwordEncodingError, type SettingProblem } from '#shared/config/setting.ts'
import type { Connector } from '#shared/net/connect.ts'

/** Maximum number of hosts. The probe and the fleet responses are designed for this number. */
export const maxHosts = 2_000
const maxLabelLength = 128

/** A host of the configured list, before validation. */
export interface HostEntry {
  url: string
  label?: string | undefined
  user: string
  password: string
  group?: string | undefined
  keeperMetrics?: string | undefined
  tags?: readonly string[] | undefined
}

/** A host that can be queried. `url` holds no credentials. */
export interface MonitoredHost {
  id: number
  key: string
  name: string
  url: URL
  user: string
  password: string
  /** The user name of the configured URL; absent when the URL has none. */
  userInUrl?: string
  group: string | null
  tags: readonly string[]
  /** The Prometheus endpoint of the Keeper node of this host. */
  keeperMetrics?: URL | undefined
  /** For user-supplied addresses: dials through the network guard. */
  connect?: Connector
  /** Id of a host that was added at run time. */
  managedId?: string
}

/** Returns the host label for metrics and spans. User connections share one, because their names are private. */
export const toTelemetryName = ({ key, name }: MonitoredHost): string =>
  isUserConnectionKey(key) ? 'user-connection' : name

/** Returns whether a key belongs to a user connection. Host labels must not have this prefix. */
export const isUserConnectionKey = (key: string): boolean => key.startsWith('user:')

/** Hosts in their configured order. A list with problems must not be used. */
export interface HostList {
  hosts: readonly MonitoredHost[]
  problems: readonly SettingProblem[]
}

/** Validates the entries of a host list. `variable` is the setting that the problems name. */
export const validateHostList = (variable: string, entries: readonly HostEntry[]): HostList => {
  const found = entries.slice(0, maxHosts).map((entry, id) => monitoredHost(variable, entry, id))
  const hosts = found.flatMap((result) => (result.host ? [result.host] : []))
  const problems = found.flatMap((result) => (result.problem ? [result.problem] : []))
  if (entries.length > maxHosts) {
    problems.push({ name: variable, sentence: `contains ${entries.length} hosts; at most ${maxHosts} are allowed` })
  }
  return { hosts, problems: [...problems, ...duplicates(variable, hosts)] }
}

const monitoredHost = (
  variable: string,
  entry: HostEntry,
  id: number,
): { host?: MonitoredHost; problem?: SettingProblem } => {
  const reject = (sentence: string) => ({ problem: { name: variable, sentence: `host ${id + 1}: ${sentence}` } })
  const url = httpUrl(entry.url)
  if (!url) return reject('must be a URL that begins with http:// or https://')
  if (hasUnescapedPassword(url)) return reject(`the URL ${passwordEncodingError}`)
  const label = entry.label?.trim() || undefined
  if (label !== undefined && !isLabel(label)) {
    return reject(`the label must be at most ${maxLabelLength} printable characters and not begin with "user:"`)
  }
  const keeperMetrics = entry.keeperMetrics === undefined ? undefined : httpUrl(entry.keeperMetrics)
  if (entry.keeperMetrics !== undefined && !keeperMetrics) {
    return reject('keeperMetrics must be a URL that begins with http:// or https://')
  }
  const user = decoded(url.username) || entry.user
  const password = decoded(url.password) || entry.password
  const bare = withoutCredentials(url)
  return {
    host: {
      id,
      key: label ?? hashOf(bare),
      name: label ?? bare.host,
      url: bare,
      user,
      password,
      ...(url.username !== '' && { userInUrl: url.username }),
      group: entry.group ?? null,
      tags: entry.tags ?? [],
      ...(keeperMetrics && { keeperMetrics }),
    },
  }
}

const httpUrl = (text: string): URL | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
}

/** Keys that begin with `user:` are reserved for user connections. */
const isLabel = (label: string): boolean =>
  label.length <= maxLabelLength && !label.startsWith('user:') && !/\p{Cc}/u.test(label)

/** Returns the decoded text, or the text itself when a percent sign is not part of an encoding. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const withoutCredentials = (url: URL): URL => {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  bare.hash = ''
  return bare
}

const hashOf = (url: URL): string => hash('sha256', url.href).slice(0, 16)

const duplicates = (variable: string, hosts: readonly MonitoredHost[]): SettingProblem[] => {
  const first = new Map<string, MonitoredHost>()
  const problems: SettingProblem[] = []
  for (const host of hosts) {
    const earlier = first.get(host.key)
    if (earlier) {
      const sentence = `hosts ${earlier.id + 1} and ${host.id + 1} are both named "${host.name}"; give each its own label`
      problems.push({ name: variable, sentence })
    } else {
      first.set(host.key, host)
    }
  }
  return problems
}
