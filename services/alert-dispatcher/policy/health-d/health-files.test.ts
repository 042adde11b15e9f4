import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { choiceSetting, optionalTextSetting, secretSetting } from '#shared/config/setting.ts'
import { createEmptyLayer } from '../layers/layer.ts'
import type { ChannelSpec } from '../saved-channels/channel-fields.ts'
import { checkHealthFiles } from './check-health-files.ts'
import { loadFileLayer, readHealthFiles } from './health-files.ts'

/** Channels with settings of every type. */
const channels: readonly ChannelSpec[] = [
  {
    id: 'paging-a',
    settings: {
      HEALTH_ALERT_PAGING_A_ROUTING_KEY: secretSetting(''),
      HEALTH_ALERT_PAGING_A_REGION: choiceSetting(['us', 'eu'], 'us', ''),
      HEALTH_ALERT_PAGING_A_ENABLED: optionalTextSetting(''),
    },
  },
  { id: 'mail', settings: { HEALTH_ALERT_MAIL_TO: optionalTextSetting('') } },
]

const known = {
  rules: ['disk-usage', 'failed-backups', 'replication-lag'].map((id) => ({
    id,
    thresholds: { warning: 80, critical: 95, below: false },
  })),
  metrics: [{ id: 'running-queries' }],
}

let root: string
let folder: string
let count = 0
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'watchhouse-health-d-'))
})
afterAll(() => rm(root, { recursive: true }))
beforeEach(async () => {
  folder = join(root, String((count += 1)))
  await mkdir(folder)
})
const write = (name: string, text: string) => writeFile(join(folder, name), text)
const readOne = async (name: string, text: string) => {
  await write(name, text)
  return readHealthFiles(folder, channels)
}

describe('a folder of alert definitions', () => {
  it('is empty if it is missing or has no files', () => {
    expect(readHealthFiles(join(folder, 'nowhere'), channels)).toEqual({
      layer: createEmptyLayer('file'),
      files: [],
      problems: [],
    })
    expect(readHealthFiles(folder, channels).files).toEqual([])
  })

  it('merges all its files', async () => {
    await write(
      'alerts.yaml',
      `settings: { enabled: true, cooldownMinutes: 30 }
thresholds: { disk-usage: { warning: 70 } }
checks: { disk-usage: { breaches: 3, hostThresholds: [{ matchGroup: cold, warning: 90 }] }, failed-backups: { enabled: false } }
rules:
  - { id: queries, name: Queries, metric: running-queries, operator: '>', warning: 50 }
sqlRules:
  - { id: late, name: Late orders, sql: SELECT count() FROM shop.late, operator: '>', critical: 5, matchHost: 'shop-*' }`,
    )
    await write('routing.yml', `routes: [{ id: disks, matchRule: 'disk-*', target: paging-a }]`)
    await write(
      'channels.yaml',
      `channels:
  - { channel: paging-a, minSeverity: critical, target: { region: eu }, secretEnv: { routingKey: PAGER_KEY } }
  - { channel: mail, enabled: false, minSeverity: null, target: { to: ops@example.com } }
webhookTargets: [{ name: team, urlEnv: TEAM_HOOK, format: slack }]`,
    )
    await write('quiet-hours.yaml', `windows: [{ id: night, days: [1], start: '22:00', end: '07:00' }]`)
    await write(
      'maintenance.yaml',
      `windows:
  - { id: upgrade, host: db, reason: upgrade, startsAt: 2026-06-01T22:00:00+02:00, endsAt: 2026-06-01T22:00:00Z }
  - { id: all, startsAt: 2026-06-02T00:00:00Z, endsAt: 2026-06-03T00:00:00Z }`,
    )
    await write('digest.yaml', 'enabled: true\nwindowMinutes: 15')
    const { layer, problems } = readHealthFiles(folder, channels)
    expect(problems).toEqual([])
    expect(layer).toEqual({
      source: 'file',
      general: { enabled: true, cooldownMinutes: 30 },
      digestMinutes: 15,
      rules: {
        'disk-usage': {
          warning: 70,
          breaches: 3,
          hostThresholds: [{ matchHost: '*', matchGroup: 'cold', warning: 90 }],
        },
        'failed-backups': { enabled: false },
      },
      custom: [
        {
          id: 'custom:queries',
          name: 'Queries',
          metric: 'running-queries',
          operator: '>',
          warning: 50,
          critical: null,
          enabled: true,
        },
      ],
      sqlRules: [
        {
          id: 'sql:late',
          name: 'Late orders',
          sql: 'SELECT count() FROM shop.late',
          unit: 'none',
          operator: '>',
          warning: null,
          critical: 5,
          summary: '',
          matchHost: 'shop-*',
          matchGroup: '*',
          enabled: true,
        },
      ],
      routes: [
        {
          id: 'disks',
          matchRule: 'disk-*',
          matchHost: '*',
          matchGroup: '*',
          matchTag: '*',
          matchSeverity: '*',
          last: false,
          target: 'paging-a',
          enabled: true,
          minSeverity: null,
        },
      ],
      channels: {
        'paging-a': {
          minSeverity: 'critical',
          variables: { HEALTH_ALERT_PAGING_A_REGION: 'eu' },
          fromVariables: { HEALTH_ALERT_PAGING_A_ROUTING_KEY: 'PAGER_KEY' },
        },
        mail: { enabled: false, variables: { HEALTH_ALERT_MAIL_TO: 'ops@example.com' }, fromVariables: {} },
      },
      webhookTargets: [{ name: 'team', urlEnv: 'TEAM_HOOK', enabled: true, format: 'slack', minSeverity: null }],
      quietHours: [{ id: 'night', days: [1], start: '22:00', end: '07:00', timezone: 'UTC', severityCap: 'critical' }],
      maintenance: [
        {
          id: 'upgrade',
          hostKey: 'db',
          reason: 'upgrade',
          startsAtMs: Date.UTC(2026, 5, 1, 20),
          endsAtMs: Date.UTC(2026, 5, 1, 22),
        },
        { id: 'all', hostKey: null, reason: '', startsAtMs: Date.UTC(2026, 5, 2), endsAtMs: Date.UTC(2026, 5, 3) },
      ],
    })
  })

  it('ignores other files and the mounts of Kubernetes', async () => {
    await write('README.md', '# how')
    await write('.digest.yaml', 'no: thing')
    await mkdir(join(folder, '..2026_06_01'))
    expect(readHealthFiles(folder, channels)).toMatchObject({ files: [], problems: [] })
  })
})

/** Invalid files with their content, the skipped entry and the reason. */
const bad: [file: string, text: string, entry: string, says: string][] = [
  ['alarms.yaml', 'rules: []', '', 'is unknown; allowed: alerts, routing'],
  ['alerts.yaml', 'rules: [', '', 'is not valid YAML'],
  ['alerts.yaml', '- a', '', 'must be a mapping'],
  ['alerts.yaml', 'a: &a [x]\nb: &b [*a,*a]\nrules: {}', 'rules', 'must be a list'],
  ['alerts.yaml', 'rule: []', 'rule', 'is unknown; allowed: settings, rules'],
  ['alerts.yaml', 'settings: [hunter2]', 'settings', 'must be an object'],
  ['alerts.yaml', 'settings: { minSeverity: hunter2 }', 'settings', 'minSeverity must be one of warning, critical'],
  ['alerts.yaml', 'thresholds: { disk-usage: { warn: 3 } }', 'thresholds.disk-usage', 'warn is unknown'],
  ['alerts.yaml', 'thresholds: { disk-usage: { breaches: 3 } }', 'thresholds.disk-usage', 'breaches is unknown'],
  ['alerts.yaml', 'thresholds: { "Disk usage!": {} }', 'thresholds, entry 1', 'lower case letters'],
  [
    'alerts.yaml',
    'checks: { disk-usage: { hostThresholds: [{ host: one, warning: 5 }] } }',
    'checks.disk-usage',
    'hostThresholds.0.host is unknown',
  ],
  ['alerts.yaml', 'checks: { disk-usage: { breaches: 0 } }', 'checks.disk-usage', 'breaches must be at least 1'],
  ['alerts.yaml', 'rules: [{ name: n, metric: m, operator: ">", warning: 1 }]', 'rules[0]', 'id is required'],
  [
    'alerts.yaml',
    'rules: [{ id: r, name: n, metric: m, operator: ">", warning: 2, critical: 1 }]',
    'rules[0]',
    'warning must not be beyond critical',
  ],
  ['routing.yaml', 'routes: [{ id: a }]', 'routes[0]', 'target is required'],
  ['routing.yaml', 'routes: [{ id: a, target: x, secret: hunter2 }]', 'routes[0]', 'secret is unknown'],
  ['channels.yaml', 'channels: [{ channel: pager }]', 'channels[0]', 'channel must be one of paging-a, mail'],
  [
    'channels.yaml',
    'channels: [{ channel: paging-a, secretEnv: { routingKey: "key hunter2" } }]',
    'channels[0]',
    'secretEnv.routingKey must be the name of a variable',
  ],
  [
    'channels.yaml',
    'channels: [{ channel: paging-a, target: { routingKey: hunter2 } }]',
    'channels, paging-a: target.routingKey',
    'is a secret; put the name of its variable in secretEnv',
  ],
  [
    'channels.yaml',
    'channels: [{ channel: paging-a, target: { region: hunter2 } }]',
    'channels, paging-a: target.region',
    'invalid value',
  ],
  [
    'channels.yaml',
    'channels: [{ channel: paging-a, target: { colour: hunter2 } }]',
    'channels, paging-a: target',
    'fields of channel paging-a: routingKey, region',
  ],
  [
    'channels.yaml',
    'webhookTargets: [{ name: t, urlEnv: "https://x/hunter2" }]',
    'webhookTargets[0]',
    'urlEnv must be',
  ],
  ['quiet-hours.yaml', 'windows: [{ id: n, days: [7], start: "1:00", end: "02:00" }]', 'windows[0]', 'start must be a'],
  ['quiet-hours.yaml', 'windows: [{ id: n, days: [1], start: "01:00", end: "01:00" }]', 'windows[0]', 'must differ'],
  [
    'quiet-hours.yaml',
    'windows: [{ id: n, days: [1], start: "01:00", end: "02:00", timezone: Mars/Base }]',
    'windows[0]',
    'timezone must be a time zone',
  ],
  [
    'maintenance.yaml',
    'windows: [{ id: n, startsAt: 2026-06-01, endsAt: 2026-06-02T00:00:00Z }]',
    'windows[0]',
    'startsAt must be a time with its zone',
  ],
  [
    'maintenance.yaml',
    'windows: [{ id: n, startsAt: 2026-06-02T00:00:00Z, endsAt: 2026-06-01T00:00:00Z }]',
    'windows[0]',
    'endsAt must be later than startsAt',
  ],
  ['digest.yaml', 'enabled: true', '', 'windowMinutes is required'],
  ['digest.yaml', 'enabled: true\nwindowMinutes: 1441', '', 'windowMinutes must be at most 1440'],
]

describe('invalid entries are skipped and reported', () => {
  it.each(bad)('%s: %s', async (file, text, entry, says) => {
    const { problems } = await readOne(file, text)
    expect(problems).toContainEqual({ file, entry, reason: expect.stringContaining(says) })
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it('while other entries remain in use', async () => {
    const route = (id: string, target: string) => `{ id: ${id}, target: ${target} }`
    const list = [route('a', 'mail'), route('b', '""'), route('a', 'pager'), route('c', 'mail')]
    const { layer, problems } = await readOne('routing.yaml', `routes: [${list.join(', ')}]`)
    expect(layer.routes.map(({ id, target }) => [id, target])).toEqual([
      ['a', 'mail'],
      ['c', 'mail'],
    ])
    expect(problems.map(({ entry }) => entry)).toEqual(['routes[1]', 'routes[2]'])
  })

  it('field by field in settings', async () => {
    const { layer } = await readOne('alerts.yaml', 'settings: { cooldownMinutes: -1, clears: 3, x: 1, enabled: maybe }')
    expect(layer.general).toEqual({ clears: 3 })
  })

  it('as is a file with two extensions', async () => {
    await write('digest.yaml', 'enabled: true\nwindowMinutes: 5')
    const { layer, problems } = await readOne('digest.yml', 'enabled: true\nwindowMinutes: 9')
    expect(layer.digestMinutes).toBe(5)
    expect(problems).toEqual([{ file: 'digest.yml', entry: '', reason: 'also exists with another extension' }])
  })
})

describe('the service', () => {
  it('logs skipped entries and unset variables, without values', async () => {
    await write('routing.yaml', 'routes: [{ id: a, target: x, secret: hunter2 }]')
    await write('channels.yaml', 'channels: [{ channel: paging-a, secretEnv: { routingKey: PAGER_KEY } }]')
    const logged: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => logged.push(line) })
    loadFileLayer({ SVC_HEALTH_CONFIG_DIRECTORY: folder }, log, channels)
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ file: 'routing.yaml', entry: 'routes[0]' }),
      expect.objectContaining({ variable: 'PAGER_KEY' }),
    ])
    expect(logged.join('')).not.toContain('hunter2')
  })
})

describe('the service in cloud mode', () => {
  it('reads no files and logs a configured folder', async () => {
    await write('digest.yaml', 'enabled: true\nwindowMinutes: 15')
    const logged: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => logged.push(line) })
    const env = { SVC_HEALTH_CONFIG_DIRECTORY: folder, SVC_CLOUD_MODE: 'cloud' }
    expect(loadFileLayer(env, log, channels)).toEqual(createEmptyLayer('file'))
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ variable: 'SVC_HEALTH_CONFIG_DIRECTORY' }])
  })
})

describe('check-config', () => {
  it('prints one problem per line', async () => {
    await write('digest.yaml', 'enabled: true')
    await write('routing.yaml', 'routes: [{ id: a }, { id: b }]')
    expect(checkHealthFiles(folder, known, {})).toEqual({
      sound: false,
      text: [
        'digest.yaml: windowMinutes is required',
        'routing.yaml: routes[0]: target is required',
        'routing.yaml: routes[1]: target is required',
        '',
      ].join('\n'),
    })
  })

  it('reports unknown rules and metrics with suggestions', async () => {
    await write(
      'alerts.yml',
      `thresholds: { disk-usge: { warning: 5 }, disk-usage: { warning: 5 } }
rules: [{ id: many, name: Many, metric: runing-queries, operator: '>', warning: 5 }]`,
    )
    expect(checkHealthFiles(folder, known, {})).toEqual({
      sound: false,
      text: [
        'alerts.yml: disk-usge: unknown rule "disk-usge"; did you mean "disk-usage"?',
        'alerts.yml: custom:many: unknown metric "runing-queries"; did you mean "running-queries"?',
        '',
      ].join('\n'),
    })
  })

  it('reports routes to unknown targets with suggestions, but not the target', async () => {
    await write('channels.yaml', 'webhookTargets: [{ name: ops, urlEnv: OPS_URL }]')
    await write(
      'routing.yaml',
      `routes:
  - { id: a, target: ops }
  - { id: b, target: listed }
  - { id: c, target: sms }
  - { id: d, target: 'https://hooks.example/hunter2' }
  - { id: e, target: pagin-a }`,
    )
    const env = { HEALTH_ALERT_WEBHOOK_TARGETS: '[{"name":"listed","urlEnv":"LISTED_URL"}]' }
    const { sound, text } = checkHealthFiles(folder, known, env)
    expect([sound, text.trimEnd().split('\n')]).toEqual([
      false,
      [
        expect.stringMatching(/^routing.yaml: d: unknown channel or webhook target; nearest: /),
        expect.stringMatching(/^routing.yaml: e: unknown channel or webhook target; nearest: paging-a, /),
      ],
    ])
    expect(text).not.toContain('hunter2')
  })

  it('accepts valid files', async () => {
    await write('digest.yaml', 'enabled: true\nwindowMinutes: 5')
    expect(checkHealthFiles(folder, known, {})).toEqual({ sound: true, text: 'digest.yaml: valid\n' })
  })

  it('accepts the documented example', async () => {
    const description = await readFile(join(import.meta.dirname, 'README.md'), 'utf8')
    const shown = /```yaml\n(.*?)```/s.exec(description)?.[1] ?? ''
    const files = shown.split(/^(?=# [a-z-]+\.yaml)/m)
    for (const text of files) await write(/^# (\S+)/.exec(text)?.[1] ?? '', text)
    expect(checkHealthFiles(folder, known, {})).toEqual({ sound: true, text: expect.stringContaining('valid') })
    expect(files).toHaveLength(6)
  })

  it.each([
    ['a missing folder', 'nowhere', 'folder not found'],
    ['an empty one', '', 'no .yaml or .yml file found'],
  ])('rejects %s', (_what, below, says) => {
    const { sound, text } = checkHealthFiles(join(folder, below), known, {})
    expect([sound, text]).toEqual([false, expect.stringContaining(says)])
  })
})
