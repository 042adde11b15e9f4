import { describe, expect, it } from 'vitest'
import { buildRequestPath, type SendingOptions, type Statement } from './statement.ts'

const sending: SendingOptions = {
  format: 'JSONCompact',
  readonly: 0,
  maxExecutionSeconds: 60,
  background: false,
}
const settingsOf = (statement: Partial<Statement>, more: Partial<SendingOptions> = {}, base = 'http://db:8123') => {
  const path = buildRequestPath(new URL(base), { what: 'chart/x', sql: 'SELECT 1', ...statement }, 'q-1', {
    ...sending,
    ...more,
  })
  return { path, query: Object.fromEntries(new URL(path, base).searchParams) }
}

describe('the URL of a statement', () => {
  it('has a log comment, limits and readonly', () => {
    expect(settingsOf({}).query).toMatchObject({
      query_id: 'q-1',
      default_format: 'JSONCompact',
      log_comment: '{"watchhouse":"chart/x"}',
      max_execution_time: '60',
      readonly: '1',
    })
  })

  it('has a limit of ten seconds for statements that read from Keeper', () => {
    expect(settingsOf({ readsKeeper: true }).query).toMatchObject({ max_execution_time: '10' })
    expect(settingsOf({ readsKeeper: true }, { maxExecutionSeconds: 3 }).query).toMatchObject({
      max_execution_time: '3',
    })
  })

  it('has a low priority and few threads in the background', () => {
    expect(settingsOf({}, { background: true }).query).toMatchObject({
      max_execution_time: '10',
      max_threads: '2',
      priority: '10',
    })
    expect(settingsOf({}).query).not.toHaveProperty('priority')
    expect(settingsOf({}, { background: true, maxExecutionSeconds: 3 }).query).toMatchObject({
      max_execution_time: '3',
    })
  })

  it('follows the options of each request of one statement', () => {
    const statement = { what: 'rules', sql: 'SELECT 1' }
    const path = (more: Partial<SendingOptions>, queryId = 'q-1') =>
      buildRequestPath(new URL('http://db:8123'), statement, queryId, { ...sending, ...more })
    expect(path({ background: true })).toContain('priority=10')
    expect(path({ background: true }, 'q-2')).toMatch(/query_id=q-2&.*&priority=10/)
    expect(path({})).not.toContain('priority')
    expect(path({ maxExecutionSeconds: 7 })).toContain('max_execution_time=7')
    expect(path({ readonly: 1 })).not.toContain('log_comment')
    expect(path({ format: 'JSONEachRow' })).toContain('output_format_json_quote_64bit_integers=0')
  })

  it('encodes lone surrogates', () => {
    const { query } = settingsOf({ database: '\ud800', parameters: { 'a\udc00': 'b\ud800' } })
    expect(query).toMatchObject({ database: '\ufffd', 'param_a\ufffd': 'b\ufffd' })
  })

  it('has no settings for a user with a read-only profile', () => {
    expect(Object.keys(settingsOf({ parameters: { a: 1 } }, { readonly: 1 }).query)).toEqual([
      'query_id',
      'default_format',
      'param_a',
    ])
  })

  it('omits readonly when the profile already has a weaker one', () => {
    expect(settingsOf({}, { readonly: 2 }).query).not.toHaveProperty('readonly')
    expect(settingsOf({}, { readonly: 2 }).query).toHaveProperty('log_comment')
  })

  it('keeps the path and the parameters of a proxied URL', () => {
    expect(settingsOf({}, {}, 'https://proxy/ch/?cluster=a').path).toMatch(/^\/ch\/\?cluster=a&query_id=/)
  })
})

describe('query parameters', () => {
  it.each([
    ['text', 'text'],
    ["it's", "it's"],
    ['a\\b', 'a\\\\b'],
    ['a\tb\nc', 'a\\tb\\nc'],
    [null, '\\N'],
    [true, '1'],
    [1.5, '1.5'],
    ['&x=1#ü', '&x=1#ü'],
  ])('send %j as %j', (value, text) => {
    expect(settingsOf({ parameters: { v: value } }).query.param_v).toBe(text)
  })

  it('are rejected when they do not fit into a URL', () => {
    expect(() => settingsOf({ parameters: { v: 'x'.repeat(50_000) } })).toThrow(
      expect.objectContaining({ code: 'too-large' }),
    )
  })
})
