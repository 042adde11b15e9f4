import type { LiveCondition } from '#lib/api/health.ts'

/** Conditions shown together, with a key that is stable while conditions come and go. */
export interface Group {
  key: string
  conditions: LiveCondition[]
}

/** Smaller groups are shown as single cards. */
const minGroupSize = 4

/** Groups conditions of one rule with the same state, at the position of the first one. Small groups stay ungrouped. */
export const groupConditions = (conditions: readonly LiveCondition[]): Group[] =>
  [...Map.groupBy(conditions, groupKey)].flatMap(([key, group]) =>
    group.length < minGroupSize
      ? group.map((condition) => ({ key: condition.episode, conditions: [condition] }))
      : [{ key, conditions: group }],
  )

/**
 * Conditions of other systems are never grouped, as their titles may mean different things. Acknowledged ones stay in place, where
 * the user just acknowledged them.
 */
const groupKey = ({ source, ruleId, severity, phase, episode }: LiveCondition): string =>
  source === null ? [ruleId, severity, phase].join(' ') : episode

const maxNames = 3

/** Lists names: `db-1, db-2, db-3 and 197 more`. */
export const listNames = (names: readonly string[]): string => {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}
