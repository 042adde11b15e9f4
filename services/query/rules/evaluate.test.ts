import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createCall, openTestService } from '../testing/test-service.ts'
import { type StubRequest, sendResultRows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'

const tables = ['metrics', 'disks', 'mutations', 'merges', 'processes', 'settings']
const basics = (uptimeSeconds = 7_000) => [['25.8.1', uptimeSeconds, 'machine', 'UTC', String(Date.now())]]

/** Responds with 0 for every rule of a statement, or with an error if the statement contains `refused`. */
const respondToRules = ({ sql }: StubRequest, response: ServerResponse, refused?: string): void => {
  if (sql.includes('hostName()')) return sendResultRows(response, basics())
  if (refused !== undefined && sql.includes(refused)) {
    response
      .writeHead(404)
      .end('Code: 47. DB::Exception: Unknown identifier `x` in scope SELECT x. (UNKNOWN_IDENTIFIER)')
    return
  }
  const count = sql.split('\nUNION ALL\n').length
  sendResultRows(
    response,
    Array.from({ length: count }, (_, index) => [index, 0, null, null, null, []]),
  )
}

const rules = ['failed-mutations', 'mutation-old', 'stuck-merges', 'longest-query', 'host-unreachable']

describe('a host that does not answer', () => {
  it('counts unreachable sweeps and gives a reason for each rule without a value', async () => {
    let isHanging = true
    await using host = await startHttpStub((request, response) => {
      if (!isHanging) respondToRules(request, response)
    })
    await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'a' })
    const sweep = () => parts.handlers.evaluateRules({ hostKey: 'a', rules, metrics: ['active-merges'] }, createCall())
    const first = await sweep()
    expect(first.readings.map(({ value }) => value)).toEqual([null, null, null, null, 1])
    expect(first.readings[0]?.reason).toBe('host a did not answer in time')
    expect(first.metrics).toMatchObject([{ id: 'active-merges', value: null, reason: 'host a did not answer in time' }])
    expect(first).toMatchObject({ statements: 0, version: null, uptimeSeconds: null })
    expect((await sweep()).readings.at(-1)?.value).toBe(2)
    isHanging = false
    expect((await sweep()).readings.at(-1)?.value).toBe(0)
  })

  it('is unreachable when its port is closed', async () => {
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    await using parts = await openTestService({ COLUMNDB_HOST: gone.url, COLUMNDB_NAME: 'a' })
    const { readings } = await parts.handlers.evaluateRules({ hostKey: 'a', rules, metrics: [] }, createCall())
    const offenders = ['host a cannot be reached: nothing listens on its port']
    expect(readings.at(-1)).toMatchObject({ id: 'host-unreachable', value: 1, offenders })
    expect(readings[0]?.reason).toBe('host a cannot be reached: nothing listens on its port')
  })
})

describe('a rule whose statement fails', () => {
  it('does not affect other rules, gives a reason without the statement and is skipped next time', async () => {
    await using host = await startHttpStub(
      (request, response) => respondToRules(request, response, 'latest_fail_reason'),
      {
        tables,
      },
    )
    await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'a' })
    const sweep = () => parts.handlers.evaluateRules({ hostKey: 'a', rules, metrics: [] }, createCall())
    const first = await sweep()
    expect(first.readings.map(({ value }) => value)).toEqual([null, 0, 0, 0, 0])
    expect(first.readings[0]?.reason).toBe('host a: the query failed (47 UNKNOWN_IDENTIFIER)')
    // The statement with all four rules fails, so each rule then runs in its own statement.
    expect(first.statements).toBe(5)
    const again = await sweep()
    expect(again.readings).toEqual(first.readings)
    expect(again.statements).toBe(1)
  })
})

describe('a busy host', () => {
  it('gets no statement per rule, and its failures are not remembered', async () => {
    let isFull = true
    await using host = await startHttpStub(
      (request, response) => {
        if (!isFull || request.sql.includes('hostName()')) return respondToRules(request, response)
        response
          .writeHead(500)
          .end('Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)')
      },
      { tables },
    )
    await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'a' })
    const sweep = () => parts.handlers.evaluateRules({ hostKey: 'a', rules, metrics: [] }, createCall())
    const full = await sweep()
    expect(full.readings.map(({ value }) => value)).toEqual([null, null, null, null, 0])
    expect(full.readings[0]?.reason).toBe('host a: the query failed (202 TOO_MANY_SIMULTANEOUS_QUERIES)')
    expect(full.statements).toBe(1)
    isFull = false
    expect(await sweep()).toMatchObject({
      statements: 1,
      readings: [{ value: 0 }, { value: 0 }, { value: 0 }, { value: 0 }, { value: 0 }],
    })
  })
})

it('returns no value for unknown rules and metrics', async () => {
  await using host = await startHttpStub((request, response) => respondToRules(request, response), { tables })
  await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'a' })
  const request = { hostKey: 'a', rules: ['stuck-merges', 'of-another-release'], metrics: ['no-metric'] }
  const { readings, metrics } = await parts.handlers.evaluateRules(request, createCall())
  expect(readings).toMatchObject([{ value: 0 }, { value: null, reason: 'unknown rule or metric "of-another-release"' }])
  expect(metrics).toMatchObject([{ id: 'no-metric', value: null, reason: 'unknown rule or metric "no-metric"' }])
})

it('returns no values for a host with invalid responses', async () => {
  await using host = await startHttpStub(
    ({ sql }, response) =>
      sql.includes('hostName()') ? sendResultRows(response, basics()) : sendResultRows(response, [['no'], ['such']]),
    { tables },
  )
  await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'a' })
  const { readings } = await parts.handlers.evaluateRules({ hostKey: 'a', rules, metrics: [] }, createCall())
  expect(readings.map(({ value }) => value)).toEqual([null, null, null, null, 0])
  expect(readings[0]?.reason).toBe('host a is not a ClickHouse server')
})
