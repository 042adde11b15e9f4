import { describe, expect, it } from 'vitest'
import { readServerEvents, type ServerEvent } from './server-events.ts'

const read = async (...written: string[]): Promise<ServerEvent[]> => {
  const stream = ReadableStream.from(written.map((text) => new TextEncoder().encode(text)))
  return Array.fromAsync(readServerEvents(new Response(stream)))
}

describe('readServerEvents', () => {
  it('parses events and ids regardless of chunk boundaries', async () => {
    expect(await read('id: 1\nda', 'ta: {"a":1}\n', '\n: alive\n\nid: 2\ndata: [DONE]\n\n')).toEqual([
      { id: 1, data: '{"a":1}' },
      { id: 2, data: '[DONE]' },
    ])
  })

  it('drops incomplete events', async () => {
    expect(await read('id: 1\ndata: a')).toEqual([])
  })
})
