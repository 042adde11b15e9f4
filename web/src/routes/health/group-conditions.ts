import type { ActiveCondition } from '#lib/api/health.ts'

/** Conditions that the page shows together. The key does not change when conditions are added or resolved. */
export interface GroupedConditions {
  key: string
  conditions: ActiveCondition[]
}

/** Minimum size of a group. Conditions of smaller groups are shown as single cards. */
const minGroupSize = 4

/** Groups conditions with the same rule and state. A group has the position of its first condition. */
export const groupConditions = (conditions: readonly ActiveCondition[]): GroupedConditions[] =>
  [...Map.groupBy(conditions, getGroupKey)].flatMap(([key, group]) =>
    group.length < minGroupSize
      ? group.map((condition) => ({ key: condition.episode, conditions: [condition] }))
      : [{ key, conditions: group }],
  )

/**
 * Returns the group key of a condition. Conditions from other systems are not grouped, because conditions with
 * the same rule may have different titles. The key ignores acknowledgements, so that a condition does not move when a
 * user acknowledges it.
 */
const getGroupKey = ({ source, ruleId, severity, phase, episode }: ActiveCondition): string =>
  source === null ? [ruleId, severity, phase].join(' ') : episode

const maxNames = 3

/** Formats a list of names, for example `db-1, db-2, db-3 and 197 more`. */
export const formatNames = (names: readonly string[]): string => {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}
