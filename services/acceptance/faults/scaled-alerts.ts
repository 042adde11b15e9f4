import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { z } from 'zod'
import { root } from '../../testing/source-file.ts'

const Alerts = z.object({
  alerts: z.array(z.object({ alert: z.string(), expr: z.string(), for: z.string(), severity: z.string() })),
})

/** An alert rule of `helm/files/alerts.yaml`, in the format of a rule file. */
export interface AlertRule {
  alert: string
  expr: string
  for: string
  labels: Record<string, string>
}

/** A minute of a range takes one second, so that a fault of minutes takes seconds. */
const rangeScale = 60
/** The time for which a condition must hold is shorter still. */
const forScale = 120
/** Sweeps run every few seconds instead of every five minutes. */
const sweepScale = 30

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Converts a duration such as `10m` to seconds. */
export const toSeconds = (duration: string): number => {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  if (Number.isFinite(seconds)) return seconds
  throw new Error(`invalid duration "${duration}": expected a number with s, m, h or d`)
}

/** Returns the expression with shorter ranges and a shorter interval of sweeps. Thresholds stay the same. */
export const scaleExpression = (expression: string): string =>
  expression
    .replaceAll(/\[(\d+[smhd])\]/g, (_, range: string) => `[${Math.ceil(toSeconds(range) / rangeScale)}s]`)
    .replaceAll('watchhouse_alert_sweep_interval_seconds', `(watchhouse_alert_sweep_interval_seconds / ${sweepScale})`)

/** Reads the alert rules of the chart, scaled to seconds. */
export const readScaledAlerts = async (): Promise<AlertRule[]> => {
  const { alerts } = Alerts.parse(load(await readFile(join(root, 'helm/files/alerts.yaml'), 'utf8')))
  return alerts.map(({ alert, expr, for: duration, severity }) => ({
    alert,
    expr: scaleExpression(expr),
    for: `${Math.ceil(toSeconds(duration) / forScale)}s`,
    labels: { severity },
  }))
}

const Dashboard = z.object({
  title: z.string(),
  templating: z.object({ list: z.array(z.object({ definition: z.string().optional() })) }),
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
})

/** The queries of a dashboard of the chart. */
export interface DashboardQueries {
  title: string
  /** Queries of panels, with the variables of Grafana replaced: every value of a label, and a range of ten seconds. */
  panels: { title: string; expression: string }[]
  /** Metric and label of each variable. */
  variables: { metric: string; label: string }[]
}

/** Reads the queries of all dashboards of the chart. */
export const readDashboardQueries = async (): Promise<DashboardQueries[]> => {
  const folder = join(root, 'helm/dashboards')
  const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')))
  return texts.map((text) => {
    const { title, templating, panels } = Dashboard.parse(JSON.parse(text))
    return {
      title,
      panels: panels.flatMap((panel) =>
        panel.targets.map(({ expr }) => ({ title: panel.title, expression: replaceVariables(expr) })),
      ),
      variables: templating.list.flatMap(({ definition = '' }) => {
        const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? []
        return metric && label ? [{ metric, label }] : []
      }),
    }
  })
}

const replaceVariables = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '10s').replaceAll(/\$[a-z]+/g, '.*')
