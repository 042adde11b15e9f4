import { describe, expect, it } from 'vitest'
import { createMessage } from '../testing/send-once.ts'
import type { Notification } from '../../notification.ts'
import type { WebhookTarget } from '../../policy.ts'
import { selectFormat } from './index.ts'
import { fillTemplate, renderTemplates } from './template.ts'

const composed = (
  format: WebhookTarget['format'],
  more: Partial<Notification> = {},
  templates: WebhookTarget['templates'] = undefined,
  url = 'https://hooks.example/x',
) => {
  const message = createMessage(more)
  const address = new URL(url)
  return selectFormat(format, address).compose({
    message,
    address,
    write: renderTemplates({ templates }, message),
    key: 'k',
  })
}

/** For each format, the path of a field that only its body has. */
const marks = {
  slack: 'attachments.0.fallback',
  discord: 'embeds.0.footer',
  teams: 'attachments.0.contentType',
  matrix: 'msgtype',
  hookshot: 'html',
  raw: 'version',
  googleChat: 'cardsV2',
} as const

describe('format detection', () => {
  it.each([
    ['https://hooks.slack.com/services/T/B/x', 'slack'],
    ['https://hooks.slack-gov.com/services/T/B/x', 'slack'],
    ['https://discord.com/api/webhooks/1/x', 'discord'],
    ['https://ptb.discord.com/api/v10/webhooks/1/x', 'discord'],
    ['https://discordapp.com/api/webhooks/1/x/slack', 'slack'],
    ['https://prod-1.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke?sig=x', 'teams'],
    ['https://x.environment.api.powerplatform.com:443/powerautomate/x', 'teams'],
    ['https://chat.googleapis.com/v1/spaces/x/messages?key=k&token=t', 'googleChat'],
    ['https://matrix.example/_matrix/client/v3/rooms/!r:example', 'matrix'],
    ['https://hooks.slack.com.example/services/x', 'raw'],
    ['https://evil-discord.com/api/webhooks/1/x', 'raw'],
    ['https://logic.azure.com.example/x', 'raw'],
    ['https://matrix.example/webhook/x', 'raw'],
  ] as const)('%s gets %s', (url, format) => {
    const { body } = composed('auto', {}, undefined, url)
    const found = Object.entries(marks).filter(([, path]) => expectPath(body, path))
    expect(found.map(([name]) => name)).toEqual([format])
  })

  it.each(['raw', 'slack', 'matrix', 'hookshot'] as const)('uses %s if configured', (format) => {
    const { body } = composed(format, {}, undefined, 'https://discord.com/api/webhooks/1/x')
    expect(expectPath(body, marks[format])).toBe(true)
  })
})

const expectPath = (body: object, path: string): boolean => {
  try {
    expect(body).toHaveProperty(path)
    return true
  } catch {
    return false
  }
}

describe('a Matrix room', () => {
  const room = 'https://m.example/_matrix/client/v3/rooms/!r%3Aexample'
  it.each([room, `${room}/`, `${room}/send/m.room.message`, `${room}/send/m.room.message/old`])(
    'is notified at %s',
    (url) => {
      expect(composed('matrix', {}, undefined, url)).toMatchObject({
        method: 'PUT',
        url: `${room}/send/m.room.message/k`,
      })
    },
  )
})

describe('templates', () => {
  const wild = '<b>&*_[x](y) "q"\\ @everyone'
  const templates = {
    title: '*{{severity}}* {{title}}',
    body: '<i>{{host}}</i>\n{{meta.team}} {{meta.none}}{{nothing}}',
  }

  it.each([
    ['raw', `*warning* ${wild}`, '<i>Database</i>\nstorage {{nothing}}'],
    ['slack', '*warning* &lt;b&gt;&amp;*_[x](y) "q"\\ @everyone', '<i>Database</i>\nstorage {{nothing}}'],
  ] as const)('stand in %s as they are, with what is put into them escaped', (format, title, body) => {
    const text = JSON.stringify(composed(format, { title: wild }, templates).body)
    expect(text).toContain(JSON.stringify(title).slice(1, -1))
    expect(text).toContain(JSON.stringify(body).slice(1, -1))
  })

  it.each(['matrix', 'hookshot'] as const)('are sent to %s as HTML and as plain text', (format) => {
    const text = JSON.stringify(composed(format, { title: wild }, templates).body)
    const html = '*warning* &lt;b&gt;&amp;*_[x](y) &quot;q&quot;\\ @everyone</strong><br><i>Database</i><br>storage'
    expect(text).toContain(JSON.stringify(html).slice(1, -1))
    expect(text).toContain(JSON.stringify(`*warning* ${wild}\n<i>Database</i>`).slice(1, -1))
  })

  it('for the title only leave the body unchanged', () => {
    const { body } = composed('matrix', {}, { title: 'x' })
    expect(body).toMatchObject({ body: expect.stringMatching(/^x\nHost: Database\n/) })
    expect(body).toMatchObject({ formatted_body: expect.stringContaining('<strong>x</strong><br>Host: Database') })
  })

  it.each(['# x', '- x', '  + x', '-# x'])('start no heading or list in Discord: %s', (runbook) => {
    const { body } = composed('auto', { runbook }, undefined, 'https://discord.com/api/webhooks/1/x')
    expect(body).toHaveProperty('embeds.0.description', runbook.trim().replace(/^./, '\\$&'))
  })

  it('are escaped for Discord and mention no one', () => {
    const { body } = composed('auto', { title: wild }, templates, 'https://discord.com/api/webhooks/1/x')
    const title = '*warning* \\<b\\>&\\*\\_\\[x](y) "q"\\\\ @everyone'
    expect(body).toMatchObject({ allowed_mentions: { parse: [] }, embeds: [{ title, fields: [] }] })
  })

  it('support every placeholder', () => {
    const names =
      'event severity title label value threshold host hostId checkId reason timestamp url instance meta.team'
    const title = names
      .split(' ')
      .map((name) => `{{ ${name} }}`)
      .join('|')
    expect(composed('raw', { atMs: 0 }, { title }).body).toMatchObject({
      title:
        'fire|warning|Disk almost full|91.5 %|91.5|90 %|Database|3|disk-usage|threshold reached|1970-01-01T00:00:00Z|https://watch.example/health?host=3|prod|storage',
    })
  })

  it.each([
    ['{{a}}{{a}}', 9, '&amp;…'],
    ['{{a}}{{a}}', 10, '&amp;&amp;'],
    ['abcdef{{a}}', 5, 'abcd…'],
    ['{{constructor}}{{a', 30, '{{constructor}}{{a'],
  ])('render %j in %s characters as %j', (template, maxLength, expected) => {
    const escape = (text: string) => text.replaceAll('&', '&amp;')
    expect(fillTemplate(template, { a: '&' }, { escape, maxLength })).toBe(expected)
  })

  it('do not expand placeholders in values', () => {
    expect(composed('raw', { title: '{{meta.team}}' }, { title: '{{title}}' }).body).toMatchObject({
      title: '{{meta.team}}',
    })
  })
})

describe('each format', () => {
  it.each([
    ['raw', 'https://x.example/'],
    ['slack', 'https://x.example/'],
    ['matrix', 'https://m.example/_matrix/client/v3/rooms/!r'],
    ['hookshot', 'https://x.example/'],
    ['auto', 'https://discord.com/api/webhooks/1/x'],
    ['auto', 'https://chat.googleapis.com/v1/spaces/x/messages'],
    ['auto', 'https://prod-1.westeurope.logic.azure.com/workflows/x'],
  ] as const)('of %s for %s bears a full digest', (format, url) => {
    const entry = {
      episode: 'e',
      ruleId: 'r',
      hostKey: 'db',
      title: '满'.repeat(300),
      severity: 'warning',
      recovered: false,
    }
    const gathered = Array.from({ length: 500 }, () => entry) as Notification['gathered']
    const { body } = composed(format, { kind: 'digest', gathered }, undefined, url)
    const bytes = Buffer.byteLength(JSON.stringify(body))
    expect(bytes).toBeLessThan(format === 'raw' ? 128 * 1024 : 28_000)
  })
})
