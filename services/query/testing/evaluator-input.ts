import type { EvaluatorInput } from '../rules/evaluators/evaluator.ts'
import { testHost } from './response-bodies.ts'
import { createCall } from './test-service.ts'

const unexpectedRequest = (): never => {
  throw new Error('unexpected request')
}

/** Returns the input of an evaluator for a host that does not respond; any request throws. */
export const createEvaluatorInput = (more: Partial<EvaluatorInput> = {}): EvaluatorInput => ({
  host: testHost,
  contact: { answers: false, isRefused: false, reason: 'no response' },
  earlier: undefined,
  denied: [],
  run: unexpectedRequest,
  net: { trusted: unexpectedRequest },
  replicationService: { isConfigured: () => false, callApi: unexpectedRequest },
  history: { problem: undefined, readSecondsBehind: unexpectedRequest },
  call: createCall(),
  signal: new AbortController().signal,
  nowMs: 0,
  ...more,
})
