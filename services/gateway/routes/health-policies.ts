import type { AlertPolicy } from '#proto/alerting.ts'
import {
  MaintenanceWindowRequest,
  MaintenanceWindowsAnswer,
  NewMaintenanceWindow,
  NewQuietHours,
  NewRoute,
  QuietHoursAnswer,
  QuietHoursRequest,
  RouteRequest,
  RoutesAnswer,
  CustomRuleRequest,
  CustomRulesAnswer,
  CustomRulesQuery,
  CustomRuleTestAnswer,
  CustomRuleTestRequest,
} from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { randomHex, settledRoutes } from '../alert-config/alert-config.ts'
import { findWatched, type NameHost, watchedHosts } from '../hosts/host-list.ts'
import { success } from '../response/envelope.ts'
import { getRoute, type Route, postRoute } from '../http-route.ts'

const reading = { feature: 'HEALTH', access: 'read', limit: 'data', query: noQuery } as const

const maintenanceRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: '/api/v1/health/maintenance-windows',
    doc: 'Times in which nobody is told anything about a host, or about any',
    answer: MaintenanceWindowsAnswer,
    handle: async ({ call }, { hosts, alerts }) => {
      const { maintenanceWindows, lasting } = await alerts.alertPolicy({}, call)
      const nameOf = await watchedHosts(hosts)
      const windows = maintenanceWindows.flatMap((window) => shownWindow(window, nameOf) ?? [])
      return success(windows, { lasting, count: windows.length })
    },
  }),
  ...settledRoutes({
    name: 'maintenance-windows',
    kind: 'maintenance-window',
    noun: 'a maintenance window',
    added: NewMaintenanceWindow,
    changed: MaintenanceWindowRequest,
    newId: ({ id }) => id ?? `maintenance-${randomHex()}`,
    settling: async (id, { hostId, reason, startsAt, endsAt }, { hosts }) => {
      const hostKey = hostId === null ? null : (await findWatched(hosts, hostId)).key
      const times = { startsAtMs: Date.parse(startsAt), endsAtMs: Date.parse(endsAt) }
      return { kind: 'maintenance-window', value: { id, hostKey, reason, ...times } }
    },
  }),
]

const shownWindow = (
  { hostKey, startsAtMs, endsAtMs, ...window }: AlertPolicy['maintenanceWindows'][number],
  nameOf: NameHost,
) => {
  const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
  const [startsAt, endsAt] = [new Date(startsAtMs).toISOString(), new Date(endsAtMs).toISOString()]
  return named && { ...window, ...named, startsAt, endsAt }
}

const quietHoursRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: '/api/v1/health/quiet-hours',
    doc: 'Hours of the week in which people are told of nothing, or of critical conditions alone',
    answer: QuietHoursAnswer,
    handle: async ({ call }, { alerts }) => {
      const { quietHours, lasting } = await alerts.alertPolicy({}, call)
      return success(quietHours, { lasting, count: quietHours.length })
    },
  }),
  ...settledRoutes({
    name: 'quiet-hours',
    kind: 'quiet-hours',
    noun: 'quiet hours',
    added: NewQuietHours,
    changed: QuietHoursRequest,
    newId: ({ id }) => id ?? `quiet-hours-${randomHex()}`,
    settling: (id, body) => ({ kind: 'quiet-hours', value: { ...body, id } }),
  }),
]

const routeRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: '/api/v1/health/routes',
    doc: 'Which channel or webhook target is told of what; everybody is told of what matches none',
    answer: RoutesAnswer,
    handle: async ({ call }, { alerts }) => {
      const { routes, lasting } = await alerts.alertPolicy({}, call)
      return success(routes, { lasting, count: routes.length })
    },
  }),
  ...settledRoutes({
    name: 'routes',
    kind: 'route',
    noun: 'a route',
    added: NewRoute,
    changed: RouteRequest,
    newId: ({ id }) => id ?? `route-${randomHex()}`,
    settling: (id, body) => ({ kind: 'route', value: { ...body, id } }),
  }),
]

/** When and to whom things are told. */
export const healthPolicyRoutes: readonly Route[] = [...maintenanceRoutes, ...quietHoursRoutes, ...routeRoutes]

const common = { feature: 'HEALTH', limit: 'data' } as const
const path = '/api/v1/health/custom-rules'

const list = getRoute({
  ...common,
  path,
  doc: 'Rules that operators put on metrics; with catalog=1 also the metrics there are',
  access: 'read',
  query: CustomRulesQuery,
  answer: CustomRulesAnswer,
  handle: async ({ query: { catalog }, call }, { alerts, query }) => {
    const { customRules, lasting } = await alerts.alertPolicy({}, call)
    const metrics = catalog ? (await query.rules({}, call)).metrics : null
    return success(customRules, { lasting, count: customRules.length, metrics })
  },
})

const test = postRoute({
  ...common,
  path: `${path}/test`,
  doc: 'Measures once what a rule would judge, and judges it',
  access: 'write',
  query: noQuery,
  body: CustomRuleTestRequest,
  answer: CustomRuleTestAnswer,
  handle: async ({ body: { hostId, ...rule }, call }, { hosts, alerts }) => {
    const { key, name } = await findWatched(hosts, hostId)
    return success(await alerts.testCustomRule({ hostKey: key, rule }, call), { host: name })
  },
})

const writes = settledRoutes({
  name: 'custom-rules',
  kind: 'custom-rule',
  noun: 'a rule on a metric',
  added: CustomRuleRequest,
  changed: CustomRuleRequest,
  newId: ({ name }) => `custom:${slugOf(name)}-${randomHex()}`,
  settling: (id, body) => ({ kind: 'custom-rule', value: { ...body, id } }),
})

const longestSlug = 40

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replaceAll(/^-+|-+$/g, '') || 'rule'

/** Rules of operators on the metrics that are measured. */
export const healthCustomRuleRoutes: readonly Route[] = [list, test, ...writes]
