import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeToken, injectionEncodings } from '../../testing/injections.ts'
import { openHostText } from './host-text.ts'

const token = 'Tango-9134-victor'
const crawler = 'web_crawl'
const read = (...results: unknown[]) => {
  const hostText = openHostText()
  for (const result of results) hostText.add(result)
  return hostText
}
const foundIn = (text: string, ...results: unknown[]): string[] =>
  read(...results)
    .find([text], crawler)[0]
    ?.map(({ start, end }) => text.slice(start, end)) ?? []

describe('text of a host', () => {
  it.each(injectionEncodings)('is found when it is sent %s', (disguise) => {
    const sent = encodeToken(token, disguise)
    const url = `https://docs.example.com/page?d=${sent}&lang=en`
    const found = foundIn(url, { rows: [['ops', token]] })
    expect(found.length).toBeGreaterThan(0)
    expect(found.join('')).not.toContain('example')
  })

  it.each([
    ['two encodings deep', Buffer.from(Buffer.from(token).toString('hex')).toString('base64')],
    ['as escapes of JSON', [...token].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('')],
    ['as character references', [...token].map((each) => `&#${each.charCodeAt(0)};`).join('')],
    ['with characters that are not visible', [...token].join('\u200B')],
    [
      'in full-width letters',
      [...token].map((each) => (/\w/.test(each) ? String.fromCodePoint(each.charCodeAt(0) + 0xfee0) : each)).join(''),
    ],
    ['in the middle of other base64', Buffer.from(`abc${token}xyz`).toString('base64')],
  ])('is found %s', (_how, sent) => {
    expect(foundIn(`before ${sent} after`, token)).not.toEqual([])
  })

  it('is found when it is split over several arguments', () => {
    const spread = ['Tango-9', '134-vic', 'tor']
    expect(read({ token }).find(spread, crawler).flat()).not.toEqual([])
  })

  it('includes short values that occur as a word', () => {
    expect(foundIn('https://x.example/?q=hunter2', { rows: [['ada', 'hunter2']] })).toEqual(['hunter2'])
    expect(foundIn('the hunter21st of May', { rows: [['hunter2']] })).toEqual([])
    expect(foundIn(`q=${Buffer.from('hunter2').toString('base64')}`, { rows: [['hunter2']] })).not.toEqual([])
    expect(foundIn('4821', { rows: [[4821]] })).toEqual(['4821'])
  })

  it('does not include texts that share a few letters', () => {
    expect(foundIn('https://docs.example.com/merge', { rows: [['the merges', 'of, the', 'day']] })).toEqual([])
  })

  it('is found after many other decodable words', () => {
    const words = 'another '.repeat(80)
    expect(foundIn(`${words}${Buffer.from(token).toString('base64')}`, token)).toHaveLength(1)
  })

  it('includes a whole argument with too many decoded forms', () => {
    const sent = `%41\\u0041${'abcdefgh'.repeat(4_000)}`
    expect(foundIn(sent, token)).toEqual([sent])
  })

  it('does not include field names, except within a row or from another server', () => {
    const fields = { text: 'two rows', result: { rows: [{ query: 1, user_of_it: { 'map-key-19': 1 } }] } }
    for (const name of ['text', 'query', 'user_of_it']) expect(foundIn(name, fields)).toEqual([])
    expect(foundIn('map-key-19', fields)).toEqual(['map-key-19'])
    const hostText = openHostText()
    hostText.add({ data: { 'key-of-a-crm': 1 } }, 'crm')
    expect(hostText.find(['key-of-a-crm'], crawler)).toEqual([[{ start: 0, end: 12 }]])
  })

  it.each([
    ['https://clickhouse.com/merges', []],
    ['HTTPS://docs.ClickHouse.com:443/merges', []],
    ['https://clickhouse.com/clickhouse', ['clickhouse']],
    ['https://clickhouse.evil.example/', ['clickhouse']],
    ['https://clickhouse.com.evil.example/', ['clickhouse.com']],
    ['https://evil.example/?q=https://clickhouse.com/', ['clickhouse.com']],
    ['https://Tango-9134-victor.clickhouse.com/', ['Tango-9134-victor']],
    ['find clickhouse.com', ['clickhouse.com']],
  ])('does not include the allowed host of a URL: %s', (text, found) => {
    const hostText = read('at clickhouse.com', token)
    const spans = hostText.find([text], crawler, ['example.org', 'clickhouse.com'])[0] ?? []
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(found)
  })

  it('is marked from the first to the last character', () => {
    expect(foundIn(`see https://a.example/${token}/end`, [token])).toEqual([token])
  })

  it('does not include results of the same server', () => {
    const hostText = openHostText()
    hostText.add({ text: token }, crawler)
    expect(hostText.isIn(crawler)).toBe(false)
    expect(hostText.isIn('docs')).toBe(true)
    expect(hostText.find([token], crawler)).toEqual([[]])
    expect(hostText.find([token], 'docs')).not.toEqual([[]])
  })

  it('is found at any position of any argument', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{8,40}$/)
    const padding = fc.string({ maxLength: 40 })
    fc.assert(
      fc.property(secret, padding, padding, (value, before, after) => {
        expect(foundIn(`${before}${value}${after}`, { value })).not.toEqual([])
      }),
    )
  })

  it('is searched in the longest arguments within a second', () => {
    const results = Array.from({ length: 64 }, (_, index) => ({ text: `${index} ${'row of a table '.repeat(1_000)}` }))
    const hostText = read(...results)
    const began = process.cpuUsage()
    hostText.find([Buffer.from('some other text '.repeat(1_000)).toString('base64').slice(0, 32_768)], crawler)
    hostText.find([`${'%41%42'.repeat(2_000)}${'deadbeef'.repeat(2_000)}`], crawler)
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1_000).toBeLessThan(2_000)
  })
})
