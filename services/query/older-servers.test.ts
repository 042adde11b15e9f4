import { expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { aCall, openParts } from './testing/open-parts.ts'
import { startHttpStub } from './testing/stub-host.ts'

const version = '24.8.4.13'

/** A server of 2024 that keeps what it is asked, and knows none of it. */
const openOld = async () => {
  const asked: string[] = []
  await using scope = new AsyncDisposableStack()
  const host = scope.use(
    await startHttpStub(
      ({ sql, url }, response) => {
        // The probe asks on its own.
        if (/advice|explain/.test(url.searchParams.get('log_comment') ?? '')) asked.push(sql)
        response.writeHead(400).end('Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)')
      },
      { version },
    ),
  )
  const parts = scope.use(await openParts({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'old' }))
  const running = scope.move()
  return { asked, handlers: parts.handlers, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

it('without a certificate has none to report', async () => {
  const says = 'Poco::Exception. Code: 1000, e.code() = 0, SSL Exception: Configuration error: no certificate file'
  await using host = await startHttpStub((_, response) => response.writeHead(500).end(`${says} (version ${version})`), {
    version,
    tables: ['certificates', 'part_log'],
  })
  await using parts = await openParts({ COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'old' })
  const asked = { hostKey: 'old', fromMs: 0, toMs: 86_400_000 }
  const rowsOf = (set: 'certificates' | 'merges') => parts.handlers.reportRows({ ...asked, set }, aCall())
  expect(await rowsOf('certificates')).toEqual({ rows: [], unavailable: null })
  await expect(rowsOf('merges')).rejects.toMatchObject({ details: { clickhouseCode: 1000 } })
})

const table = { hostKey: 'old', database: 'shop', table: 'orders', column: 'city' }

it('is not asked to try an index out, which is not possible there', async () => {
  await using old = await openOld()
  const trying = { ...table, condition: "city = 'Bern'", type: 'minmax' as const }
  expect(await old.handlers.tryIndex(trying, aCall())).toMatchObject({ outcome: 'not-possible' })
  expect(old.asked).toEqual([])
})

it('is not asked to estimate codecs', async () => {
  await using old = await openOld()
  expect(await old.handlers.codecRatios({ ...table, codecs: ['ZSTD(1)'] }, aCall())).toEqual([])
  expect(old.asked).toEqual([])
})

it('is not asked to analyze a statement, and the version that can is told', async () => {
  await using old = await openOld()
  const explaining = query.methods.explain.input.parse({ hostKey: 'old', query: 'SELECT 1', mode: 'analyze' })
  await expect(old.handlers.explain(explaining, aCall())).rejects.toMatchObject({
    code: 'invalid',
    message: 'host old runs 24.8.4.13, which does not know EXPLAIN ANALYZE; 26.7 and later do',
    details: { parameter: 'mode' },
  })
  expect(old.asked).toEqual([])
})
