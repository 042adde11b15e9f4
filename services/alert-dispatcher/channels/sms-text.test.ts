import { describe, expect, it } from 'vitest'
import { smsText } from './sms.ts'
import { messageFor } from './testing/send-once.ts'

const origin = 'watchhouse-0123456789abcdef'
const end = `\nhttps://watch.example/health?host=3\n${origin}`
/** What takes two places: the brackets of the instance. */
const doubled = (text: string) => text.match(/[[\]{}\\^~|€]/g)?.length ?? 0

describe('the text of an SMS', () => {
  it('says what is wrong, how much, and where to look', () => {
    const said = '[prod] WARNING: Disk almost full on Database (91.5 %)\nlimit 90 %'
    expect(smsText(messageFor())).toBe(said + end)
    const counted = '[prod] WARNING: Broken parts on Database\nvalue 3, limit 1'
    const more = { title: 'Broken parts', unit: 'count', value: 3, threshold: 1 } as const
    expect(smsText(messageFor(more))).toBe(counted + end)
  })

  it.each([
    ['letters', 'a'.repeat(290), 306],
    ['brackets', '[]'.repeat(140), 306],
    ['other letters', 'Ж'.repeat(290), 201],
  ])('of %s takes no more than it may cost, and keeps the link', (_of, title, most) => {
    const text = smsText(messageFor({ title }))
    const size = text.length + (most === 306 ? doubled(text) : 0)
    expect(size).toBeLessThanOrEqual(most)
    expect(size).toBeGreaterThan(most - 4)
    expect(text.endsWith(`...${end}`)).toBe(true)
  })

  it('has no pictures and no typography, which would double its price', () => {
    const text = smsText(messageFor({ title: '🔥 disk “full” – 5\u00A0µs… 👩‍👩‍👧🇩🇪 Störung' }))
    expect(text).toContain('disk "full" - 5 us...  Störung')
  })

  it('goes without a link that leaves no room for what happened', () => {
    const url = `https://watch.example/${'x'.repeat(100)}`
    expect(smsText({ ...messageFor(), url })).not.toContain(url)
  })
})
