import type { Call } from '#proto/call.ts'

/** A call for nobody in particular. */
export const anybody: Call = {
  identity: { kind: 'service', subject: 'gateway', features: 'all' },
  deadline: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
  priority: 'person',
}
