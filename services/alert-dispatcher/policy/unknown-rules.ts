import type { Logger } from 'pino'
import { noSuch } from '#shared/no-such.ts'
import type { Policy } from './policy.ts'

/** Hears what rules there are, and warns once of each that files or variables name and that there is not. */
export type WarnOfUnknownRules = (policy: Pick<Policy, 'rules' | 'custom'>, catalogued: Iterable<string>) => void

export const openUnknownRules = (log: Logger): WarnOfUnknownRules => {
  const warned = new Set<string>()
  return ({ rules, custom }, catalogued) => {
    const known = new Set([...catalogued, ...custom.map(({ id }) => id)])
    for (const rule of Object.keys(rules)) {
      if (known.has(rule) || warned.has(rule)) continue
      warned.add(rule)
      const { message, details } = noSuch('rule', rule, known, 'rule')
      log.warn(
        { rule, reason: message, nearest: details?.nearest },
        'alert files or variables name a rule that there is not',
      )
    }
  }
}
