import { Command, Option } from 'commander'
import type { Client } from '../../client/client.ts'
import { RequestError } from '../../client/failure.ts'
import { type CommandContext, openSession } from '../context.ts'
import { hostOption, selectHost, type HostEntry, type HostOptions } from '../hosts.ts'
import { readLastMinutes } from '../options.ts'
import { formatInstant } from '../output/format.ts'
import type { Output } from '../output/output.ts'

const kinds = ['Version', 'Server', 'Settings', 'Schema', 'Access', 'Deployment', 'Alert', 'Action'] as const

/** Something that changed on a host or around it. */
interface Change {
  atMs: number
  kind: string
  text: string
  detail: string
}

const defaultMinutes = 1_440
/** Maximum number of entries of each source. */
const maxEntries = 200

/** Lists what changed on a host and around it, newest first. */
export const createChangesCommand = (context: CommandContext): Command =>
  new Command('changes')
    .description('list what changed on a host: versions, settings, schema, access, deployments, alerts and actions')
    .addOption(hostOption())
    .option('--last <duration>', 'time range, such as 30m, 6h or 7d (default: 1d)')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(kinds))
    .action(async (options: HostOptions & { last?: string; kind?: string }, command) => {
      const minutes = readLastMinutes(options.last) ?? defaultMinutes
      const { client, output } = openSession(context, command)
      const host = await selectHost(client, options)
      const changes = await loadChanges(client, output, host, minutes)
      output.list({
        rows: changes.filter(({ kind }) => options.kind === undefined || kind === options.kind),
        empty: `No changes on "${host.name}" in this time range.`,
        columns: [
          { title: 'TIME (UTC)', value: ({ atMs }) => formatInstant(atMs) },
          { title: 'KIND', value: ({ kind }) => kind, tone: ({ kind }) => (kind === 'Alert' ? 'warning' : undefined) },
          { title: 'CHANGE', value: ({ text }) => text },
          { title: 'DETAIL', value: ({ detail }) => detail },
        ],
      })
    })

/** Loads the changes of all sources. A source that fails is reported, because the list lacks its changes. */
const loadChanges = async (client: Client, output: Output, host: HostEntry, minutes: number): Promise<Change[]> => {
  const fromMs = Date.now() - minutes * 60_000
  const sources = {
    host: loadHostChanges(client, host, minutes),
    deployments: loadDeployments(client, fromMs),
    alerts: loadAlerts(client, host),
    actions: loadActions(client, host),
  }
  const names = Object.keys(sources)
  const results = await Promise.allSettled(Object.values(sources))
  const found = results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return result.value
    const error: unknown = result.reason
    if (!(error instanceof RequestError) || error.isUnreachable || error.code === 'unauthenticated') throw error
    output.note(`${names[index]}: ${error.message}`)
    return []
  })
  return found.filter(({ atMs }) => atMs >= fromMs).toSorted((one, other) => other.atMs - one.atMs)
}

const loadHostChanges = async (client: Client, { id: hostId }: HostEntry, lastMinutes: number): Promise<Change[]> => {
  const { data } = await client.call('GET /api/v1/charts/{name}', {
    path: { name: 'host-changes' },
    query: { hostId, lastMinutes },
  })
  return data.map(({ time, kind, what }) => ({
    atMs: Number(time),
    kind: String(kind),
    text: String(what),
    detail: '',
  }))
}

const loadDeployments = async (client: Client, fromMs: number): Promise<Change[]> => {
  const query = { from: Math.floor(fromMs / 1000), limit: maxEntries }
  const { data } = await client.call('GET /api/v1/deployments', { query })
  return data.map(({ atMs, repository, title, environment, outcome, by }) => ({
    atMs,
    kind: 'Deployment',
    text: `${repository}: ${title}`,
    detail: [environment, outcome, by && `by ${by}`].filter(Boolean).join(' · '),
  }))
}

/** The events of alerts that are changes. Reminders and muted notifications are none. */
const alertWords: Readonly<Record<string, string>> = {
  fire: 'fired',
  escalate: 'became critical',
  lower: 'became a warning',
  recover: 'recovered',
}

const loadAlerts = async (client: Client, { id: hostId }: HostEntry): Promise<Change[]> => {
  const { data } = await client.call('GET /api/v1/health/history', { query: { hostId, limit: maxEntries } })
  return data.flatMap(({ atMs, kind, title, severity }) => {
    const word = alertWords[kind]
    return word === undefined ? [] : [{ atMs, kind: 'Alert', text: `${title} ${word}`, detail: severity }]
  })
}

const loadActions = async (client: Client, { name: host }: HostEntry): Promise<Change[]> => {
  const { data } = await client.call('GET /api/v1/audit', { query: { host, limit: maxEntries } })
  return data.map(({ atMs, action, actor, target, result }) => ({
    atMs,
    kind: 'Action',
    text: action,
    detail: [`by ${actor.subject}`, result === 'done' ? '' : result, ...Object.values(target)]
      .filter(Boolean)
      .join(' · '),
  }))
}
