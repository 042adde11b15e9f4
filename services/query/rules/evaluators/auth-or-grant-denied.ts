import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** Whether the host refuses the configured user, or how many rules lack a right. */
export const authOrGrantDenied: Evaluator = async ({ contact, denied }) => {
  if (contact.answers) return { measured: measured(denied.length, denied) }
  return { measured: contact.isRefused ? measured(1) : untold(contact.reason) }
}
