import { type AuditRecord, broughtMark } from '#proto/audit.ts'

/** Actions on what belongs to one person: connections, subscriptions, conversations, API keys and devices. */
export const personalActions = [
  'keep-connection',
  'change-connection',
  'forget-connection',
  'subscribe-webhook',
  'change-webhook-subscription',
  'rotate-webhook-secret',
  'test-webhook-subscription',
  'end-webhook-subscription',
  'remove-conversation',
  'remove-conversations',
  'issue-api-key',
  'revoke-api-key',
  'approve-device',
  'deny-device',
] as const

/** Kinds of actors that are people; a person has the same subject with a session and with a key. */
export const personKinds = ['user', 'key'] as const

/** Whether a record may be shown to a reader: what a person did to its own things only to that person. */
export const isVisibleTo = (reader: string, { actor, action, host }: AuditRecord): boolean => {
  const isOfAnother = personKinds.some((kind) => kind === actor.kind) && actor.subject !== reader
  const isPersonal = personalActions.some((each) => each === action) || host?.endsWith(broughtMark) === true
  return !(isOfAnother && isPersonal)
}
