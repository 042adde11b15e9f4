import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** Tables of every server: one that the user does not see is closed to it. */
const everywhere = [
  'asynchronous_metrics',
  'disks',
  'errors',
  'events',
  'merges',
  'metrics',
  'mutations',
  'parts',
  'processes',
  'replicas',
]

/** Whether the host refuses the configured user, or how many tables and rules are closed to it. */
export const authOrGrantDenied: Evaluator = async ({ contact, denied }) => {
  if (!contact.answers) return { measured: contact.isRefused ? measured(1, [contact.reason]) : untold(contact.reason) }
  const hidden = everywhere.filter((table) => !contact.capabilities.tables.has(table)).map((table) => `system.${table}`)
  return { measured: measured(hidden.length + denied.length, [...hidden, ...denied]) }
}
