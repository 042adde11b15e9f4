import { describe, expect, it } from 'vitest'
import { classifyChatResponse } from './webhook.ts'

const classified = (status: number, text: string, afterMs: number | undefined) => {
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
  return classifyChatResponse({ status, text, headers: new Headers(), body, afterMs })
}

describe('responses of a chat service', () => {
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
  ])('with %s %s and %s ms are classified as %j, otherwise by status', (status, text, afterMs, expected) => {
    const result = classified(status, text, afterMs)
    if (expected === undefined) expect(result).toBeUndefined()
    else expect(result).toMatchObject(expected)
  })
})
