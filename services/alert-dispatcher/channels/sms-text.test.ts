import { describe, expect, it } from 'vitest'
import { renderSms } from './sms.ts'
import { createMessage } from './testing/send-once.ts'

const origin = 'watchhouse-0123456789abcdef'
const end = `\nhttps://watch.example/health?host=3\n${origin}`
/** Counts the characters that use two septets, such as the brackets of the instance name. */
const doubled = (text: string) => text.match(/[[\]{}\\^~|€]/g)?.length ?? 0

describe('the text of an SMS', () => {
  it('contains headline, value and link', () => {
    const configured = '[prod] WARNING: Disk almost full on Database (91.5 %)\nlimit 90 %'
    expect(renderSms(createMessage())).toBe(configured + end)
    const counted = '[prod] WARNING: Broken parts on Database\nvalue 3, limit 1'
    const more = { title: 'Broken parts', unit: 'count', value: 3, threshold: 1 } as const
    expect(renderSms(createMessage(more))).toBe(counted + end)
  })

  it.each([
    ['letters', 'a'.repeat(290), 306],
    ['brackets', '[]'.repeat(140), 306],
    ['other letters', 'Ж'.repeat(290), 201],
  ])('with %s stays within its limit and keeps the link', (_of, title, maxCount) => {
    const text = renderSms(createMessage({ title }))
    const size = text.length + (maxCount === 306 ? doubled(text) : 0)
    expect(size).toBeLessThanOrEqual(maxCount)
    expect(size).toBeGreaterThan(maxCount - 4)
    expect(text.endsWith(`...${end}`)).toBe(true)
  })

  it('contains no emoji and no typographic characters, which would double its cost', () => {
    const text = renderSms(createMessage({ title: '🔥 disk “full” – 5\u00A0µs… 👩‍👩‍👧🇩🇪 Störung' }))
    expect(text).toContain('disk "full" - 5 us...  Störung')
  })

  it('omits a link that leaves no room for the headline', () => {
    const url = `https://watch.example/${'x'.repeat(100)}`
    expect(renderSms({ ...createMessage(), url })).not.toContain(url)
  })
})
