import { expect, it } from 'vitest'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { createAdviceSubject } from '../testing/subject.ts'
import type { AdviceContext } from './advice-subject.ts'
import { proposeProjections } from './kinds/projection.ts'
import { proposeSkipIndexes } from './kinds/skip-index.ts'
import { measureSavings } from './measure-savings.ts'

type Query = ServiceClient<typeof query>

const call: CallContext = {
  identity: { kind: 'user', subject: 'tester', features: 'all' },
  deadline: Infinity,
  signal: new AbortController().signal,
  priority: 'person',
}
const subject = createAdviceSubject()

/** Measures a proposal, by default a skip index, against fixed responses of the host. */
const measured = async (
  responses: Partial<Query>,
  testCall: CallContext | null = call,
  [proposal] = proposeSkipIndexes(subject),
) => {
  const fail = () => Promise.reject(new Error('unexpected call'))
  const all = new Proxy(responses, { get: (target, name) => Reflect.get(target, name) ?? fail })
  // The cast is safe, because the proxy provides every method; those without a response reject.
  const context: AdviceContext = { query: all as Query, call, hostKey: 'one', testCall: testCall ?? undefined }
  if (!proposal) throw new Error('expected a proposal')
  return measureSavings(context, subject, proposal)
}
const failing = (code: 'timeout' | 'too-large' | 'invalid' | 'busy' | 'unavailable', clickhouseCode?: number) => () =>
  Promise.reject(new ServiceError(code, 'no', clickhouseCode === undefined ? {} : { details: { clickhouseCode } }))
const after = (marks: number) => ({
  marksBefore: 1_000,
  marksAfter: marks,
  bytesBefore: 90_000,
  bytesAfter: 90 * marks,
})

it('is verified when the host built the index from all data', async () => {
  const tryIndex = async () => ({ outcome: 'tried' as const, marks: 5, isEmpirical: true })
  expect(await measured({ tryIndex })).toEqual({ proof: 'verified', savings: after(5) })
})

it('is estimated when the host estimated the index', async () => {
  const tryIndex = async () => ({ outcome: 'tried' as const, marks: 5, isEmpirical: false })
  expect(await measured({ tryIndex })).toEqual({ proof: 'estimated', savings: after(5) })
})

it('is estimated from the matching granules when the host does not support hypothetical indexes', async () => {
  const tryIndex = async () => ({ outcome: 'not-possible' as const, marks: null, isEmpirical: false })
  const countMatches = async () => ({ rows: 1_000_000, matchingRows: 70, matchingGranules: 7 })
  expect(await measured({ tryIndex, countMatches })).toEqual({ proof: 'estimated', savings: after(7) })
})

it('returns null when the index cannot filter', async () => {
  const tryIndex = async () => ({ outcome: 'of-no-use' as const, marks: null, isEmpirical: false })
  expect(await measured({ tryIndex })).toBeNull()
})

it.each([
  ['aborted the test', failing('too-large', 307)],
  ['rejected the condition', failing('invalid', 53)],
  ['has no time left', failing('timeout')],
  ['is busy', failing('busy')],
])('stays unverified when the host %s', async (_what, tryIndex) => {
  expect(await measured({ tryIndex })).toEqual({ proof: 'unverified', savings: null })
})

it('returns null when there are more groups than the counting limit', async () => {
  const grouping = { keys: ['`note`'], aggregates: ['count()'], hasValues: false }
  const grouped = proposeProjections(createAdviceSubject({ read: { grouping, conditions: [] } }))
  expect(await measured({ countGroups: failing('too-large', 158) }, call, grouped)).toBeNull()
})

it('stays unverified without a request when reading data is not allowed', async () => {
  expect(await measured({}, null)).toEqual({ proof: 'unverified', savings: null })
})

it('rejects when the host is unreachable', async () => {
  await expect(measured({ tryIndex: failing('unavailable') })).rejects.toMatchObject({ code: 'unavailable' })
})
