import { createClock } from '#shared/time/clock.ts'
import { expect, it } from 'vitest'
import { openStore } from '#shared/store/open.ts'
import { createHostError, toStatementError } from '../clickhouse/failure.ts'
import { unknownState } from '../status/probe-once.ts'
import { testHost } from '../testing/response-bodies.ts'
import { readCertificates } from './report-rows.ts'

const hour = 3_600_000
const noCertificate = toStatementError(testHost, {
  code: 1000,
  name: 'POCO_EXCEPTION',
  sentence: 'no certificate file',
})

/** Returns a server that has no certificate and was started at time 0. */
const openServer = async () => {
  const store = await openStore({ env: {}, busIsShared: false })
  const server = { nowMs: hour, startedMs: 0, isProbed: true, requests: 0, failure: noCertificate }
  const state = () =>
    server.isProbed
      ? { ...unknownState, uptimeSeconds: (server.nowMs - server.startedMs) / 1_000, checkedAtMs: server.nowMs }
      : unknownState
  // Only this part of the probe is used.
  const probe = { known: () => ({ state: state() }) } as unknown as Parameters<typeof readCertificates>[0]['probe']
  const report = () =>
    readCertificates({ store, probe, clock: createClock(() => server.nowMs) }, testHost.key, () => {
      server.requests++
      return Promise.reject(server.failure)
    })
  return { server, report, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

it('queries a server without a certificate once per start', async () => {
  await using opened = await openServer()
  const { server, report } = opened
  expect(await report()).toEqual([])
  server.nowMs += 200 * hour
  expect([await report(), server.requests]).toEqual([[], 1])
  server.startedMs = server.nowMs - hour
  expect([await report(), server.requests]).toEqual([[], 2])
  expect([await report(), server.requests]).toEqual([[], 2])
})

it('queries a server with an unknown start each time', async () => {
  await using opened = await openServer()
  const { server, report } = opened
  server.isProbed = false
  expect([await report(), await report(), server.requests]).toEqual([[], [], 2])
})

it('reports other failures and does not cache them', async () => {
  await using opened = await openServer()
  const { server, report } = opened
  server.failure = createHostError(testHost, 'timeout')
  await expect(report()).rejects.toMatchObject({ code: 'timeout' })
  await expect(report()).rejects.toMatchObject({ code: 'timeout' })
  expect(server.requests).toBe(2)
})
