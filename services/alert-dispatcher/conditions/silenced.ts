import type { Silence } from '#proto/alert-history.ts'
import type { Condition, HostRecord } from './condition.ts'

type Said = Pick<Silence, 'kind' | 'episode' | 'ruleId'>

/** The record with what an operator says to an episode, or takes back; the same one when that episode is over. */
export const silenced = (
  record: HostRecord,
  { kind, episode, ruleId }: Said,
  silence: Pick<Silence, 'untilMs'> | null,
): HostRecord => {
  const condition = record.conditions[ruleId]
  if (condition?.episode !== episode) return record
  const said = silence && { untilMs: silence.untilMs }
  const changed = { ...condition, [kind === 'ack' ? 'acknowledged' : 'dismissed']: said }
  return { ...record, conditions: { ...record.conditions, [ruleId]: changed } }
}

type Silences = Pick<Condition, 'acknowledged' | 'dismissed'>

/** Whether the same is said to both. */
export const sameSilences = (one: Silences, other: Silences): boolean =>
  same(one.acknowledged, other.acknowledged) && same(one.dismissed, other.dismissed)

const same = (one: Condition['dismissed'], other: Condition['dismissed']): boolean =>
  one === null || other === null ? one === other : one.untilMs === other.untilMs
