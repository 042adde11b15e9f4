import {
  CustomRuleRequest,
  CustomRulesAnswer,
  CustomRulesQuery,
  CustomRuleTestAnswer,
  CustomRuleTestRequest,
} from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute, postRoute, type Route } from '../route.ts'
import { randomHex, settledRoutes } from '../settling/settled-routes.ts'
import { success } from '../response/success.ts'
import { findWatched } from '../hosts/watched-hosts.ts'

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
