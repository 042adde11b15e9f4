import { measured } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** Sweeps in a row that the host did not answer, and what kept it; one that refuses our password is there. */
export const hostUnreachable: Evaluator = async ({ contact, earlier }) => {
  const before = earlier?.unanswered ?? 0
  const causes = contact.answers || contact.isRefused ? [] : [contact.reason]
  const unanswered = causes.length === 0 ? 0 : before + 1
  return { measured: measured(unanswered, causes), ...(unanswered !== before && { keep: { unanswered } }) }
}
