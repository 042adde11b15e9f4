import { describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { createCall, openTestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'

const hostKey = 'db'

/** Starts a host without a query log. Adds all statements except capabilities and probes to `sent`. */
const withoutLog = async (sent: string[]) => {
  const stub = await startHttpStub(({ sql }, response) => {
    if (sql.startsWith('SELECT version()')) return sendResultRows(response, [['25.8.1.1', 1, 'machine', 'UTC', '0']])
    sent.push(sql)
    return sendResultRows(response, [[0]])
  })
  const parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey, COLUMNDB_USER: 'spy' })
  return {
    handlers: parts.handlers,
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]()
      await stub[Symbol.asyncDispose]()
    },
  }
}

describe('a host without a query log', () => {
  const unavailable = { reason: 'missing-table', missingTables: ['system.query_log'] }

  it('differs from an empty one, without a failing statement', async () => {
    const sent: string[] = []
    await using host = await withoutLog(sent)
    const { fingerprints, fingerprint, queryDetail } = query.methods
    const list = await host.handlers.fingerprints(fingerprints.input.parse({ hostKey }), createCall())
    expect(list).toMatchObject({ fingerprints: [], total: null, statement: null, unavailable })
    const one = await host.handlers.fingerprint(fingerprint.input.parse({ hostKey, hash: '1' }), createCall())
    expect(one).toMatchObject({ detail: null, unavailable })
    const single = await host.handlers.queryDetail(queryDetail.input.parse({ hostKey, queryId: 'q' }), createCall())
    expect(single).toMatchObject({ detail: null, unavailable })
    expect(new Set(sent)).toEqual(new Set(['EXISTS TABLE `system`.`query_log`']))
  })

  it('is queried over a valid window', async () => {
    await using host = await withoutLog([])
    const input = query.methods.fingerprints.input.parse({ hostKey, from: 20, to: 10 })
    await expect(host.handlers.fingerprints(input, createCall())).rejects.toMatchObject({
      code: 'invalid',
      details: { parameter: 'from' },
    })
  })
})
