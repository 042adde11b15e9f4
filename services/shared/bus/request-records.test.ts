import { expect, it } from 'vitest'
import { formatRequestKey, RequestRecords } from './request-records.ts'

const frame = (text: string, sequence = 0, kind: 'answer' | 'data' = 'answer') => ({
  kind,
  sequence,
  body: Buffer.from(text),
})
const textsOf = (records: RequestRecords, key: string, expected = 0) =>
  records.read(key, expected).frames.map(({ body }) => Buffer.from(body).toString())

it('keeps the response to a request that is not safe, and forgets safe ones', () => {
  const records = new RequestRecords()
  for (const [key, isSafe] of [
    ['safe', true],
    ['unsafe', false],
  ] as const) {
    expect(records.read(key, 0).state).toBe('unknown')
    const record = records.begin(key, isSafe)
    expect(records.read(key, 0).state).toBe('running')
    record?.add(frame('result'))
    record?.finish()
  }
  expect([records.read('safe', 0).state, records.read('unsafe', 0).state]).toEqual(['unknown', 'finished'])
  expect(textsOf(records, 'unsafe')).toEqual(['result'])
})

it('does not start a running or finished request again', () => {
  const records = new RequestRecords()
  const record = records.begin('one', false)
  expect(records.begin('one', false)).toBeUndefined()
  record?.finish()
  expect(records.begin('one', false)).toBeUndefined()
  expect(records.begin('two', false)).toBeDefined()
})

it('returns the frames that the caller expects, as they were when they were sent', () => {
  const records = new RequestRecords()
  const record = records.begin('one', false)
  const reused = Buffer.from('first')
  record?.add({ kind: 'data', sequence: 0, body: reused })
  reused.fill('x')
  record?.add(frame('second', 1, 'data'))
  record?.finish()
  expect(textsOf(records, 'one')).toEqual(['first', 'second'])
  expect(textsOf(records, 'one', 1)).toEqual(['second'])
})

it('keeps no large response, only that the request is finished', () => {
  const records = new RequestRecords()
  const record = records.begin('one', false)
  for (const sequence of [0, 1, 2]) record?.add(frame('x'.repeat(40_000), sequence, 'data'))
  record?.finish()
  expect(records.read('one', 0)).toMatchObject({ state: 'finished', frames: [] })
})

it('reports since when it knows all requests, which changes when it forgets one', () => {
  const records = new RequestRecords()
  const startedMs = performance.now()
  while (performance.now() - startedMs < 5);
  expect(records.read('other', 0).knownMs).toBeGreaterThanOrEqual(5)
  const beforeMs = performance.now()
  for (let count = 0; count <= 4_096; count += 1)
    records.begin(formatRequestKey('inbox', String(count)), false)?.finish()
  expect(records.read('inbox 0', 0).state).toBe('unknown')
  expect(records.read('other', 0).knownMs).toBeLessThanOrEqual(performance.now() - beforeMs)
})
