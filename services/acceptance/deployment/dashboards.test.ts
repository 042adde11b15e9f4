// @module-tag long
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { metrics, openMetrics } from '#shared/telemetry/metrics.ts'
import { root } from '../../testing/source-file.ts'

const Panel = z.object({
  type: z.string(),
  title: z.string(),
  description: z.string().min(1),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string().min(1) })).min(1),
})
const Row = z.object({ type: z.literal('row'), title: z.string() })
const Dashboard = z
  .object({
    uid: z.string(),
    templating: z.object({ list: z.array(z.object({ name: z.string(), definition: z.string().optional() })) }),
    panels: z.array(z.union([Row, Panel])).min(5),
  })
  .transform(({ panels, templating }) => ({
    panels: panels.flatMap((panel) => ('targets' in panel ? [panel] : [])),
    variables: templating.list,
  }))
const Alerts = z.object({
  alerts: z.array(
    z.object({ alert: z.string(), expr: z.string(), summary: z.string(), severity: z.enum(['warning', 'critical']) }),
  ),
})

const dashboards = async () =>
  Promise.all(
    (await readdir(join(root, 'helm/dashboards'))).map(async (file) =>
      Dashboard.parse(JSON.parse(await readFile(join(root, 'helm/dashboards', file), 'utf8'))),
    ),
  )
const alerts = async () => Alerts.parse(load(await readFile(join(root, 'helm/files/alerts.yaml'), 'utf8'))).alerts

/** Returns the metric names in a PromQL expression. */
const namesIn = (expression: string): string[] => expression.match(/\bwatchhouse_\w+/g) ?? []
const declared = async (): Promise<Set<string>> => {
  const registry = openMetrics({ version: 'test', services: ['query'] })
  for (const metric of Object.values(metrics)) metric(registry)
  const all = await registry.getMetricsAsJSON()
  return new Set(
    all.flatMap(({ name, type }) =>
      String(type) === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
    ),
  )
}

describe('dashboards and alerts', () => {
  it('query only metrics that the product exports', async () => {
    const known = await declared()
    const panels = (await dashboards()).flatMap(({ panels, variables }) => [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...variables.flatMap(({ definition }) => definition ?? []),
    ])
    const expressions = [...panels, ...(await alerts()).map(({ expr }) => expr)]
    expect(expressions.filter((expression) => namesIn(expression).length === 0)).toEqual([])
    expect(expressions.flatMap(namesIn).filter((name) => !known.has(name))).toEqual([])
    expect(namesIn('rate(watchhouse_no_such_total[5m])').filter((name) => !known.has(name))).toEqual([
      'watchhouse_no_such_total',
    ])
  })

  it('have a variable for exactly the labels that panels filter by', async () => {
    for (const { panels, variables } of await dashboards()) {
      const used = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/\$[a-z]+/g) ?? []))
      const offered = variables.map(({ name }) => `$${name}`).filter((name) => name !== '$datasource')
      expect(new Set(used)).toEqual(new Set(offered))
    }
  })

  it('show every metric of the product itself', async () => {
    const shown = new Set(
      (await dashboards()).flatMap(({ panels }) =>
        panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr))),
      ),
    )
    const registry = openMetrics({ version: 'test', services: [] })
    const own = Object.values(metrics).map((metric) => Object.getOwnPropertyDescriptor(metric(registry), 'name')?.value)
    expect(own.filter((name) => ![...shown].some((one) => one.startsWith(name)))).toEqual([])
  })

  it('include a runbook for each alert', async () => {
    const headings = (await readFile(join(root, 'helm/RUNBOOKS.md'), 'utf8')).match(/^## \w+$/gm)
    expect(headings).toEqual((await alerts()).map(({ alert }) => `## ${alert}`))
  })
})
