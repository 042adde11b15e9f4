import type { RouteBody, RouteData } from '#proto/http/route.ts'
import type { Client } from '../../client/client.ts'
import { CommandError } from '../exit-codes.ts'
import { channel, webhookTarget } from './channel-resources.ts'
import type { Change, CurrentEntry, DesiredEntry, Fields } from './plan.ts'
import { toDashboardKey } from './read-folder.ts'

/** How the entries of one kind are read and changed. */
export interface Resource {
  load(client: Client): Promise<CurrentEntry[]>
  /** Adds an entry, or replaces the current one. */
  save(client: Client, desired: DesiredEntry, current: CurrentEntry | undefined): Promise<unknown>
  remove?(client: Client, entry: CurrentEntry): Promise<unknown>
}

const isSaved = ({ source }: { source: string }): boolean => source === 'database'

/** Returns an entry of a list without the fields that are not part of its definition. */
const toEntry = (kind: string, { id, source, ...fields }: { id: string; source: string } & object): CurrentEntry => ({
  kind,
  key: id,
  id,
  fields: { ...fields },
  isSaved: isSaved({ source }),
})

/** Returns fields as the body of a request. */
const toBody = <B>(fields: Fields): B =>
  // The schemas of the files, which are those of the API, validated the fields, or they came from the API.
  fields as B

const settings: Resource = {
  load: async (client) => {
    const { general } = (await client.call('GET /api/v1/health/alert-config')).data
    const fields = Object.fromEntries(Object.entries(general).map(([name, entry]) => [name, entry?.value]))
    const saved = Object.values(general).some((entry) => entry !== null && isSaved(entry))
    return [{ kind: 'settings', key: 'alerts', id: 'alerts', fields, isSaved: saved, isPermanent: true }]
  },
  save: (client, { fields }, current) => {
    const { sweepsEnabled: _derived, ...kept } = current?.fields ?? {}
    const body = toBody<RouteBody<'PUT /api/v1/health/alert-config'>>({ ...kept, ...fields })
    return client.call('PUT /api/v1/health/alert-config', { body })
  },
}

const digest: Resource = {
  load: async (client) => {
    const { value, source } = (await client.call('GET /api/v1/health/alert-digest')).data
    const fields = { windowMinutes: value }
    return [{ kind: 'digest', key: 'alerts', id: 'alerts', fields, isSaved: isSaved({ source }), isPermanent: true }]
  },
  save: (client, { fields: { windowMinutes } }) => {
    const minutes = Number(windowMinutes)
    return client.call('PUT /api/v1/health/alert-digest', { body: { enabled: minutes > 0, windowMinutes: minutes } })
  },
}

const rule: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/check-alerts')).data.map(({ ruleId, sources, ...fields }) => ({
      kind: 'rule',
      key: ruleId,
      id: ruleId,
      fields,
      isSaved: Object.values(sources).includes('database'),
    })),
  save: (client, { key: checkId, fields }, current) => {
    const body = toBody<RouteBody<'PUT /api/v1/health/check-alerts/{checkId}'>>({ ...current?.fields, ...fields })
    return client.call('PUT /api/v1/health/check-alerts/{checkId}', { path: { checkId }, body })
  },
  remove: (client, { id: checkId }) =>
    client.call('DELETE /api/v1/health/check-alerts/{checkId}', { path: { checkId } }),
}

const customRule: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/custom-rules')).data.map((entry) => ({
      ...toEntry('custom-rule', entry),
      key: entry.name,
    })),
  save: (client, { fields }, current) => {
    const body = toBody<RouteBody<'POST /api/v1/health/custom-rules'>>(fields)
    return current
      ? client.call('PUT /api/v1/health/custom-rules/{id}', { path: { id: current.id }, body })
      : client.call('POST /api/v1/health/custom-rules', { body })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/custom-rules/{id}', { path: { id } }),
}

const sqlRule: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/sql-rules')).data.map((entry) => ({
      ...toEntry('sql-rule', entry),
      key: entry.name,
    })),
  save: (client, { fields }, current) => {
    const body = toBody<RouteBody<'POST /api/v1/health/sql-rules'>>(fields)
    return current
      ? client.call('PUT /api/v1/health/sql-rules/{id}', { path: { id: current.id }, body })
      : client.call('POST /api/v1/health/sql-rules', { body })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/sql-rules/{id}', { path: { id } }),
}

const route: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/routes')).data.map(({ problem: _problem, ...entry }) =>
      toEntry('route', entry),
    ),
  save: (client, { key: id, fields }, current) => {
    const body = toBody<RouteBody<'PUT /api/v1/health/routes/{id}'>>(fields)
    return current
      ? client.call('PUT /api/v1/health/routes/{id}', { path: { id }, body })
      : client.call('POST /api/v1/health/routes', { body: { id, ...body } })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/routes/{id}', { path: { id } }),
}

const quietHours: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/quiet-hours')).data.map((entry) => toEntry('quiet-hours', entry)),
  save: (client, { key: id, fields }, current) => {
    const body = toBody<RouteBody<'PUT /api/v1/health/quiet-hours/{id}'>>(fields)
    return current
      ? client.call('PUT /api/v1/health/quiet-hours/{id}', { path: { id }, body })
      : client.call('POST /api/v1/health/quiet-hours', { body: { id, ...body } })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/quiet-hours/{id}', { path: { id } }),
}

const maintenanceWindow: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/maintenance-windows')).data.map(({ hostId: _hostId, ...entry }) =>
      toEntry('maintenance-window', entry),
    ),
  save: async (client, { key: id, fields: { host, ...fields } }, current) => {
    const hostId = host === null ? null : await findHostId(client, String(host))
    const body = toBody<RouteBody<'PUT /api/v1/health/maintenance-windows/{id}'>>({ ...fields, hostId })
    return current
      ? client.call('PUT /api/v1/health/maintenance-windows/{id}', { path: { id }, body })
      : client.call('POST /api/v1/health/maintenance-windows', { body: { id, ...body } })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/maintenance-windows/{id}', { path: { id } }),
}

const findHostId = async (client: Client, name: string): Promise<number> => {
  const host = (await client.call('GET /api/v1/hosts')).data.find((each) => each.name === name)
  if (!host) throw new CommandError(`maintenance.yaml: unknown host "${name}"`)
  return host.id
}

type DashboardContent = RouteData<'GET /api/v1/dashboards/{id}'>['content']

const dashboard: Resource = {
  load: async (client) => {
    const listed = (await client.call('GET /api/v1/dashboards')).data.filter(({ managedBy }) => managedBy === 'users')
    return await Promise.all(
      listed.map(async ({ id }) => {
        const { content, version } = (await client.call('GET /api/v1/dashboards/{id}', { path: { id } })).data
        return { kind: 'dashboard', key: toDashboardKey(content), id, fields: { content }, isSaved: true, version }
      }),
    )
  },
  save: (client, { fields }, current) => {
    const { content } = toBody<{ content: DashboardContent }>(fields)
    const note = 'watchhouse apply'
    return current
      ? client.call('PUT /api/v1/dashboards/{id}', {
          path: { id: current.id },
          body: { version: current.version ?? 1, content, note },
        })
      : client.call('POST /api/v1/dashboards', { body: { content, note } })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/dashboards/{id}', { path: { id } }),
}

const resources: Readonly<Record<string, Resource>> = {
  settings,
  digest,
  rule,
  'custom-rule': customRule,
  'sql-rule': sqlRule,
  channel,
  'webhook-target': webhookTarget,
  route,
  'quiet-hours': quietHours,
  'maintenance-window': maintenanceWindow,
  dashboard,
}

/** Loads the entries of the given kinds. */
export const loadCurrentEntries = async (client: Client, kinds: ReadonlySet<string>): Promise<CurrentEntry[]> => {
  const loaded = await Promise.all([...kinds].map((kind) => resources[kind]?.load(client) ?? []))
  return loaded.flat()
}

/** Makes one change on the server. */
export const applyChange = async (client: Client, change: Change): Promise<void> => {
  if (change.action === 'delete') {
    await resources[change.current.kind]?.remove?.(client, change.current)
    return
  }
  const { desired } = change
  await resources[desired.kind]?.save(client, desired, change.action === 'change' ? change.current : undefined)
}
