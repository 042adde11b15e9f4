import { describe, expect, it } from 'vitest'
import { judgeChat } from './webhook.ts'

const judged = (status: number, text: string, headers: Record<string, string> = {}) => {
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
  return judgeChat({ status, text, headers: new Headers(headers), body })
}

describe('what a chat service answers', () => {
  it.each([
    [200, 'ok', {}, undefined],
    [200, '{"ok":true}', {}, undefined],
    [200, '{"ok":false,"error":"ratelimited"}', { 'retry-after': '7' }, { kind: 'retry', afterMs: 7_000 }],
    [200, '{"ok":false,"error":"rate_limited"}', {}, { kind: 'retry', afterMs: undefined }],
    [200, '{"ok":false,"error":"channel_not_found"}', {}, { kind: 'config' }],
    [200, '{"ok":false,"error":"invalid_blocks"}', {}, { kind: 'permanent' }],
    [400, 'invalid_token', {}, { kind: 'config' }],
    [400, 'invalid_payload', {}, undefined],
    [500, 'no_service', {}, undefined],
  ])('with %s %s %j is judged %j, and else by its status', (status, text, headers, expected) => {
    const result = judged(status, text, headers)
    if (expected === undefined) expect(result).toBeUndefined()
    else expect(result).toMatchObject(expected)
  })
})
