import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLog } from './open.ts'
import { redactionPlaceholder, createRedactor, isSecretName, removeCredentials } from './redact.ts'

describe('names of secrets', () => {
  it.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'sessionCookie',
    'password',
    'COLUMNDB_PASSWORD',
    'passwordSecret',
    'token',
    'bot_token',
    'accessToken',
    'key',
    'apiKey',
    'api_key',
    'LLM_API_KEY',
    'X-ClickHouse-Key'.slice('X-ClickHouse-'.length),
    'signingKey',
    'encryption-key',
    'SVC_API_KEY_SECRET',
    'sql',
  ])('hides %s', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    'hostKey',
    'host',
    'tokenCount',
    'keys',
    'keyboard',
    'passwordLength',
    'service',
    'primaryKeyBytes',
    'tookMs',
  ])('shows %s', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('redacting a log line', () => {
  const redact = createRedactor(['NATS_URL'])

  it('hides secrets at every depth and in lists, and keeps the rest', () => {
    const line = {
      host: 'one',
      request: { headers: [{ authorization: 'Bearer marked' }] },
      NATS_URL: 'nats://marked',
      at: 1,
    }
    expect(redact(line)).toEqual({
      host: 'one',
      request: { headers: [{ authorization: redactionPlaceholder }] },
      NATS_URL: redactionPlaceholder,
      at: 1,
    })
  })

  it('keeps the message and the stack of an error but hides its secret properties', () => {
    const cause = Object.assign(new Error('deeper'), { password: 'marked' })
    const error = Object.assign(new Error('refused', { cause }), { config: { token: 'marked' }, code: 'ECONNREFUSED' })
    const shown = redact({ err: error })
    expect(shown).toMatchObject({
      err: {
        type: 'Error',
        message: 'refused',
        code: 'ECONNREFUSED',
        config: { token: redactionPlaceholder },
        cause: { message: 'deeper' },
      },
    })
    expect(JSON.stringify(shown)).not.toContain('marked')
  })

  it('shows the number of tokens of a language model, and hides secret tokens', () => {
    const line = { inputTokens: 12, outputTokens: 0, tokens: ['marked'], refreshTokens: 'marked', token: 7 }
    expect(redact(line)).toEqual({
      inputTokens: 12,
      outputTokens: 0,
      tokens: redactionPlaceholder,
      refreshTokens: redactionPlaceholder,
      token: redactionPlaceholder,
    })
  })

  it('terminates on a circular structure', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(JSON.stringify(redact(circle))).toContain('[deeper]')
  })
})

describe('URLs within text', () => {
  it('lose user and password', () => {
    expect(removeCredentials('{"msg":"connect redis://user:marked@10.0.0.1:6379/0 failed, http://a.b/c@d"}')).toBe(
      `{"msg":"connect redis://${redactionPlaceholder}@10.0.0.1:6379/0 failed, http://a.b/c@d"}`,
    )
  })

  it.each([
    ['redis://u:p@ss@host:6379/0', `redis://${redactionPlaceholder}@host:6379/0`],
    ['http://u:pa/ss@host:8123/', `http://${redactionPlaceholder}@host:8123/`],
    ['http://u:a://b@host/', `http://${redactionPlaceholder}@host/`],
    ['http://u:123/x@host/', `http://${redactionPlaceholder}@host/`],
    ['http://:pa?ss#x@host/', `http://${redactionPlaceholder}@host/`],
    ['http://u:pa ss@host failed', `http://${redactionPlaceholder}@host failed`],
    [`nats://u:"p'@host`, `nats://${redactionPlaceholder}@host`],
    ['to=https%3A%2F%2Fu%3Ap%2540ss%40host', `to=https%3A%2F%2F${redactionPlaceholder}%40host`],
    ['libsql://db.example/?authToken=marked&tls=1', 'libsql://db.example/?authToken=[hidden]&tls=1'],
    ['http://h/?to=http://i/?token=marked?2&a=b', 'http://h/?to=http://i/?token=[hidden]&a=b'],
    ['nats://tok/en@host', `nats://${redactionPlaceholder}@host`],
    ['NATS://tok.en/x@host', `NATS://${redactionPlaceholder}@host`],
    ['http://tok/en@host', `http://${redactionPlaceholder}@host`],
    ['xhttp://tok.en/x@host', `xhttp://${redactionPlaceholder}@host`],
    ['https://cdn.example/@scope/name@1.2', 'https://cdn.example/@scope/name@1.2'],
    ['http://localhost/a@b', 'http://localhost/a@b'],
    ['at file:///app/node_modules/@scope/name.js:1', 'at file:///app/node_modules/@scope/name.js:1'],
    ['http://h:8123: connect ECONNREFUSED, mail a@b', 'http://h:8123: connect ECONNREFUSED, mail a@b'],
    ['http://u:8123:x y@host', `http://${redactionPlaceholder}@host`],
    ['http://u:812345678: y@host', `http://${redactionPlaceholder}@host`],
    ['http://u:a b@host\nhttp://v:c@host', `http://${redactionPlaceholder}@host\nhttp://${redactionPlaceholder}@host`],
    ['http://host:8123/ping failed', 'http://host:8123/ping failed'],
    ['http://[::1]:8123 failed, mail ops@example.com', 'http://[::1]:8123 failed, mail ops@example.com'],
    ['http://host:8123, http://other:8123', 'http://host:8123, http://other:8123'],
  ])('%s', (text, bare) => {
    expect(removeCredentials(text)).toBe(bare)
  })

  it.each([
    'x://:a ',
    'x://',
    'x%3A%2F%2F',
    'x%3A%2F%2F%40',
    'x://a.b/',
    '?a=b',
    'x://:a '.repeat(9) + '\n',
    'a=',
    'x://@',
  ])('are found in linear time: %s', (piece) => {
    const text = piece.repeat(1_000_000 / piece.length)
    const started = performance.now()
    const shown = ['', ' @', '\n@', '?token=marked'].map((end) => removeCredentials(text + end))
    expect(shown.some((bare) => bare.includes('marked'))).toBe(false)
    // A quadratic algorithm would take a minute.
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  it('lose a password with an escaped slash or question mark', () => {
    expect(removeCredentials('https://u:a%2Fb%3F@host/')).toBe(`https://${redactionPlaceholder}@host/`)
  })
})

describe('a log line', () => {
  const special = [...':/?#[]@!$&\'()*+,;=%"<>\\^`{|}~']
  /** Generates passwords of two words that occur nowhere else, joined by special characters. */
  const password = fc
    .tuple(fc.array(fc.constantFrom(...special), { minLength: 1, maxLength: 5 }), fc.constantFrom('q', 'z'))
    .map(([between, letter]) => `SWORD${between.join('')}FISH${letter}`)
  const encoded = fc.constantFrom<(text: string) => string>(
    (text) => text,
    encodeURIComponent,
    encodeURI,
    (text) => text.replaceAll('@', '%40'),
    (text) => text.replaceAll('/', '%2F'),
  )
  const scheme = fc.constantFrom('redis', 'rediss', 'nats', 'postgres', 'http', 'https', 'smtp', 'libsql')
  /** Generates user names with a trailing colon, and an empty text for URLs that contain only a token. */
  const user = fc.constantFrom('', ':', 'u:', 'default:', 'some%20one:')

  it('never shows a password of a URL, with any characters and at any position', () => {
    fc.assert(
      fc.property(scheme, user, password, encoded, (protocol, name, secret, encode) => {
        const lines: string[] = []
        const options = { level: 'info', instance: 'i', version: '1', secretNames: [] } as const
        const log = openLog({ ...options, destination: { write: (line: string) => void lines.push(line) } })
        const url = `${protocol}://${name}${encode(secret)}@db.example:6379/0`
        const cause = Object.assign(new Error(`connect ${url} failed`), { address: url })
        log.warn({ err: new Error(`cannot reach ${url}`, { cause }), url, urls: [url, `(${url})`] }, `retrying ${url}`)
        log.child({ target: url }).info({ nested: { text: JSON.stringify({ url }) } }, 'bound')
        const written = lines.join('')
        expect(written).not.toMatch(/SWORD|FISH/)
        for (const line of lines) expect(JSON.parse(line)).toMatchObject({ instance: 'i' })
      }),
      { numRuns: 1_000 },
    )
  })
})
