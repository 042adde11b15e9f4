import { measured } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** Sweeps in a row that the host did not answer; one that refuses our password is there. */
export const hostUnreachable: Evaluator = async ({ contact, earlier }) => {
  const before = earlier?.unanswered ?? 0
  const unanswered = contact.answers || contact.isRefused ? 0 : before + 1
  return { measured: measured(unanswered), ...(unanswered !== before && { keep: { unanswered } }) }
}
