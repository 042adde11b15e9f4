import type { CallContext } from '#proto/call.ts'

/** A service call without a user. */
export const testServiceCall: CallContext = {
  identity: { kind: 'service', subject: 'gateway', features: 'all' },
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  priority: 'person',
}
