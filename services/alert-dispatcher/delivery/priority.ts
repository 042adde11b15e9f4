import { hash } from 'node:crypto'
import type { Notice } from '../notice.ts'

/** Which of the notices that wait for a target goes first: the lowest. Critical goes before warning, and both before recoveries and reminders. */
export type Priority = 0 | 1 | 2 | 3

const mostUrgent = 0

/** Nothing is overtaken any longer once it has waited for this long. */
const overtakenForMs = 5 * 60_000

/** The priority of a notice that has waited for so long: after five minutes each has the highest one. */
export const priorityOf = (notice: Notice, waitedMs: number): Priority =>
  waitedMs >= overtakenForMs ? mostUrgent : ownPriority(notice)

/** Whether a notice goes before everything that is not critical. */
export const isUrgent = (notice: Notice): boolean => ownPriority(notice) === mostUrgent

const ownPriority = ({ kind, severity }: Notice): Priority => {
  if (kind === 'test') return mostUrgent
  if (kind === 'fire' || kind === 'escalate') return severity === 'critical' ? mostUrgent : 1
  if (kind === 'digest') return 1
  return kind === 'recover' ? 2 : 3
}

/** Names the group that a notice may be sent with: `alike` are of one rule, `like` of any; undefined where a notice always stands alone. */
export interface GroupKeys {
  alike: string
  any: string
}

/** Conditions that begin, reminders and ends are never in one message, nor are two severities. */
export const groupKeysOf = ({ kind, severity, ruleId, title, isUnseen = false }: Notice): GroupKeys | undefined => {
  const phase = phases[kind]
  if (phase === undefined) return undefined
  const any = JSON.stringify([phase, severity, isUnseen])
  return { alike: keyOf(JSON.stringify([any, ruleId, title])), any: keyOf(any) }
}

const phases: Partial<Record<Notice['kind'], string>> = {
  fire: 'firing',
  escalate: 'firing',
  remind: 'still firing',
  recover: 'resolved',
}

const keyOf = (text: string): string => hash('sha256', text).slice(0, 16)
