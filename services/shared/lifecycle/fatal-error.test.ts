import { describe, expect, it } from 'vitest'
import { formatFatalError } from './fatal-error.ts'

const error = new TypeError('cannot read\n  postgres://watchhouse:marked@db/x with hunter22')
const env = { LLM_API_KEY: 'hunter22', HOST: '127.0.0.1' }

describe('the error that ends a process', () => {
  it('is one line without secrets', () => {
    expect(formatFatalError(error, env)).toBe(
      'watchhouse stopped by an error: TypeError: cannot read; postgres://[hidden]@db/x with [hidden]; set LOG_LEVEL=debug for its stack trace\n',
    )
  })

  it.each(['debug', 'trace'])('has a stack trace at level %s, also without secrets', (LOG_LEVEL) => {
    const text = formatFatalError(error, { ...env, LOG_LEVEL })
    expect(text).toMatch(/\n +at .*fatal-error\.test\.ts/)
    expect(text).not.toMatch(/marked|hunter22/)
  })

  it('can be a thrown value that is not an error', () => {
    expect(formatFatalError('gone', {})).toBe(
      'watchhouse stopped by an error: gone; set LOG_LEVEL=debug for its stack trace\n',
    )
  })
})
