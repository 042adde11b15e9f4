import type { LiveCondition } from '#lib/api/health.ts'

/** Conditions that are shown at one place, which keeps its key while others come and go. */
export interface Group {
  key: string
  conditions: LiveCondition[]
}

/** Fewer are quicker seen than unfolded. */
const fewest = 4

/** Conditions of one rule that stand alike, where the first of them stood; each by itself where they are few. */
export const together = (conditions: readonly LiveCondition[]): Group[] =>
  [...Map.groupBy(conditions, alike)].flatMap(([key, group]) =>
    group.length < fewest
      ? group.map((condition) => ({ key: condition.episode, conditions: [condition] }))
      : [{ key, conditions: group }],
  )

/**
 * What other systems found is told in words of theirs, each of which may be about something else. What is acknowledged stays where it is, under
 * the eyes of whoever has just done so.
 */
const alike = ({ source, ruleId, severity, phase, episode }: LiveCondition): string =>
  source === null ? [ruleId, severity, phase].join(' ') : episode

const mostNames = 3

/** `db-1, db-2, db-3 and 197 more`. */
export const someOf = (names: readonly string[]): string => {
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}
