import { describe, expect, it } from 'vitest'
import { hidden, redactor, soundsSecret, withoutCredentials } from './redact.ts'

describe('names that sound secret', () => {
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
    expect(soundsSecret(name)).toBe(true)
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
    expect(soundsSecret(name)).toBe(false)
  })
})

describe('redacting a log line', () => {
  const redact = redactor(['NATS_URL'])

  it('hides secrets at every depth and in lists, and leaves the rest alone', () => {
    const line = {
      host: 'one',
      request: { headers: [{ authorization: 'Bearer marked' }] },
      NATS_URL: 'nats://marked',
      at: 1,
    }
    expect(redact(line)).toEqual({
      host: 'one',
      request: { headers: [{ authorization: hidden }] },
      NATS_URL: hidden,
      at: 1,
    })
  })

  it('keeps the sentence and the stack of an error but hides what hangs on it', () => {
    const cause = Object.assign(new Error('deeper'), { password: 'marked' })
    const error = Object.assign(new Error('refused', { cause }), { config: { token: 'marked' }, code: 'ECONNREFUSED' })
    const shown = redact({ err: error })
    expect(shown).toMatchObject({
      err: {
        type: 'Error',
        message: 'refused',
        code: 'ECONNREFUSED',
        config: { token: hidden },
        cause: { message: 'deeper' },
      },
    })
    expect(JSON.stringify(shown)).not.toContain('marked')
  })

  it('shows how many tokens a language model took, and hides tokens themselves', () => {
    const line = { inputTokens: 12, outputTokens: 0, tokens: ['marked'], refreshTokens: 'marked', token: 7 }
    expect(redact(line)).toEqual({
      inputTokens: 12,
      outputTokens: 0,
      tokens: hidden,
      refreshTokens: hidden,
      token: hidden,
    })
  })

  it('ends on a structure that contains itself', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(JSON.stringify(redact(circle))).toContain('[deeper]')
  })
})

describe('URLs within text', () => {
  it('lose user and password', () => {
    expect(withoutCredentials('{"msg":"connect redis://user:marked@10.0.0.1:6379/0 failed, http://a/b@c"}')).toBe(
      `{"msg":"connect redis://${hidden}@10.0.0.1:6379/0 failed, http://a/b@c"}`,
    )
  })

  it('lose a password that holds a slash or a question mark in its escaped form', () => {
    expect(withoutCredentials('https://u:a%2Fb%3F@host/')).toBe(`https://${hidden}@host/`)
  })
})
