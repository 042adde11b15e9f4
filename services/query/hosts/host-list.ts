import { hash } from 'node:crypto'
import { hasMisreadPassword, misreadPassword, type SettingProblem } from '#shared/config/setting.ts'
import type { Connector } from '#shared/net/connect.ts'

/** Hosts that one process watches at most; the probe and the fleet answers are sized for it. */
export const maxHosts = 2_000
const maxLabelLength = 128

/** A host as somebody wrote it down. */
export interface HostEntry {
  url: string
  label?: string | undefined
  user: string
  password: string
  group?: string | undefined
  keeperMetrics?: string | undefined
  tags?: readonly string[] | undefined
}

/** A host that can be asked. `url` holds no credentials. */
export interface MonitoredHost {
  id: number
  key: string
  name: string
  url: URL
  user: string
  password: string
  /** The user name as the URL itself held it; absent where it held none. */
  userInUrl?: string
  group: string | null
  tags: readonly string[]
  /** Where the Keeper node beside it gives its figures to Prometheus. */
  keeperMetrics?: URL | undefined
  /** Of hosts that people bring: makes every connection, through the guard. */
  connect?: Connector
}

/** What metrics and spans call a host: those that people bring are many, and what they are called is nobody's business. */
export const telemetryName = ({ name, connect }: MonitoredHost): string => (connect ? 'brought' : name)

/** Hosts in their order, and in words what is wrong with the list; with problems it is not to be used. */
export interface HostList {
  hosts: readonly MonitoredHost[]
  problems: readonly SettingProblem[]
}

/** Checks a written list. `variable` is where it came from: what the sentences begin with. */
export const hostList = (variable: string, entries: readonly HostEntry[]): HostList => {
  const found = entries.slice(0, maxHosts).map((entry, id) => monitoredHost(variable, entry, id))
  const hosts = found.flatMap((result) => (result.host ? [result.host] : []))
  const problems = found.flatMap((result) => (result.problem ? [result.problem] : []))
  if (entries.length > maxHosts) {
    problems.push({ name: variable, sentence: `names ${entries.length} hosts; at most ${maxHosts} can be watched` })
  }
  return { hosts, problems: [...problems, ...duplicates(variable, hosts)] }
}

const monitoredHost = (
  variable: string,
  entry: HostEntry,
  id: number,
): { host?: MonitoredHost; problem?: SettingProblem } => {
  const refuse = (sentence: string) => ({ problem: { name: variable, sentence: `host ${id + 1}: ${sentence}` } })
  const url = httpUrl(entry.url)
  if (!url) return refuse('must be a URL that begins with http:// or https://')
  if (hasMisreadPassword(url)) return refuse(`the URL ${misreadPassword}`)
  const label = entry.label?.trim() || undefined
  if (label !== undefined && !isLabel(label)) {
    return refuse(`the label must be at most ${maxLabelLength} printable characters and not begin with "user:"`)
  }
  const keeperMetrics = entry.keeperMetrics === undefined ? undefined : httpUrl(entry.keeperMetrics)
  if (entry.keeperMetrics !== undefined && !keeperMetrics) {
    return refuse('keeperMetrics must be a URL that begins with http:// or https://')
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

/** Keys that begin with `user:` belong to connections that people bring themselves. */
const isLabel = (label: string): boolean =>
  label.length <= maxLabelLength && !label.startsWith('user:') && !/\p{Cc}/u.test(label)

/** Credentials within a URL are percent-encoded; a stray percent sign is meant as itself. */
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
      const sentence = `hosts ${earlier.id + 1} and ${host.id + 1} are both called ${host.name}; give each its own label`
      problems.push({ name: variable, sentence })
    } else {
      first.set(host.key, host)
    }
  }
  return problems
}
