import type { AlertPolicy } from '#proto/alerting.ts'
import {
  MaintenanceWindowRequest,
  MaintenanceWindowsResponse,
  NewMaintenanceWindow,
  NewQuietHours,
  NewRoute,
  QuietHoursResponse,
  QuietHoursRequest,
  RouteRequest,
  RoutesResponse,
  CustomRuleRequest,
  CustomRulesResponse,
  CustomRulesQuery,
  CustomRuleTestResponse,
  CustomRuleTestRequest,
  SqlRuleRequest,
  SqlRulesResponse,
  SqlRuleTestRequest,
  SqlRuleTestResponse,
} from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { generateHexSuffix, createAlertConfigRoutes } from '../alert-config/alert-config.ts'
import { findMonitoredHost, type HostNameLookup, loadHostNames } from '../hosts/host-list.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, type Route, definePostRoute } from '../http-route.ts'

const reading = { feature: 'HEALTH', access: 'read', limit: 'data', query: noQuery } as const

const maintenanceRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: '/api/v1/health/maintenance-windows',
    doc: 'Lists maintenance windows, in which notifications about one host or all hosts are muted',
    answer: MaintenanceWindowsResponse,
    handle: async ({ call }, { hosts, alerts }) => {
      const { maintenanceWindows, persistent } = await alerts.alertPolicy({}, call)
      const nameOf = await loadHostNames(hosts)
      const windows = maintenanceWindows.flatMap((window) => shownWindow(window, nameOf) ?? [])
      return createSuccessBody(windows, { persistent, count: windows.length })
    },
  }),
  ...createAlertConfigRoutes({
    name: 'maintenance-windows',
    kind: 'maintenance-window',
    noun: 'a maintenance window',
    added: NewMaintenanceWindow,
    changed: MaintenanceWindowRequest,
    newId: ({ id }) => id ?? `maintenance-${generateHexSuffix()}`,
    update: async (id, { hostId, reason, startsAt, endsAt }, { hosts }) => {
      const hostKey = hostId === null ? null : (await findMonitoredHost(hosts, hostId)).key
      const times = { startsAtMs: Date.parse(startsAt), endsAtMs: Date.parse(endsAt) }
      return { kind: 'maintenance-window', value: { id, hostKey, reason, ...times } }
    },
  }),
]

const shownWindow = (
  { hostKey, startsAtMs, endsAtMs, ...window }: AlertPolicy['maintenanceWindows'][number],
  nameOf: HostNameLookup,
) => {
  const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
  const [startsAt, endsAt] = [new Date(startsAtMs).toISOString(), new Date(endsAtMs).toISOString()]
  return named && { ...window, ...named, startsAt, endsAt }
}

const quietHoursRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: '/api/v1/health/quiet-hours',
    doc: 'Lists quiet hours of the week, in which all or all but critical notifications are muted',
    answer: QuietHoursResponse,
    handle: async ({ call }, { alerts }) => {
      const { quietHours, persistent } = await alerts.alertPolicy({}, call)
      return createSuccessBody(quietHours, { persistent, count: quietHours.length })
    },
  }),
  ...createAlertConfigRoutes({
    name: 'quiet-hours',
    kind: 'quiet-hours',
    noun: 'quiet hours',
    added: NewQuietHours,
    changed: QuietHoursRequest,
    newId: ({ id }) => id ?? `quiet-hours-${generateHexSuffix()}`,
    update: (id, body) => ({ kind: 'quiet-hours', value: { ...body, id } }),
  }),
]

const routeRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: '/api/v1/health/routes',
    doc: 'Lists routes from conditions to channels and webhook targets; a condition that matches none goes to all of them',
    answer: RoutesResponse,
    handle: async ({ call }, { alerts }) => {
      const { routes, persistent } = await alerts.alertPolicy({}, call)
      return createSuccessBody(routes, { persistent, count: routes.length })
    },
  }),
  ...createAlertConfigRoutes({
    name: 'routes',
    kind: 'route',
    noun: 'a route',
    added: NewRoute,
    changed: RouteRequest,
    newId: ({ id }) => id ?? `route-${generateHexSuffix()}`,
    update: (id, body) => ({ kind: 'route', value: { ...body, id } }),
  }),
]

/** Routes of maintenance windows, quiet hours and notification routes. */
export const healthPolicyRoutes: readonly Route[] = [...maintenanceRoutes, ...quietHoursRoutes, ...routeRoutes]

const common = { feature: 'HEALTH', limit: 'data' } as const
const path = '/api/v1/health/custom-rules'

const list = defineGetRoute({
  ...common,
  path,
  doc: 'Lists custom rules on metrics; with catalog=1 also the available metrics',
  access: 'read',
  query: CustomRulesQuery,
  answer: CustomRulesResponse,
  handle: async ({ query: { catalog }, call }, { alerts, query }) => {
    const { customRules, persistent } = await alerts.alertPolicy({}, call)
    const metrics = catalog ? (await query.rules({}, call)).metrics : null
    return createSuccessBody(customRules, { persistent, count: customRules.length, metrics })
  },
})

const test = definePostRoute({
  ...common,
  path: `${path}/test`,
  doc: 'Measures and evaluates a custom rule once',
  access: 'write',
  query: noQuery,
  body: CustomRuleTestRequest,
  answer: CustomRuleTestResponse,
  handle: async ({ body: { hostId, ...rule }, call }, { hosts, alerts }) => {
    const { key, name } = await findMonitoredHost(hosts, hostId)
    return createSuccessBody(await alerts.testCustomRule({ hostKey: key, rule }, call), { host: name })
  },
})

const writeRoutes = createAlertConfigRoutes({
  name: 'custom-rules',
  kind: 'custom-rule',
  noun: 'a custom rule',
  added: CustomRuleRequest,
  changed: CustomRuleRequest,
  newId: ({ name }) => `custom:${slugOf(name)}-${generateHexSuffix()}`,
  update: (id, body) => ({ kind: 'custom-rule', value: { ...body, id } }),
})

const maxSlugLength = 40

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-+|-+$/g, '') || 'rule'

const sqlPath = '/api/v1/health/sql-rules'

const sqlRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: sqlPath,
    doc: 'Lists SQL rules, whose value is the result of a read-only statement on each host',
    answer: SqlRulesResponse,
    handle: async ({ call }, { alerts }) => {
      const { sqlRules, persistent } = await alerts.alertPolicy({}, call)
      return createSuccessBody(sqlRules, { persistent, count: sqlRules.length })
    },
  }),
  definePostRoute({
    ...common,
    path: `${sqlPath}/test`,
    doc: 'Runs the statement of an SQL rule on one host and returns the value and the state that the rule would have',
    access: 'write',
    query: noQuery,
    body: SqlRuleTestRequest,
    answer: SqlRuleTestResponse,
    handle: async ({ body: { hostId, ...rule }, call }, { hosts, alerts }) => {
      const { key, name } = await findMonitoredHost(hosts, hostId)
      return createSuccessBody(await alerts.testSqlRule({ hostKey: key, rule }, call), { host: name })
    },
  }),
  ...createAlertConfigRoutes({
    name: 'sql-rules',
    kind: 'sql-rule',
    noun: 'an SQL rule',
    added: SqlRuleRequest,
    changed: SqlRuleRequest,
    newId: ({ name }) => `sql:${slugOf(name)}-${generateHexSuffix()}`,
    update: (id, body) => ({ kind: 'sql-rule', value: { ...body, id } }),
  }),
]

/** Routes of custom rules and of SQL rules. */
export const healthCustomRuleRoutes: readonly Route[] = [list, test, ...writeRoutes, ...sqlRoutes]
