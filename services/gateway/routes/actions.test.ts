import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AuditResponse } from '#proto/http/audit.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(() => product[Symbol.asyncDispose]())

const send = async (path: string, body: unknown, more: Record<string, string> = {}) => {
  const answer = await fetch(`${product.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'requested-here', ...more },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: Object(await answer.json()) }
}
const records = async (search = '') => {
  const answer = await fetch(`${product.url}/api/v1/audit${search}`)
  return AuditResponse.parse(await answer.json())
}

describe('an action', () => {
  it('runs and is audited with caller, target, time and result', async () => {
    const { status, body } = await send('/api/v1/actions?hostId=0', {
      action: 'killQuery',
      params: { queryId: 'runaway' },
    })
    expect([status, body.data.state, body.message]).toEqual([200, 'done', 'Completed on the host'])
    const [record] = (await records('?action=kill-query')).data
    expect(record).toMatchObject({
      action: 'kill-query',
      actor: { kind: 'anonymous', subject: 'anonymous' },
      host: 'analytics',
      target: { queryId: 'runaway' },
      result: 'done',
      requestId: 'requested-here',
    })
  })

  it('returns an error when its target has finished, and audits the error', async () => {
    const request = {
      action: 'killMutation',
      params: { database: 'shop', table: 'orders', mutationId: 'mutation_3.txt' },
    }
    const { status, body } = await send('/api/v1/actions?hostId=0', request)
    expect([status, body.error.message]).toEqual([409, 'mutation mutation_3.txt is already finished'])
    const [record] = (await records('?action=kill-mutation')).data
    expect(record).toMatchObject({ result: 'refused', detail: 'mutation mutation_3.txt is already finished' })
  })

  it('reports that it is still running', async () => {
    const request = { action: 'optimizeTable', params: { database: 'shop', table: 'orders', final: true } }
    const { body } = await send('/api/v1/actions?hostId=0', request)
    expect([body.data, body.message]).toEqual([
      { state: 'running', target: { engine: 'MergeTree', parts: 12 }, queryId: null },
      'Still running on the host',
    ])
  })

  it.each([
    [{}, /action/],
    [{ action: 'dropTable', params: {} }, /action/],
    [{ action: 'killQuery' }, /params/],
    [{ action: 'killQuery', params: { queryId: '' } }, /queryId/],
    [{ action: 'optimizeTable', params: { database: 'a' } }, /params\.table/],
    [{ action: 'optimizeTable', params: { database: 'a', table: 'b', where: '1' } }, /^params\.where is unknown$/],
  ])('rejects %j before anything runs', async (body, sentence) => {
    const before = (await records()).data.length
    const answer = await send('/api/v1/actions?hostId=0', body)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(sentence)])
    expect((await records()).data).toHaveLength(before)
  })

  it('is audited as an action on a user connection, not on a configured host', async () => {
    const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'secret', name: 'analytics' }
    const { body: session } = await send('/api/v1/browser-connections/sessions', target)
    const request = { action: 'killQuery', params: { queryId: 'runaway' } }
    await send('/api/v1/actions?hostId=0', request, { [session.data.header]: session.data.token })
    const [record] = (await records('?action=kill-query')).data
    expect(record?.host).toBe('analytics (user-supplied)')
  })

  it('requires a host', async () => {
    const { status } = await send('/api/v1/actions', { action: 'killQuery', params: { queryId: 'runaway' } })
    expect(status).toBe(400)
  })
})

describe('management', () => {
  it('sends the hash of a password, never the password', async () => {
    const password = 'correct horse battery'
    const request = { operation: 'create_user', params: { user: 'grace', password } }
    const { status, body } = await send('/api/v1/management?hostId=0', request)
    expect([status, body.ddl]).toEqual([200, '-- create_user'])
    const received = product.received.find(({ method }) => method === 'manage')
    expect(JSON.stringify(received?.input)).toMatch(/"hash":"[0-9a-f]{64}"/)
    const everything = JSON.stringify([product.received, product.logged, await records()])
    expect(everything).not.toContain(password)
  })

  it('returns whether it is enabled', async () => {
    expect(await (await fetch(`${product.url}/api/v1/management`)).json()).toEqual({
      success: true,
      data: { enabled: true },
      metadata: {},
      enabled: true,
    })
  })
})

describe('the audit', () => {
  it('is paged, newest first, and filtered by action, subject and host', async () => {
    for (const queryId of ['a', 'b', 'c']) {
      await send('/api/v1/actions?hostId=0', { action: 'killQuery', params: { queryId } })
    }
    const first = await records('?action=kill-query&limit=2')
    expect(first.data.map(({ atMs }) => atMs)).toEqual(first.data.map(({ atMs }) => atMs).toSorted((a, b) => b - a))
    expect(first.metadata.next).not.toBeNull()
    expect((await records('?subject=unknown')).data).toEqual([])
    expect((await records('?host=elsewhere')).data).toEqual([])
  })
})
