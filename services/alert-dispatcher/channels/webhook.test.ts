import { describe, expect, it } from 'vitest'
import { judgeChat } from './webhook.ts'

const judged = (status: number, text: string, afterMs: number | undefined) => {
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
  return judgeChat({ status, text, headers: new Headers(), body, afterMs })
}

describe('what a chat service answers', () => {
  it.each([
    [200, 'ok', undefined, undefined],
    [200, '{"ok":true}', undefined, undefined],
    [200, '{"ok":false,"error":"ratelimited"}', 7_000, { kind: 'retry', afterMs: 7_000 }],
    [200, '{"ok":false,"error":"rate_limited"}', undefined, { kind: 'retry', afterMs: undefined }],
    [200, '{"ok":false,"error":"channel_not_found"}', undefined, { kind: 'config' }],
    [200, '{"ok":false,"error":"invalid_blocks"}', undefined, { kind: 'permanent' }],
    [400, 'invalid_token', undefined, { kind: 'config' }],
    [400, 'invalid_payload', undefined, undefined],
    [500, 'no_service', undefined, undefined],
  ])('with %s %s and %s ms is judged %j, and else by its status', (status, text, afterMs, expected) => {
    const result = judged(status, text, afterMs)
    if (expected === undefined) expect(result).toBeUndefined()
    else expect(result).toMatchObject(expected)
  })
})
