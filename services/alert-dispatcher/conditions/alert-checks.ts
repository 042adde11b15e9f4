import type { AlertCheck } from '#proto/alerting.ts'
import type { Rule, RuleMetric } from '#proto/rules.ts'
import { HostRecord, hostRecordKey } from './condition.ts'
import type { Policy } from '../policy/policy.ts'
import { type Watched, watchedRules } from './watched.ts'
import type { Alerting, AlertingHandlers } from '../alerting.ts'

interface Catalogue {
  rules: readonly Rule[]
  metrics: readonly RuleMetric[]
}

/** Every rule with what the last sweep made of it on one host. */
export const alertChecks =
  ({ store, query, policy: book }: Alerting): AlertingHandlers['alertChecks'] =>
  async ({ hostKey }, call) => {
    const [catalogue, policy, record] = await Promise.all([
      query.rules({}, call),
      book.current(),
      store.get(hostRecordKey(hostKey), HostRecord),
    ])
    const watched = new Set(watchedRules(catalogue, policy).map(({ id }) => id))
    return watchedRules(catalogue, allOn(catalogue, policy)).map((rule): AlertCheck => {
      const check = record?.checks[rule.id]
      const found = {
        status: check?.status ?? 'unknown',
        value: check?.value ?? null,
        reason: check ? check.reason : 'no sweep has judged it yet',
        atMs: check?.atMs ?? null,
      } as const
      const off = { status: 'off', value: null, reason: null, atMs: null } as const
      return { ...described(rule, catalogue), ...(watched.has(rule.id) ? found : off) }
    })
  }

/** As if nothing were switched off, to see the thresholds of what is. */
const allOn = ({ rules }: Catalogue, policy: Policy): Policy => {
  const ids = [...rules, ...policy.custom].map(({ id }) => id)
  return {
    ...policy,
    rules: Object.fromEntries(ids.map((id) => [id, { ...policy.rules[id], enabled: true }])),
  }
}

const described = ({ id, title, unit, metric, operator, warning, critical, runbook }: Watched, known: Catalogue) => {
  const rule = metric === null ? known.rules.find((each) => each.id === id) : undefined
  const about = rule ?? known.metrics.find((each) => each.id === metric)
  return {
    ruleId: id,
    title,
    doc: about?.doc ?? '',
    category: about?.category ?? '',
    unit,
    isCustom: metric !== null,
    warning: warning.at,
    critical: critical.at,
    below: operator === '<' || operator === '<=',
    runbook,
    diagnosed: rule?.diagnosed ?? false,
  }
}
