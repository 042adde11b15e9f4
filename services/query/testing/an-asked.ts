import type { Asked } from '../rules/evaluators/evaluator.ts'
import { host } from './chunked.ts'
import { aCall } from './open-parts.ts'

const unasked = (): never => {
  throw new Error('nobody is to be asked')
}

/** What an evaluator may go by where the host does not answer and nobody else may be asked. */
export const anAsked = (more: Partial<Asked> = {}): Asked => ({
  host,
  contact: { answers: false, isRefused: false, reason: 'it does not answer' },
  earlier: undefined,
  denied: [],
  ask: unasked,
  net: { trusted: unasked },
  replicationService: { isConfigured: () => false, ask: unasked },
  call: aCall(),
  signal: new AbortController().signal,
  nowMs: 0,
  ...more,
})
