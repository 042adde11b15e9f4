import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { load } from 'js-yaml'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { findProgram } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'

vi.setConfig({ testTimeout: 120_000 })

const Alerts = z.object({ alerts: z.array(z.looseObject({ alert: z.string(), expr: z.string(), for: z.string() })) })

/** Series by name and labels, with values in the notation of promtool. */
type Series = Readonly<Record<string, string>>

/** Evaluates the unchanged rules of the chart with promtool. Throws unless exactly these alerts fire at that time. */
const expectAlerts = async (series: Series, at: string, alert: string, firing: readonly object[]): Promise<void> => {
  const program = findProgram('promtool')
  if (program === undefined) throw new Error('program "promtool" not found; install the package prometheus')
  await using directory = await mkdtempDisposable(join(tmpdir(), 'watchhouse-alert-windows-'))
  const { alerts } = Alerts.parse(load(await readFile(join(root, 'helm/files/alerts.yaml'), 'utf8')))
  const rules = alerts.map(({ alert: name, expr, for: duration }) => ({ alert: name, expr, for: duration }))
  await writeFile(join(directory.path, 'rules.json'), JSON.stringify({ groups: [{ name: 'watchhouse', rules }] }))
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      { eval_time: at, alertname: alert, exp_alerts: firing.map((labels) => ({ exp_labels: labels })) },
    ],
  }
  const file = join(directory.path, 'test.json')
  await writeFile(file, JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: '1m', tests: [test] }))
  await promisify(execFile)(program, ['test', 'rules', file])
}

const unknown = 'watchhouse_alert_rules_unknown{pod="a"}'
const hostOne = 'watchhouse_host_up{pod="q",host="one"}'
const hostTwo = 'watchhouse_host_up{pod="q",host="two"}'

// The ranges of these cases are longer than a test with processes can last.
it.each<[string, Series, string, boolean]>([
  ['rules that never have data', { [unknown]: '12x2000', [hostOne]: '1x2000' }, '30h', false],
  ['the time before the first sweep', { [unknown]: '0x5 12x200', [hostOne]: '1x205' }, '45m', false],
  ['two rules lost their data for 31 minutes', { [unknown]: '12x1500 14x60', [hostOne]: '1x1560' }, '1535m', true],
  ['two rules lost their data for 20 minutes', { [unknown]: '12x1500 14x60', [hostOne]: '1x1560' }, '1520m', false],
  [
    'a new host has rules without data',
    { [unknown]: '12x1500 18x100', [hostOne]: '1x1600', [hostTwo]: '_x1500 1x100' },
    '1560m',
    false,
  ],
  [
    'a second process of alert-dispatcher',
    { [unknown]: '12x2000', 'watchhouse_alert_rules_unknown{pod="b"}': '_x1500 12x500', [hostOne]: '1x2000' },
    '1560m',
    false,
  ],
])('WatchhouseRulesUnknown: %s', async (_case, series, at, fires) => {
  await expect(expectAlerts(series, at, 'WatchhouseRulesUnknown', fires ? [{}] : [])).resolves.toBeUndefined()
})

const sends = (outcome: string) =>
  `watchhouse_alert_send_duration_seconds_count{channel="webhook",outcome="${outcome}"}`

it.each<[string, Series, string, boolean]>([
  [
    'the only notification fails at once for good',
    { [sends('ok')]: '0x60', [sends('permanent')]: '0x10 1x50' },
    '25m',
    true,
  ],
  // Attempts after 0, 2, 12 and 72 seconds, then after 6 and 21 minutes.
  ['one notification is retried', { [sends('ok')]: '0x60', [sends('retry')]: '0x10 3x1 4x5 5x15 6x30' }, '30m', true],
  ['a failure before a success', { [sends('ok')]: '0x12 1x60', [sends('retry')]: '0x10 1x60' }, '25m', false],
])('WatchhouseDeliveryFailing: %s', async (_case, series, at, fires) => {
  await expect(
    expectAlerts(series, at, 'WatchhouseDeliveryFailing', fires ? [{ channel: 'webhook' }] : []),
  ).resolves.toBeUndefined()
})
