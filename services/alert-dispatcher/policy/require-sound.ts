import type { Settling } from '#proto/alerting.ts'
import { quietHoursProblem } from '#proto/alert-policy.ts'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/no-such.ts'
import { channels } from '../channels/index.ts'
import { requireTarget } from './lost-routes.ts'
import { requireSoundRule, requireSoundSettings } from './sound.ts'
import type { Alerting } from '../alerting.ts'

/** Throws `invalid` for what contradicts itself, and `not-found` for names that nothing has. */
export const requireSound = async (alerting: Alerting, settling: Settling, call: Call): Promise<void> => {
  const { env, policy } = alerting
  switch (settling.kind) {
    case 'rule':
      return requireRule(alerting, settling, call)
    case 'channel':
      return requireChannel(settling.id)
    case 'custom-rule':
      return requireCustomRule(alerting, settling.value, call)
    case 'quiet-hours':
      return requireHours(settling.value)
    case 'route':
      return requireTarget(settling.value.target, await policy.current(), env)
    default:
  }
}

const requireRule = async (
  { query, policy }: Alerting,
  { id, value }: Extract<Settling, { kind: 'rule' }>,
  call: Call,
): Promise<void> => {
  const [{ rules }, { custom }] = await Promise.all([query.rules({}, call), policy.current()])
  const rule = rules.find((each) => each.id === id)
  if (rule) return requireSoundSettings(rule, value)
  const own = custom.find((each) => each.id === id)
  if (!own)
    throw noSuch(
      'rule',
      id,
      [...rules, ...custom].map((each) => each.id),
      'checkId',
    )
  const { operator, warning, critical } = own
  requireSoundSettings({ thresholds: { warning, critical, below: operator === '<' || operator === '<=' } }, value)
}

const requireChannel = (channel: string): void => {
  const ids = channels.map(({ id }) => id)
  if (!ids.includes(channel)) throw noSuch('channel', channel, ids, 'channel')
}

const requireCustomRule = async (
  { query }: Alerting,
  rule: Extract<Settling, { kind: 'custom-rule' }>['value'],
  call: Call,
): Promise<void> => {
  const { metrics } = await query.rules({}, call)
  const ids = metrics.map(({ id }) => id)
  if (!ids.includes(rule.metric)) throw noSuch('metric', rule.metric, ids, 'metric')
  requireSoundRule(rule)
}

const requireHours = (hours: Extract<Settling, { kind: 'quiet-hours' }>['value']): void => {
  const problem = quietHoursProblem(hours)
  if (problem !== undefined) throw new ServiceError('invalid', `end ${problem}`, { details: { parameter: 'end' } })
}
