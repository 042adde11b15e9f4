import { noSuch } from '#shared/no-such.ts'
import { judge } from './judge.ts'
import { watchedRules } from './watched.ts'
import { requireSoundRule } from '../policy/sound.ts'
import type { Alerting, AlertingHandlers } from '../alerting.ts'

/** Measures once what a rule would judge, and judges it as a sweep would. */
export const testCustomRule =
  ({ query, policy: book }: Alerting): AlertingHandlers['testCustomRule'] =>
  async ({ hostKey, rule }, call) => {
    const { metrics } = await query.rules({}, call)
    const metric = metrics.find(({ id }) => id === rule.metric)
    if (!metric)
      throw noSuch(
        'metric',
        rule.metric,
        metrics.map(({ id }) => id),
        'metric',
      )
    requireSoundRule(rule)
    const custom = [{ ...rule, id: 'custom:test', enabled: true }]
    const watched = watchedRules({ rules: [], metrics }, { ...(await book.current()), custom, rules: {} })
    const measured = await query.evaluateRules({ hostKey, rules: [], metrics: [metric.id] }, call)
    const byId = new Map(measured.metrics.map((reading) => [reading.id, reading]))
    const [verdict] = judge(
      watched,
      { readings: new Map(), metrics: byId, uptimeSeconds: measured.uptimeSeconds },
      undefined,
    )
    const { status = 'unknown', value = null, reason = null } = verdict ?? {}
    return { status, value, unit: metric.unit, reason }
  }
