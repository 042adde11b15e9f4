import { expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { createCall, openTestService } from './testing/test-service.ts'
import { startHttpStub } from './testing/stub-host.ts'

const version = '24.8.4.13'

/** Opens a server of version 24.8 that rejects every statement as a syntax error and records all except probes. */
const openOld = async () => {
  const statements: string[] = []
  await using scope = new AsyncDisposableStack()
  const host = scope.use(
    await startHttpStub(
      ({ sql, url }, response) => {
        // Statements of the probe are not recorded.
        if (/advice|explain/.test(url.searchParams.get('log_comment') ?? '')) statements.push(sql)
        response.writeHead(400).end('Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)')
      },
      { version },
    ),
  )
  const parts = scope.use(await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'old' }))
  const running = scope.move()
  return { statements, handlers: parts.handlers, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

it('reports no certificates for a server without one', async () => {
  const exception = 'Poco::Exception. Code: 1000, e.code() = 0, SSL Exception: Configuration error: no certificate file'
  await using host = await startHttpStub(
    (_, response) => response.writeHead(500).end(`${exception} (version ${version})`),
    { version, tables: ['certificates', 'part_log'] },
  )
  await using parts = await openTestService({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'old' })
  const request = { hostKey: 'old', fromMs: 0, toMs: 86_400_000 }
  const fetchRows = (set: 'certificates' | 'merges') => parts.handlers.reportRows({ ...request, set }, createCall())
  expect(await fetchRows('certificates')).toEqual({ rows: [], unavailable: null, incomplete: null })
  await expect(fetchRows('merges')).rejects.toMatchObject({ details: { clickhouseCode: 1000 } })
})

const table = { hostKey: 'old', database: 'shop', table: 'orders', column: 'city' }

it('does not test an index on a server that cannot estimate it', async () => {
  await using old = await openOld()
  const request = { ...table, condition: "city = 'Bern'", type: 'minmax' as const }
  expect(await old.handlers.tryIndex(request, createCall())).toMatchObject({ outcome: 'not-possible' })
  expect(old.statements).toEqual([])
})

it('does not estimate codecs on a server that cannot', async () => {
  await using old = await openOld()
  expect(await old.handlers.codecRatios({ ...table, codecs: ['ZSTD(1)'] }, createCall())).toEqual([])
  expect(old.statements).toEqual([])
})

it('rejects EXPLAIN ANALYZE for an older server and names the required version', async () => {
  await using old = await openOld()
  const request = query.methods.explain.input.parse({ hostKey: 'old', query: 'SELECT 1', mode: 'analyze' })
  await expect(old.handlers.explain(request, createCall())).rejects.toMatchObject({
    code: 'invalid',
    message: 'host old runs ClickHouse 24.8.4.13, which does not support EXPLAIN ANALYZE; it requires 26.7 or later',
    details: { parameter: 'mode' },
  })
  expect(old.statements).toEqual([])
})
