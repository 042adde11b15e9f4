import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Rule } from '#proto/rules.ts'
import { noSuch } from '#shared/no-such.ts'
import type { Policy } from './policy.ts'
import { requireSoundSettings } from './sound.ts'

/** What there is to settle something about. */
export interface Catalogue {
  rules: readonly Pick<Rule, 'id' | 'thresholds'>[]
  metrics: readonly { id: string }[]
}

type Settled = Pick<Policy, 'rules' | 'custom'>

/** A rule about which something is settled that cannot be meant, and why. */
export interface UnsoundRule {
  rule: string
  failure: ServiceError
}

/** Rules that there are not, those on metrics that there are not, and those whose critical begins before their warning. */
export const unsoundRules = ({ rules, custom }: Settled, known: Catalogue): UnsoundRule[] => {
  const ids = new Set([...known.rules, ...custom].map(({ id }) => id))
  const metrics = new Set(known.metrics.map(({ id }) => id))
  const unknown = Object.keys(rules).filter((rule) => !ids.has(rule))
  const onNothing = custom.filter(({ metric }) => !metrics.has(metric))
  return [
    ...unknown.map((rule) => ({ rule, failure: noSuch('rule', rule, ids, 'rule') })),
    ...onNothing.map(({ id, metric }) => ({ rule: id, failure: noSuch('metric', metric, metrics, 'metric') })),
    ...known.rules.flatMap((rule) => contradictionIn(rule, rules[rule.id])),
  ]
}

const contradictionIn = (rule: Catalogue['rules'][number], settled: Settled['rules'][string] = {}): UnsoundRule[] => {
  try {
    requireSoundSettings(rule, settled)
    return []
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ rule: rule.id, failure: error }]
  }
}

/** Hears what there is, and warns once of each rule about which something is settled that cannot be meant. */
export type WarnOfUnsoundRules = (policy: Settled, known: Catalogue) => void

export const openUnsoundRules = (log: Logger): WarnOfUnsoundRules => {
  const warned = new Set<string>()
  return (policy, known) => {
    for (const { rule, failure } of unsoundRules(policy, known)) {
      const { message, details } = failure
      const warning = `${rule}: ${message}`
      if (warned.has(warning)) continue
      warned.add(warning)
      log.warn({ rule, reason: message, nearest: details?.nearest }, 'what is settled about a rule cannot be meant')
    }
  }
}
