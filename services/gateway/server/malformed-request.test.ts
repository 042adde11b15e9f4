import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { rejectMalformedRequest, rejectConnect } from './receive.ts'

const answerTo = async (code: string): Promise<string> => {
  const socket = new PassThrough()
  rejectMalformedRequest(Object.assign(new Error('refused'), { code }), socket)
  return text(socket)
}

describe('an unparseable request', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'timeout'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large', 'too-large'],
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'invalid'],
  ])('with %s gets %s', async (code, line, type) => {
    const answer = await answerTo(code)
    expect(answer.split('\r\n')[0]).toBe(line)
    expect(answer).toContain('Connection: close')
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ success: false, error: { type } })
  })

  it('with CONNECT is rejected, and may close the connection first', async () => {
    const socket = new PassThrough()
    rejectConnect(socket)
    expect(socket.emit('error', new Error('reset'))).toBe(true)
    expect(socket.destroyed).toBe(true)
  })

  it('gets no response if the client has disconnected', async () => {
    const socket = new PassThrough()
    rejectMalformedRequest(Object.assign(new Error('gone'), { code: 'ECONNRESET' }), socket)
    expect(socket.destroyed).toBe(true)
  })
})
