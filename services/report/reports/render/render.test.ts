import { describe, expect, it } from 'vitest'
import { createReport, createHistoryEntry, createReportData, testReportSubject } from '../../testing/reports.ts'
import { createDiskHours } from '../../testing/rows.ts'
import { composeReport } from '../write-report.ts'
import { escapeMarkdown } from './markdown.ts'
import { renderHostReport } from './index.ts'

const evil = `<script>alert(1)</script> "x" & 'y' [a](https://evil.example) | *b* \`c\` www.evil.example`
const steps = Array.from({ length: 28 }, (_, step) => ({
  step,
  calls: step,
  errors: 0,
  p95Ms: null,
  peakMemoryBytes: 5,
}))
const full = composeReport(
  { ...testReportSubject, host: evil },
  createReportData({
    history: [createHistoryEntry('fire', 3, { title: evil })],
    rows: {
      'statement-totals': [
        { isBefore: 0, calls: 10, errors: 1, totalMs: 5, p50Ms: 1, p95Ms: null, peakMemoryBytes: 5 },
      ],
      'statement-steps': steps,
      'error-codes': [{ code: 60, name: evil, count: 5, countBefore: 0 }],
      'disk-hours': createDiskHours((hoursAgo) => 900 - hoursAgo * 0.5),
    },
    tables: [],
    notes: [evil],
  }),
)

describe('a page', () => {
  const page = renderHostReport(full, 'html')

  it('contains no scripts or external resources, even with malicious names', () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|<a |\son\w+=|javascript:|@import|url\(|<script>/i)
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &quot;x&quot; &amp; &#39;y&#39;')
  })

  it('draws charts as SVG with a text alternative', () => {
    expect(page.match(/<svg /g)).toHaveLength(4)
    expect(page).toContain('aria-label="Queries: at most 27, from 9 Nov 2026, 00:00 to 16 Nov 2026, 00:00"')
    expect(page.match(/<rect /g)?.length).toBe(27 + 28)
  })

  it('orders its sections', () => {
    const titles = [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title)
    expect(titles).toEqual([
      'Alerts',
      'Queries',
      'Failed queries by error code',
      'Disks',
      'Peak values, backups and certificates',
      'Version and settings',
      'Monitoring coverage',
      'No data',
    ])
  })

  it('closes every element', () => {
    const count = (pattern: RegExp) => page.match(pattern)?.length ?? 0
    for (const tag of ['table', 'tr', 'td', 'th', 'figure', 'svg', 'p', 'h2', 'div']) {
      expect(count(new RegExp(`<${tag}[ >]`, 'g')), tag).toBe(count(new RegExp(`</${tag}>`, 'g')))
    }
  })
})

describe('Markdown', () => {
  it('keeps every cell in its column, even with special characters', () => {
    const tables = renderHostReport(full, 'markdown')
      .split('\n\n')
      .filter((part) => part.startsWith('|'))
    expect(tables).toHaveLength(5)
    for (const table of tables) {
      const cells = table.split('\n').map((row) => row.replaceAll(String.raw`\|`, '').split('|').length)
      expect(new Set(cells).size).toBe(1)
    }
  })

  it.each([
    ['<b>*x*</b>', String.raw`\<b\>\*x\*\</b\>`],
    ['a | b\nc', String.raw`a \| b c`],
    ['- x', String.raw`\- x`],
    ['1. x', String.raw`1\. x`],
    ['10 of 100', '10 of 100'],
    ['https://x', String.raw`https:\/\/x`],
    ['www.x.org', String.raw`www\.x.org`],
  ])('escapes %j as %j', (text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped)
  })

  it('fences statements with more backticks than they contain', () => {
    const found = { kind: 'k', subject: 's', severity: 'info' as const, title: 't', detail: 'd', link: '/' }
    const text = renderHostReport(
      createReport('a', { recommendations: [{ ...found, evidenceSql: 'SELECT "```"' }] }),
      'markdown',
    )
    expect(text).toContain('````sql\nSELECT "```"\n````')
  })

  it('draws charts as sparklines', () => {
    expect(renderHostReport(full, 'markdown')).toContain('`▁▁▂')
  })
})
