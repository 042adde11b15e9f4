import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { answerUnreadable, refuseTunnel } from './receive.ts'

const answerTo = async (code: string): Promise<string> => {
  const socket = new PassThrough()
  answerUnreadable(Object.assign(new Error('refused'), { code }), socket)
  return text(socket)
}

describe('a request that never became one', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'timeout'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large', 'too-large'],
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'invalid'],
  ])('%s is answered %s', async (code, line, type) => {
    const answer = await answerTo(code)
    expect(answer.split('\r\n')[0]).toBe(line)
    expect(answer).toContain('Connection: close')
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ success: false, error: { type } })
  })

  it('is told that this is no proxy, and may hang up first', async () => {
    const socket = new PassThrough()
    refuseTunnel(socket)
    expect(socket.emit('error', new Error('reset'))).toBe(true)
    expect(socket.destroyed).toBe(true)
  })

  it('is not answered when the other side has gone', async () => {
    const socket = new PassThrough()
    answerUnreadable(Object.assign(new Error('gone'), { code: 'ECONNRESET' }), socket)
    expect(socket.destroyed).toBe(true)
  })
})
