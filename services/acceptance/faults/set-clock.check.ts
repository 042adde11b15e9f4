import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { sendResultRows, startHttpStub } from '../../query/testing/stub-host.ts'
import { retryUntil } from '../../testing/fetch-json.ts'
import { startProcess } from '../../testing/product/product-process.ts'
import { findFaketimeLibrary } from '../../testing/servers/faketime.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'

const Health = z.object({ hosts: z.array(z.object({ status: z.string() })) })
const Time = z.object({ timestamp: z.string() })

it('a real process detects a host outage and recovery regardless of its wall clock', async () => {
  const library = findFaketimeLibrary()
  if (library === undefined) throw new Error('libfaketime not found; install the package faketime')
  await using scope = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-clock-'))
  scope.defer(() => rm(directory, { recursive: true }))
  const file = join(directory, 'offset')
  const setClock = (offset: string) => writeFile(file, `${offset}\n`)
  await setClock('+0')
  const host = { isUp: true }
  const stub = scope.use(
    await startHttpStub((_request, response) =>
      host.isUp
        ? sendResultRows(response, [['25.8.1', 77, 'first', 'UTC', String(Date.now()), ...Array(10).fill(null)]])
        : response.destroy(),
    ),
  )
  const port = await reserveFreePort()
  const variables = {
    PORT: String(port),
    HOST: '127.0.0.1',
    COLUMNDB_HOST: stub.url,
    COLUMNDB_NAME: 'first',
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // As on a real machine, the monotonic clock must not follow the wall clock.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  scope.use(await startProcess({ services: [], variables, operationsPort: await reserveFreePort() }))
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).json()
  const seen = async (status: string) =>
    retryUntil(
      async () => Health.parse(await get('/api/healthz')).hosts[0]?.status,
      (now) => now === status,
      20_000,
    )
  const aheadMs = async () => Date.parse(Time.parse(await get('/api/health')).timestamp) - Date.now()

  await seen('up')
  for (const [offset, expectedMs] of [
    ['-600', -600_000],
    ['-3600', -3_600_000],
    ['+3600', 3_600_000],
    ['+0', 0],
  ] as const) {
    await setClock(offset)
    expect(Math.abs((await aheadMs()) - expectedMs), `the clock is set by ${offset} s`).toBeLessThan(30_000)
    host.isUp = !host.isUp
    await seen(host.isUp ? 'up' : 'down')
  }
})
